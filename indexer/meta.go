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
	content, ok := p.tags.attr("content")
	if !ok {
		return
	}
	if equiv, ok := p.tags.attr("http-equiv"); ok {
		switch {
		case bytes.EqualFold(equiv, []byte("refresh")):
			p.refresh(content)
		case bytes.EqualFold(equiv, []byte("content-language")):
			p.setLanguage("content")
		}
		return
	}
	name, named := p.tags.attr("name")
	switch {
	case bytes.EqualFold(name, []byte("robots")), bytes.EqualFold(name, []byte(product)):
		p.obeyRobots(string(content))
	case bytes.EqualFold(name, []byte("description")):
		if len(p.description) == 0 {
			p.description = foldSpace(p.description, content)
		}
	case bytes.EqualFold(name, []byte("keywords")):
		if len(p.keywords) == 0 {
			p.keywords = foldSpace(p.keywords, content)
		}
	case named:
		p.metaDate(name, content)
	default:
		p.metaProperty(content)
	}
}

// metaProperty reads a meta element that has no name: one of Open Graph, or of microdata.
func (p *parser) metaProperty(content []byte) {
	for _, key := range []string{"property", "itemprop"} {
		if name, ok := p.tags.attr(key); ok {
			p.metaDate(name, content)
		}
	}
}

// product is the name that pages address us by, beside "robots". What is said to all holds for us even
// where something else is said to us: of several directives the strictest counts.
const product = "anatomy"

// obeyRobots reads the directives of a robots meta element, parted by commas.
func (p *parser) obeyRobots(directives string) {
	for directive := range strings.SplitSeq(directives, ",") {
		p.obey(directive)
	}
}

func (p *parser) obey(directive string) {
	switch strings.ToLower(strings.TrimSpace(directive)) {
	case "noindex":
		p.noIndex = true
	case "nofollow":
		p.noFollow = true
	case "none":
		p.noIndex, p.noFollow = true, true
	case "noimageindex", "max-image-preview:none", "max-image-preview: none":
		p.noImages = true
	}
}

// obeyHeader reads X-Robots-Tag, a field a line. "name: noindex, nofollow" is for the crawler of that
// name, up to the end of the field or the next name.
func (p *parser) obeyHeader(fields string) {
	for field := range strings.SplitSeq(fields, "\n") {
		forUs := true
		for directive := range strings.SplitSeq(field, ",") {
			if name, rest, ok := strings.Cut(strings.TrimSpace(directive), ":"); ok && isAgent(name) {
				forUs, directive = strings.EqualFold(name, product), rest
			}
			if forUs {
				p.obey(directive)
			}
		}
	}
}

// isAgent says whether what stands before a colon is a crawler's name rather than that of a directive
// with a value, or part of a date.
func isAgent(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return !strings.ContainsAny(name, " \t")
}

// setLanguage takes the language that an attribute of the current tag declares, if it is the
// first.
func (p *parser) setLanguage(key string) {
	if val, ok := p.tags.attr(key); ok && p.lang == "" {
		p.lang = languageTag(string(val))
	}
}
