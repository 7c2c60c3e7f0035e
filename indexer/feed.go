package indexer

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"math"
	"strings"
	"time"

	"golang.org/x/net/html"

	"anatomy/xmlcharset"
)

// Bounds of a feed.
const (
	maxFeedText  = 4096 // bytes of the text of one element; the rest is ignored
	maxFeedDepth = 64   // of nested elements
)

// rootOf returns the name of the root element of an XML document, without prefix and in lower case,
// or "". For HTML without XML declaration it may be the name of any element.
func rootOf(body []byte) string {
	d := xmlcharset.NewUTF8Decoder(body[:min(len(body), 4096)])
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

// isFeed reports whether the root element is that of RSS 2.0, Atom (RFC 4287) or RSS 1.0.
func isFeed(root string) bool { return root == "rss" || root == "feed" || root == "rdf" }

// feedAsPage reports whether a body sent as HTML is a feed, as many servers send it. It checks the
// first bytes before it decodes, so that pages are not read twice.
func feedAsPage(body []byte) bool {
	head := bytes.TrimLeft(body[:min(len(body), 64)], " \t\r\n")
	for _, mark := range []string{"<?xml", "<rss", "<feed", "<rdf:RDF"} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return isFeed(rootOf(body))
		}
	}
	return false
}

// A feed is the state of reading a feed.
type feed struct {
	x      *extraction
	latest int64    // dates after it are ignored: the day after the fetch
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

// readFeed reads a feed. The feed's own text is its title, its description and the titles of its
// entries: the text of an entry is on the page that it links to. Entries become links with the day
// of their last change. If the XML is broken, the part before the error is kept.
func (x *extraction) readFeed(body []byte, fetched time.Time) {
	f := feed{x: x, latest: fetched.Add(24 * time.Hour).Unix()}
	for d := xmlcharset.NewUTF8Decoder(body); len(f.path) <= maxFeedDepth; {
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
	x.end()
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
		links := &f.x.links
		if base, err := links.page.Join(attributeOf(t, "base")); err == nil && attributeOf(t, "base") != "" {
			links.base = base
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

// link handles <link rel=… href=…> of Atom, which RSS feeds use too.
func (f *feed) link(t xml.StartElement) {
	ref := attributeOf(t, "href")
	switch rel := strings.ToLower(attributeOf(t, "rel")); {
	case f.entry != nil && (rel == "" || rel == "alternate"):
		f.entry.link = ref
	case f.entry == nil && (rel == "" || rel == "alternate" || rel == "next"):
		f.x.relations.add(&f.x.links, []byte(max(rel, "alternate")), []byte(ref), nil)
	}
}

// end handles the end of an element and its text. Elements that were left open within it end too.
// The end of an element that is not open is ignored.
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

// set handles a child element of an entry.
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
		e.changed = max(e.changed, parseTime(text))
	}
}

// about handles a child element of the feed itself.
func (f *feed) about(name, text string) {
	switch name {
	case "title":
		f.x.meta.setTitle([]byte(withoutTags(text)))
	case "description", "subtitle", "tagline":
		f.x.meta.setDescription([]byte(withoutTags(text)))
	case "link":
		if text != "" {
			f.x.relations.add(&f.x.links, []byte("alternate"), []byte(text), nil)
		}
	}
}

// add ends the current entry: it becomes a block of text and a link.
func (f *feed) add() {
	e := f.entry
	if e == nil {
		return
	}
	f.entry = nil
	links := &f.x.links
	if ref := cmp.Or(e.link, e.guid); ref != "" && links.add([]byte(ref), 0, nil) {
		if e.changed > 0 && e.changed <= min(f.latest, math.MaxUint32) {
			links.setLastChanged(uint32(e.changed))
		}
		links.start(nil)
	}
	f.x.append([]byte(e.title), plainStyle)
	f.x.end()
}

// withoutTags returns the text of a title, which may contain escaped HTML.
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
