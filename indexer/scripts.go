package indexer

import (
	"bytes"

	"anatomy/indexer/internal/htmltoken"
)

// maxPlaceholder is the maximum length, in bytes, of a text such as "Loading …" that a page shows
// until its scripts run.
const maxPlaceholder = 32

// scripts has the evidence that a page has no text without JavaScript.
type scripts struct {
	any      bool // the page has a script
	noscript bool // a noscript element is open
	before   int  // links of the page before that element
	within   int  // links within such elements
	shown    int  // bytes of text outside of them, as far as they matter
}

// addElement handles a script element, which may contain data or a template instead.
func (s *scripts) addElement(tags *htmltoken.Tokenizer) {
	what, _ := tags.Attr("type")
	what = bytes.ToLower(bytes.TrimSpace(what))
	s.any = s.any || len(what) == 0 || string(what) == "module" ||
		bytes.Contains(what, []byte("javascript")) || bytes.Contains(what, []byte("ecmascript"))
}

// setNoscript handles the start or the end of a noscript element.
func (s *scripts) setNoscript(open bool, links *linkCollector) {
	switch {
	case open && !s.noscript:
		s.before = links.count
	case !open && s.noscript:
		s.within += links.count - s.before
	}
	s.noscript = open
}

// addText handles text that a browser shows.
func (s *scripts) addText(text []byte) {
	if s.shown <= maxPlaceholder && !s.noscript {
		s.shown += len(bytes.TrimSpace(text))
	}
}

// makeText reports whether the page has no visible text and no links until its scripts run.
func (s *scripts) makeText(links *linkCollector) bool {
	s.setNoscript(false, links)
	return s.any && s.shown <= maxPlaceholder && links.count == s.within
}
