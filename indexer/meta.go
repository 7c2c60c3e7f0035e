package indexer

import (
	"bytes"
	"strings"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// The bounds of the texts about a page, in bytes.
const (
	maxTitle       = 1024
	maxDescription = 2048
)

// metadata is what a page states about itself beside its text and links.
type metadata struct {
	title       []byte
	description []byte
	keywords    []byte
	lang        string // BCP 47, lower case
	dates       dates
	medium      vocab.Medium

	// Robots directives.
	noIndex, noFollow, noImages bool
}

// reset prepares for the next page and keeps the memory.
func (m *metadata) reset() {
	*m = metadata{title: m.title[:0], description: m.description[:0], keywords: m.keywords[:0]}
}

// setTitle, setDescription and setKeywords keep the first text that is not empty, its white space
// folded.
func (m *metadata) setTitle(text []byte)       { m.title = foldFirst(m.title, text) }
func (m *metadata) setDescription(text []byte) { m.description = foldFirst(m.description, text) }
func (m *metadata) setKeywords(text []byte)    { m.keywords = foldFirst(m.keywords, text) }

func foldFirst(dst, text []byte) []byte {
	if len(dst) > 0 {
		return dst
	}
	return foldSpace(dst, text)
}

// addElement handles a meta element. links takes the URL of a refresh.
func (m *metadata) addElement(tags *htmltoken.Tokenizer, links *linkCollector) {
	content, ok := tags.Attr("content")
	if !ok {
		return
	}
	if equiv, ok := tags.Attr("http-equiv"); ok {
		switch {
		case bytes.EqualFold(equiv, []byte("refresh")):
			links.refresh(content)
		case bytes.EqualFold(equiv, []byte("content-language")):
			m.setLanguage(content)
		}
		return
	}
	name, named := tags.Attr("name")
	switch {
	case forRobots(name):
		m.obeyRobots(string(content))
	case bytes.EqualFold(name, []byte("description")):
		m.setDescription(content)
	case bytes.EqualFold(name, []byte("keywords")):
		m.setKeywords(content)
	case named:
		m.dates.add(name, content)
	default: // Open Graph or microdata
		for _, key := range []string{"property", "itemprop"} {
			if name, ok := tags.Attr(key); ok {
				m.dates.add(name, content)
			}
		}
	}
}

// product is the name by which pages address this crawler. Directives for all robots hold even if
// there are others for it: of several directives the strictest counts.
const product = "anatomy"

// forRobots reports whether the name of a meta element is that of directives for this crawler.
func forRobots(name []byte) bool {
	return bytes.EqualFold(name, []byte("robots")) || bytes.EqualFold(name, []byte(product))
}

// obeyRobots reads the directives of a robots meta element, separated by commas.
func (m *metadata) obeyRobots(directives string) {
	for directive := range strings.SplitSeq(directives, ",") {
		m.obey(directive)
	}
}

func (m *metadata) obey(directive string) {
	switch strings.ToLower(strings.TrimSpace(directive)) {
	case "noindex":
		m.noIndex = true
	case "nofollow":
		m.noFollow = true
	case "none":
		m.noIndex, m.noFollow = true, true
	case "noimageindex", "max-image-preview:none", "max-image-preview: none":
		m.noImages = true
	}
}

// obeyHeader reads X-Robots-Tag, one field a line. "name: noindex, nofollow" addresses the crawler of
// that name, up to the end of the field or the next name.
func (m *metadata) obeyHeader(fields string) {
	for field := range strings.SplitSeq(fields, "\n") {
		forUs := true
		for directive := range strings.SplitSeq(field, ",") {
			if name, rest, ok := strings.Cut(strings.TrimSpace(directive), ":"); ok && isCrawler(name) {
				forUs, directive = strings.EqualFold(name, product), rest
			}
			if forUs {
				m.obey(directive)
			}
		}
	}
}

// isCrawler reports whether the text before a colon is the name of a crawler rather than that of a
// directive with a value, or part of a date.
func isCrawler(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return !strings.ContainsAny(name, " \t")
}

// setLanguage sets the language to a declared one, unless it is set.
func (m *metadata) setLanguage(declared []byte) {
	if m.lang == "" {
		m.lang = languageTag(string(declared))
	}
}
