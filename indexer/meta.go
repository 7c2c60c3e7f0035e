package indexer

import (
	"bytes"
	"strings"
)

// meta reads a meta element. Those within noscript speak of browsers without scripts, and often
// send them elsewhere.
func (p *parser) meta() {
	if p.noscript {
		return
	}
	content, ok := p.attr("content")
	if !ok {
		return
	}
	if equiv, ok := p.attr("http-equiv"); ok {
		switch {
		case bytes.EqualFold(equiv, []byte("refresh")):
			p.refresh(content)
		case bytes.EqualFold(equiv, []byte("content-language")):
			p.setLanguage("content")
		}
		return
	}
	name, _ := p.attr("name")
	switch {
	case bytes.EqualFold(name, []byte("robots")):
		p.obeyRobots(string(content))
	case bytes.EqualFold(name, []byte("description")):
		if len(p.description) == 0 {
			p.description = foldSpace(p.description, content)
		}
	case bytes.EqualFold(name, []byte("keywords")):
		if len(p.keywords) == 0 {
			p.keywords = foldSpace(p.keywords, content)
		}
	}
}

// obeyRobots reads the directives of a robots meta element or of X-Robots-Tag headers joined by
// commas. "name: directive" is for the crawler of that name, and passed over. Once joined, it
// cannot be told where such a header ends, so the directives after the first are taken as meant
// for all: rather obey too much.
func (p *parser) obeyRobots(directives string) {
	for directive := range strings.SplitSeq(directives, ",") {
		switch strings.ToLower(strings.TrimSpace(directive)) {
		case "noindex":
			p.noIndex = true
		case "nofollow":
			p.noFollow = true
		case "none":
			p.noIndex, p.noFollow = true, true
		}
	}
}

// setLanguage takes the language that an attribute of the current tag declares, if it is the
// first.
func (p *parser) setLanguage(key string) {
	if val, ok := p.attr(key); ok && p.lang == "" {
		p.lang = languageTag(string(val))
	}
}
