package indexer

import (
	"bytes"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/indexer/internal/labels"
	"anatomy/indexer/internal/space"
	"anatomy/vocab"
)

// Bounds of the texts about a page, in bytes.
const (
	maxTitle       = 1024
	maxDescription = 2048
)

// metadata is what a page states about itself apart from its text and links.
type metadata struct {
	title       []byte
	description []byte
	keywords    []byte
	lang        string // BCP 47, lower case
	dates       dates
	medium      vocab.Medium
	labels      labels.Finder
	directives
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
	return space.Fold(dst, text)
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
		m.obeyAll(string(content))
	case bytes.EqualFold(name, []byte("description")):
		m.setDescription(content)
	case bytes.EqualFold(name, []byte("keywords")):
		m.setKeywords(content)
	case named:
		m.dates.add(name, content)
		m.labels.Add(name, content)
	default: // Open Graph or microdata
		for _, key := range []string{"property", "itemprop"} {
			if name, ok := tags.Attr(key); ok {
				m.dates.add(name, content)
			}
		}
	}
}

// setLanguage sets the language to a declared one, unless it is set.
func (m *metadata) setLanguage(declared []byte) {
	if m.lang == "" {
		m.lang = languageTag(string(declared))
	}
}
