package indexer

import (
	"bytes"
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A link as the parser keeps it: its text is linkText[start:end].
type link struct {
	target     string
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

func (p *parser) tooManyLinks() bool { return len(p.links)+p.linkCount >= maxLinks }

func (p *parser) addReference(ref []byte, flags vocab.LinkFlags, text []byte) bool {
	if len(ref) > 0 && ref[0] == '#' && !p.hasBase {
		return false
	}
	if p.linksOnly {
		return p.outlineReference(ref, flags)
	}
	target, err := p.base.Join(string(ref))
	if err != nil || target.String() == p.page.String() && bytes.IndexByte(ref, '#') >= 0 {
		return false
	}
	if p.leavesSite(&target) {
		flags |= vocab.OffSite
	}
	start := len(p.linkText)
	p.linkText = foldTail(p.linkText, text)
	p.links = append(p.links, link{target: target.String(), start: start, end: len(p.linkText), flags: flags})
	return true
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

// ownLinks gives the links with memory of their own.
func (p *parser) ownLinks() []vocab.Link {
	if len(p.links) == 0 {
		return nil
	}
	text := string(p.linkText)
	links := make([]vocab.Link, len(p.links))
	for i, l := range p.links {
		links[i] = vocab.Link{Target: l.target, Text: text[l.start:l.end], Flags: l.flags, Changed: l.changed}
		if len(links[i].Text) >= maxAnchorText {
			links[i].Text = strings.ToValidUTF8(links[i].Text, "")
		}
		if p.noFollow {
			links[i].Flags |= vocab.NoFollow
		}
	}
	return links
}
