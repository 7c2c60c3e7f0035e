package indexer

import (
	"bytes"
	"strings"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/indexer/internal/space"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Bounds of the links of a page.
const (
	maxLinks      = 20_000
	maxAnchorText = 1024    // bytes of the text of one link
	maxReferences = 1 << 12 // references whose memory is kept for the next page
)

// An OutlineLink is a link without its text.
type OutlineLink struct {
	URL      weburl.URL
	NoFollow bool
}

// A link is a link of the page; its text is text[start:end] of the linkCollector.
type link struct {
	to         uint32 // index in outline
	start, end int
	flags      vocab.LinkFlags
	changed    uint32 // as in [vocab.Link]
}

// An anchor is the open a element.
type anchor struct {
	open  bool
	link  int  // index in links
	start int  // of its text
	space bool // white space or the end of a block was seen since the last text
	title []byte
}

// A target is the resolved target of references of the page.
type target struct {
	url     weburl.URL
	own     bool // the page itself; a reference to it with a fragment is no link
	offSite bool // as in [vocab.OffSite]

	// Index in outline plus 1, 0 if it is not there: of followed links, and of NoFollow links.
	outlined [2]uint32
}

// A linkCollector resolves the references of a page and collects its links with their texts.
//
// outline has every target once for its followed and once for its NoFollow links; links refer to
// it. With outlineOnly set nothing but outline is collected.
type linkCollector struct {
	page        weburl.URL
	site        string     // registrable domain of page
	base        weburl.URL // references are resolved against it
	hasBase     bool       // a base element was seen
	outlineOnly bool
	redirect    string // canonical URL of a meta refresh without delay, if any

	count   int // of links
	links   []link
	text    []byte // of all links, in a row
	anchor  anchor
	inner   bool // an a element is open that leads to a part of the page, which is no link
	outline []OutlineLink

	references  map[string]uint32 // index in targets plus 1, 0 if the reference is no link
	targets     []target
	lastHost    string // the last host other than page's that was resolved
	lastOffSite bool   // lastHost is on another site
}

// reset prepares for the next page and keeps the memory, unless a large page used it.
func (c *linkCollector) reset(page weburl.URL) {
	if cap(c.text) > maxKept {
		*c = linkCollector{}
	}
	*c = linkCollector{
		page: page, site: page.Site(), base: page,
		links: c.links[:0], text: c.text[:0], outline: c.outline[:0], targets: c.targets[:0], references: c.references,
		anchor: anchor{title: c.anchor.title[:0]},
	}
	if c.references == nil || len(c.references) > maxReferences {
		c.references = map[string]uint32{}
	}
	clear(c.references)
}

// open reports whether an a element is open.
func (c *linkCollector) open() bool { return c.anchor.open }

// startElement handles the start of an a element. It ends an open one, because they do not nest.
func (c *linkCollector) startElement(tags *htmltoken.Tokenizer) {
	c.end()
	added := c.addAttribute(tags, "href", 0, nil)
	switch {
	case c.outlineOnly:
	case added:
		title, _ := tags.Attr("title")
		c.start(title)
	default:
		ref, _ := tags.Attr("href")
		c.inner = c.leadsWithin(ref)
	}
}

// start opens the last link. title becomes its text if no other text follows.
func (c *linkCollector) start(title []byte) {
	c.anchor = anchor{open: true, link: len(c.links) - 1, start: len(c.text), title: append(c.anchor.title[:0], title...)}
}

// appendText adds a piece of text, without white space at its ends, to the open link. space is true
// if white space precedes it.
func (c *linkCollector) appendText(piece []byte, space bool) {
	n := len(c.text) - c.anchor.start
	if n >= maxAnchorText {
		return
	}
	if n > 0 && (space || c.anchor.space) {
		c.text = append(c.text, ' ')
	}
	c.anchor.space = false
	c.text = append(c.text, piece[:min(len(piece), maxAnchorText)]...)
}

// endBlock separates the texts before and after the end of a block.
func (c *linkCollector) endBlock() { c.anchor.space = true }

// end ends the open link. If it has no text, its title becomes the text.
func (c *linkCollector) end() {
	c.inner = false
	if !c.anchor.open {
		return
	}
	c.anchor.open = false
	l := &c.links[c.anchor.link]
	if len(c.text) == c.anchor.start {
		c.appendFolded(c.anchor.title)
	}
	l.start, l.end = c.anchor.start, len(c.text)
}

// appendFolded appends s to text, its white space folded and its length bounded.
func (c *linkCollector) appendFolded(s []byte) {
	folded := space.Fold(c.text[len(c.text):], s[:min(len(s), maxAnchorText)])
	c.text = append(c.text, folded...)
}

// addAttribute adds the link in the attribute key of the current tag. It returns false if there is
// no link that can be followed.
func (c *linkCollector) addAttribute(tags *htmltoken.Tokenizer, key string, flags vocab.LinkFlags, text []byte) bool {
	ref, ok := tags.Attr(key)
	if !ok {
		return false
	}
	if rel, ok := tags.Attr("rel"); ok && forbidsFollowing(rel) {
		flags |= vocab.NoFollow
	}
	return c.add(ref, flags, text)
}

// addEmbedded adds the resource of an object or embed element, if its type is indexed or not given.
func (c *linkCollector) addEmbedded(tags *htmltoken.Tokenizer, key string) {
	media, typed := tags.Attr("type")
	if m := vocab.MediumOf(string(media)); !typed || m != vocab.OtherMedium && !m.Data() {
		c.addAttribute(tags, key, vocab.Embedded, nil)
	}
}

// addReference adds the link in an attribute that authors also fill with words. A link has no white
// space.
func (c *linkCollector) addReference(tags *htmltoken.Tokenizer, key string) {
	if ref, ok := tags.Attr(key); ok && len(ref) > 0 && !bytes.ContainsAny(bytes.TrimSpace(ref), " \t\n\r\f") {
		c.add(ref, 0, nil)
	}
}

// addFrame adds the source of a frame, or the links of the page in its srcdoc.
func (c *linkCollector) addFrame(tags *htmltoken.Tokenizer) {
	page, ok := tags.Attr("srcdoc")
	if !ok {
		c.addAttribute(tags, "src", vocab.Embedded, nil)
		return
	}
	var inner htmltoken.Tokenizer
	inner.Reset(bytes.Clone(page))
	for k := inner.Next(); k != htmltoken.End; k = inner.Next() {
		if k != htmltoken.Start && k != htmltoken.EmptyTag {
			continue
		}
		switch inner.Tag {
		case atom.A, atom.Area:
			c.addAttribute(&inner, "href", 0, nil)
		case atom.Iframe, atom.Frame:
			c.addAttribute(&inner, "src", vocab.Embedded, nil)
		}
	}
}

// add adds a link. It returns false if ref cannot be followed, or the page has too many links.
func (c *linkCollector) add(ref []byte, flags vocab.LinkFlags, text []byte) bool {
	if c.count >= maxLinks || len(ref) > 0 && ref[0] == '#' && !c.hasBase {
		return false
	}
	to, fragment := c.target(ref)
	if to == nil || to.own && fragment {
		return false
	}
	c.count++
	number := c.outlineNumber(to, flags)
	if c.outlineOnly {
		return true
	}
	if to.offSite {
		flags |= vocab.OffSite
	}
	start := len(c.text)
	c.appendFolded(text)
	c.links = append(c.links, link{to: number, start: start, end: len(c.text), flags: flags})
	return true
}

// setLastChanged records when the target of the last link changed.
func (c *linkCollector) setLastChanged(seconds uint32) { c.links[len(c.links)-1].changed = seconds }

// leadsWithin reports whether a reference is a fragment of the page itself.
func (c *linkCollector) leadsWithin(ref []byte) bool {
	n := bytes.IndexByte(ref, '#')
	if n < 0 || n == 0 && !c.hasBase {
		return n == 0
	}
	to, _ := c.target(ref)
	return to != nil && to.own
}

// target returns the target of a reference, or nil if it is invalid, and whether the reference has
// a fragment. References are resolved once: about half of them are repeated on the page. A fragment
// never changes the target. It is cut off before the look-up, except after a space and in a very
// long reference, where that would change what is trimmed or refused.
func (c *linkCollector) target(ref []byte) (to *target, fragment bool) {
	bare := ref
	if n := bytes.IndexByte(ref, '#'); n >= 0 {
		fragment = true
		if n > 0 && ref[n-1] > ' ' && len(ref) <= 1024 {
			bare = ref[:n]
		}
	}
	number, seen := c.references[string(bare)]
	if !seen {
		number = c.resolve(string(bare))
	}
	if number == 0 {
		return nil, fragment
	}
	return &c.targets[number-1], fragment
}

// resolve resolves a new reference and returns its value in references.
func (c *linkCollector) resolve(ref string) (number uint32) {
	if url, err := c.base.Join(ref); err == nil {
		c.targets = append(c.targets, target{url: url, own: url.String() == c.page.String(), offSite: c.leavesSite(&url)})
		number = uint32(len(c.targets))
	}
	c.references[ref] = number
	return number
}

// outlineNumber returns the index of a target in outline. It adds the target if it is new.
func (c *linkCollector) outlineNumber(to *target, flags vocab.LinkFlags) uint32 {
	number := &to.outlined[flags&vocab.NoFollow]
	if *number == 0 {
		c.outline = append(c.outline, OutlineLink{to.url, flags&vocab.NoFollow != 0})
		*number = uint32(len(c.outline))
	}
	return *number - 1
}

// forbidsFollowing reports whether a rel attribute forbids following or counting the link.
func forbidsFollowing(rel []byte) bool {
	for token := range bytes.FieldsSeq(rel) {
		if bytes.EqualFold(token, []byte("nofollow")) || bytes.EqualFold(token, []byte("ugc")) ||
			bytes.EqualFold(token, []byte("sponsored")) {
			return true
		}
	}
	return false
}

// leavesSite reports whether target is on another site than the page.
func (c *linkCollector) leavesSite(target *weburl.URL) bool {
	host := target.Hostname()
	if host == c.page.Hostname() {
		return false
	}
	if host != c.lastHost {
		c.lastHost, c.lastOffSite = host, target.Site() != c.site
	}
	return c.lastOffSite
}

// setBase handles a base element. The first one with an http or https URL counts.
func (c *linkCollector) setBase(tags *htmltoken.Tokenizer) {
	ref, ok := tags.Attr("href")
	if !ok || c.hasBase {
		return
	}
	if base, err := c.page.Join(string(ref)); err == nil {
		c.base, c.hasBase = base, true
		clear(c.references)
	}
}

// refresh handles <meta http-equiv=refresh content="0; url=there">, or the header field Refresh. The
// URL is a link, and without delay a redirect.
func (c *linkCollector) refresh(content []byte) {
	delay, ref := splitRefresh(content)
	if len(ref) == 0 || !c.add(ref, 0, nil) {
		return
	}
	target, err := c.base.Join(string(ref))
	if err == nil && delay == 0 && c.redirect == "" && target.String() != c.page.String() {
		c.redirect = target.String()
	}
}

// splitRefresh parses the content of a meta refresh (HTML 4.2.5.3): whole seconds and a URL. The
// delay is -1 if there is none.
func splitRefresh(content []byte) (delay int, ref []byte) {
	s := bytes.TrimLeft(content, " \t\n\r\f")
	delay = -1
	for len(s) > 0 && '0' <= s[0] && s[0] <= '9' {
		delay = min(max(delay, 0)*10+int(s[0]-'0'), 1<<20)
		s = s[1:]
	}
	s = bytes.TrimLeft(s, "0123456789.")
	s = bytes.TrimLeft(s, "; ,\t\n\r\f")
	if len(s) > 3 && bytes.EqualFold(s[:3], []byte("url")) {
		if after := bytes.TrimLeft(s[3:], " \t\n\r\f"); len(after) > 0 && after[0] == '=' {
			s = bytes.TrimLeft(after[1:], " \t\n\r\f")
		}
	}
	if len(s) > 0 && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = bytes.Cut(s[1:], s[:1])
	}
	return delay, s
}

// followed returns outline. With noFollow set, it marks all links as NoFollow.
func (c *linkCollector) followed(noFollow bool) []OutlineLink {
	if noFollow {
		for i := range c.outline {
			c.outline[i].NoFollow = true
		}
	}
	return c.outline
}

// copyLinks returns the links and the index in outline of each, in memory of their own. With
// noFollow set, all links are NoFollow.
func (c *linkCollector) copyLinks(noFollow bool) (links []vocab.Link, to []uint32) {
	if len(c.links) == 0 {
		return nil, nil
	}
	text := string(c.text)
	links, to = make([]vocab.Link, len(c.links)), make([]uint32, len(c.links))
	for i, l := range c.links {
		to[i] = l.to
		links[i] = vocab.Link{
			Target: c.outline[l.to].URL.String(), Text: text[l.start:l.end], Flags: l.flags, Changed: l.changed,
		}
		if len(links[i].Text) >= maxAnchorText {
			links[i].Text = strings.ToValidUTF8(links[i].Text, "")
		}
		if noFollow {
			links[i].Flags |= vocab.NoFollow
		}
	}
	return links, to
}
