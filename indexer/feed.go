package indexer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"golang.org/x/net/html"

	"anatomy/vocab"
)

// The bounds of a feed.
const (
	maxFeedText  = 4096 // bytes of one element's text; what is behind is passed over
	maxFeedDepth = 64   // elements within each other
)

// errXML is the error of Parse for XML that is neither a feed nor a page.
var errXML = errors.New("XML that is neither a feed nor a page")

// rootOf gives the name of the root element of an XML document, without its prefix and in lower case;
// "" where there is none. A page of HTML without XML declaration may give that of any element.
func rootOf(body []byte) string {
	d := xmlDecoder(body[:min(len(body), 4096)])
	for {
		token, err := d.RawToken()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok {
			return strings.ToLower(start.Name.Local)
		}
	}
}

// isFeed says whether a root element is that of RSS 2.0, of Atom (RFC 4287), or of RSS 1.0.
func isFeed(root string) bool { return root == "rss" || root == "feed" || root == "rdf" }

// feedAsPage says whether a body that came as a page is a feed: many servers send them so. It is told
// by the first bytes, so that true pages are not read twice.
func feedAsPage(body []byte) bool {
	head := bytes.TrimLeft(body[:min(len(body), 64)], " \t\r\n")
	for _, mark := range []string{"<?xml", "<rss", "<feed", "<rdf:RDF"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return isFeed(rootOf(body))
		}
	}
	return false
}

// xmlDecoder forgives what can be forgiven. The body is UTF-8 by now, whatever it declares.
func xmlDecoder(body []byte) *xml.Decoder {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict, d.Entity = false, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d
}

// readXML takes apart what came as XML of no stated kind.
func (p *parser) readXML(body []byte, fetched time.Time) error {
	switch root := rootOf(body); {
	case isFeed(root):
		p.readFeed(body, fetched)
	case root == "html":
		p.readHTML(body)
	default:
		return errXML
	}
	return nil
}

// A feed is the state of reading one.
type feed struct {
	p      *parser
	latest int64    // no date is later than the day after the fetch
	path   []string // names of the open elements
	text   []byte   // of the innermost
	entry  *entry   // the open one, or nil
	guid   bool     // the open guid may be a link
}

// An entry is an item of RSS or an entry of Atom.
type entry struct {
	title, link, guid string
	changed           int64
}

// readFeed takes a feed apart. Its own text is its title, its description and the titles of its
// entries: what an entry says stands on the page that it leads to. Entries are links with the day
// of their change. What stands before broken XML is kept.
func (p *parser) readFeed(body []byte, fetched time.Time) {
	f := feed{p: p, latest: fetched.Add(24 * time.Hour).Unix()}
	for d := xmlDecoder(body); len(f.path) <= maxFeedDepth; {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			f.start(t)
		case xml.CharData:
			f.text = append(f.text, t[:min(len(t), max(maxFeedText-len(f.text), 0))]...)
		case xml.EndElement:
			f.end(strings.ToLower(t.Name.Local))
		}
	}
	p.endAnchor()
	p.endBlock()
}

func (f *feed) start(t xml.StartElement) {
	name := strings.ToLower(t.Name.Local)
	f.text = f.text[:0]
	switch {
	case name == "item" || name == "entry":
		f.entry = &entry{}
	case name == "guid":
		f.guid = !strings.EqualFold(attributeOf(t, "isPermaLink"), "false")
	case name == "link" && attributeOf(t, "href") != "":
		f.link(t)
	case len(f.path) == 0:
		if base, err := f.p.page.Join(attributeOf(t, "base")); err == nil && attributeOf(t, "base") != "" {
			f.p.base = base
		}
	}
	f.path = append(f.path, name)
}

func attributeOf(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if strings.EqualFold(a.Name.Local, name) {
			return a.Value
		}
	}
	return ""
}

// link reads <link rel=… href=…> of Atom, which stands in RSS too.
func (f *feed) link(t xml.StartElement) {
	ref := attributeOf(t, "href")
	switch rel := strings.ToLower(attributeOf(t, "rel")); {
	case f.entry != nil && (rel == "" || rel == "alternate"):
		f.entry.link = ref
	case f.entry == nil && (rel == "" || rel == "alternate" || rel == "next"):
		f.p.relation([]byte(max(rel, "alternate")), []byte(ref), nil)
	}
}

// end takes the text of the element that closes; one that was never opened is passed over, and those
// that were left open within it close with it.
func (f *feed) end(name string) {
	at := len(f.path) - 1
	for at >= 0 && f.path[at] != name {
		at--
	}
	if at < 0 {
		return
	}
	f.path = f.path[:at]
	parent := ""
	if at > 0 {
		parent = f.path[at-1]
	}
	text := string(bytes.TrimSpace(f.text))
	f.text = f.text[:0]
	switch {
	case name == "item" || name == "entry":
		f.add()
	case f.entry != nil && (parent == "item" || parent == "entry"):
		f.entry.set(name, text, f.guid)
	case f.entry == nil && (parent == "channel" || parent == "feed"):
		f.about(name, text)
	}
}

// set takes a child element of an entry.
func (e *entry) set(name, text string, permanent bool) {
	switch name {
	case "title":
		e.title = withoutTags(text)
	case "link":
		e.link = max(e.link, text)
	case "guid":
		if permanent && strings.HasPrefix(text, "http") {
			e.guid = text
		}
	case "pubdate", "date", "updated", "published", "modified":
		e.changed = max(e.changed, feedTime(text))
	}
}

// about takes a child element of the feed itself.
func (f *feed) about(name, text string) {
	p := f.p
	switch name {
	case "title":
		if len(p.title) == 0 {
			p.title = foldSpace(p.title, []byte(withoutTags(text)))
		}
	case "description", "subtitle", "tagline":
		if len(p.description) == 0 {
			p.description = foldSpace(p.description, []byte(withoutTags(text)))
		}
	case "link":
		if text != "" {
			p.relation([]byte("alternate"), []byte(text), nil)
		}
	}
}

// add makes the entry that closes a block of text and a link.
func (f *feed) add() {
	p, e := f.p, f.entry
	if e == nil {
		return
	}
	f.entry = nil
	ref := e.link
	if ref == "" {
		ref = e.guid
	}
	if ref != "" && !p.tooManyLinks() && p.addReference([]byte(ref), 0, nil) {
		l := len(p.links) - 1
		if e.changed > 0 && e.changed <= min(f.latest, math.MaxUint32) {
			p.links[l].changed = uint32(e.changed)
		}
		p.anchor = anchor{open: true, link: l, start: len(p.linkText), title: p.anchor.title[:0]}
	}
	p.appendText([]byte(e.title), style{kind: vocab.Plain, size: vocab.NormalSize})
	p.endAnchor()
	p.endBlock()
}

// withoutTags is the text of a title, which may hold HTML that was escaped.
func withoutTags(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		}
	}
}

// feedTime reads the date of an entry: RFC 822 with the century as RSS has it, RFC 3339 as Atom has
// it, and what is often written instead. It is 0 for all else.
func feedTime(s string) int64 {
	for _, layout := range []string{
		time.RFC3339, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST",
		"Mon, 2 Jan 2006 15:04 -0700", "Mon, 2 Jan 2006 15:04 MST", "Mon, 2 Jan 06 15:04:05 -0700", "Mon, 2 Jan 06 15:04:05 MST",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return max(t.Unix(), 0)
		}
	}
	return 0
}
