package indexer

import (
	"bytes"
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A link as the parser keeps it: its text is linkText[start:end].
type link struct {
	to         uint32 // its number in outline
	start, end int
	flags      vocab.LinkFlags
	changed    uint32
}

// An anchor is the open a element.
type anchor struct {
	open  bool
	link  int  // its index in links
	start int  // of its text in linkText
	space bool // white space or the end of a block was seen since the last text
	title []byte
}

// startAnchor begins an anchor, which ends one that was left open: anchors do not nest.
func (p *parser) startAnchor() {
	p.endAnchor()
	if !p.addLink("href", 0, nil) || p.linksOnly {
		return
	}
	title, _ := p.tags.attr("title")
	p.anchor = anchor{open: true, link: len(p.links) - 1, start: len(p.linkText), title: append(p.anchor.title[:0], title...)}
}

// appendAnchorText adds a piece of text of the page to that of the open anchor.
func (p *parser) appendAnchorText(piece []byte) {
	n := len(p.linkText) - p.anchor.start
	if n >= maxAnchorText {
		return
	}
	if n > 0 && (p.space || p.anchor.space) {
		p.linkText = append(p.linkText, ' ')
	}
	p.anchor.space = false
	p.linkText = append(p.linkText, piece[:min(len(piece), maxAnchorText)]...)
}

// endAnchor gives the open anchor's link its text: what stands in it, else its title.
func (p *parser) endAnchor() {
	if !p.anchor.open {
		return
	}
	p.anchor.open = false
	l := &p.links[p.anchor.link]
	if len(p.linkText) == p.anchor.start {
		p.linkText = foldTail(p.linkText, p.anchor.title)
	}
	l.start, l.end = p.anchor.start, len(p.linkText)
}

// foldTail appends s to dst, its white space folded and its length bounded.
func foldTail(dst, s []byte) []byte {
	tail := foldSpace(dst[len(dst):], s[:min(len(s), maxAnchorText)])
	return append(dst, tail...)
}

// addLink adds the link that an attribute of the current tag names. It gives false where there is
// none that can be followed.
func (p *parser) addLink(key string, flags vocab.LinkFlags, text []byte) bool {
	ref, ok := p.tags.attr(key)
	if !ok || p.tooManyLinks() {
		return false
	}
	if rel, ok := p.tags.attr("rel"); ok && forbids(rel) {
		flags |= vocab.NoFollow
	}
	return p.addReference(ref, flags, text)
}

func (p *parser) tooManyLinks() bool { return p.linkCount >= maxLinks }

func (p *parser) addReference(ref []byte, flags vocab.LinkFlags, text []byte) bool {
	if len(ref) > 0 && ref[0] == '#' && !p.hasBase {
		return false
	}
	to := p.target(ref)
	if to == nil {
		return false
	}
	p.linkCount++
	number := p.outlineTo(to, flags)
	if p.linksOnly {
		return true
	}
	if to.offSite {
		flags |= vocab.OffSite
	}
	start := len(p.linkText)
	p.linkText = foldTail(p.linkText, text)
	p.links = append(p.links, link{to: number, start: start, end: len(p.linkText), flags: flags})
	return true
}

// A target is what references of the page lead to.
type target struct {
	url      weburl.URL
	own      bool      // the page itself, where a reference with a fragment is no link
	offSite  bool      // see [vocab.OffSite]
	outlined [2]uint32 // numbers in outline, and 1, of its links that are followed, and of the others
}

// maxReferences bounds the memory that is kept for the references of the next page.
const maxReferences = 1 << 12

// target gives the target of a reference, nil where it is none that can be followed. A menu stands on a page twice, and half of
// the references with it: what was resolved once is known. A fragment never changes which page is meant; one
// behind a space or in a very long reference is left where it is, since there it changes what is
// trimmed or refused.
func (p *parser) target(ref []byte) *target {
	bare, fragment := ref, false
	if n := bytes.IndexByte(ref, '#'); n >= 0 {
		fragment = true
		if n > 0 && ref[n-1] > ' ' && len(ref) <= 1024 {
			bare = ref[:n]
		}
	}
	number, seen := p.references[string(bare)]
	if !seen {
		number = p.resolve(string(bare))
	}
	if number == 0 || fragment && p.targets[number-1].own {
		return nil
	}
	return &p.targets[number-1]
}

// resolve resolves a reference and gives the number of its target, and 1; or 0.
func (p *parser) resolve(ref string) (number uint32) {
	if url, err := p.base.Join(ref); err == nil {
		p.targets = append(p.targets, target{url: url, own: url.String() == p.page.String(), offSite: p.leavesSite(&url)})
		number = uint32(len(p.targets))
	}
	p.references[ref] = number
	return number
}

// outlineTo has the outline name a target, and gives its number there.
func (p *parser) outlineTo(to *target, flags vocab.LinkFlags) uint32 {
	number := &to.outlined[flags&vocab.NoFollow]
	if *number == 0 {
		p.outline = append(p.outline, OutlineLink{to.url, flags&vocab.NoFollow != 0})
		*number = uint32(len(p.outline))
	}
	return *number - 1
}

// forbids says whether a rel attribute asks that the link not be followed, or not be counted.
func forbids(rel []byte) bool {
	for token := range bytes.FieldsSeq(rel) {
		if bytes.EqualFold(token, []byte("nofollow")) || bytes.EqualFold(token, []byte("ugc")) || bytes.EqualFold(token, []byte("sponsored")) {
			return true
		}
	}
	return false
}

func (p *parser) leavesSite(target *weburl.URL) bool {
	host := target.Hostname()
	if host == p.page.Hostname() {
		return false
	}
	if host != p.lastHost {
		p.lastHost, p.lastOff = host, target.Site() != p.site
	}
	return p.lastOff
}

// setBase obeys the first base element that has an address, if that is http or https.
func (p *parser) setBase() {
	ref, ok := p.tags.attr("href")
	if !ok || p.hasBase {
		return
	}
	if base, err := p.page.Join(string(ref)); err == nil {
		p.base, p.hasBase = base, true
		clear(p.references)
	}
}

// refresh obeys <meta http-equiv=refresh content="0; url=there">: the page that it leads to is a
// link, and where there is no delay, a redirect.
func (p *parser) refresh(content []byte) {
	delay, ref := splitRefresh(content)
	if len(ref) == 0 || p.tooManyLinks() || !p.addReference(ref, 0, nil) {
		return
	}
	if target, err := p.base.Join(string(ref)); err == nil && delay == 0 && p.redirect == "" && target.String() != p.page.String() {
		p.redirect = target.String()
	}
}

// splitRefresh reads the content of a meta refresh (HTML 4.2.5.3): whole seconds and a URL. The
// delay is -1 where there is none.
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

// ownLinks gives the links, and of each the number of its target, with memory of their own.
func (p *parser) ownLinks() (links []vocab.Link, to []uint32) {
	if len(p.links) == 0 {
		return nil, nil
	}
	text := string(p.linkText)
	links, to = make([]vocab.Link, len(p.links)), make([]uint32, len(p.links))
	for i, l := range p.links {
		to[i] = l.to
		links[i] = vocab.Link{Target: p.outline[l.to].URL.String(), Text: text[l.start:l.end], Flags: l.flags, Changed: l.changed}
		if len(links[i].Text) >= maxAnchorText {
			links[i].Text = strings.ToValidUTF8(links[i].Text, "")
		}
		if p.noFollow {
			links[i].Flags |= vocab.NoFollow
		}
	}
	return links, to
}
