package demo

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// A meta is the front matter of a page: lines of "key: value" between two lines of "---".
type meta struct {
	Title       string // becomes <title> and <h1>; required
	Description string // for <meta name=description>; required
	Lang        string // BCP 47; default "en"
	Charset     string // "iso-8859-1", or "" for UTF-8
	Robots      string // for <meta name=robots>: "noindex"
	Also        string // a second path of the same host that serves the same bytes
	Gzip        bool   // sent compressed to clients that accept it
	Forbidden   bool   // robots.txt forbids it; serving it counts as a trespass
	Unlinked    bool   // no page links to it, only the sitemap lists it
}

// readMeta splits a page's source into front matter and Markdown.
func readMeta(source string) (meta, string, error) {
	m := meta{Lang: "en"}
	head, body, ok := strings.Cut(strings.TrimPrefix(source, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(source, "---\n") {
		return m, "", fmt.Errorf("no front matter")
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := m.set(key, value); err != nil {
			return m, "", err
		}
	}
	if m.Title == "" || m.Description == "" {
		return m, "", fmt.Errorf("no title or no description")
	}
	return m, body, nil
}

func (m *meta) set(key, value string) error {
	switch key {
	case "title":
		m.Title = value
	case "description":
		m.Description = value
	case "lang":
		m.Lang = value
	case "charset":
		m.Charset = value
	case "robots":
		m.Robots = value
	case "also":
		m.Also = value
	case "gzip":
		m.Gzip = value == "yes"
	case "forbidden":
		m.Forbidden = value == "yes"
	case "unlinked":
		m.Unlinked = value == "yes"
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// labels are the texts around a page in its language.
type labels struct{ Start, Glossary, About string }

var labelsOf = map[string]labels{
	"en": {"Anatomy of a search engine", "Glossary", "What is this small web?"},
	"de": {"Anatomie einer Suchmaschine (englisch)", "Glossar (englisch)", "Was ist dieses kleine Netz?"},
	"ja": {"検索エンジンの解剖（英語）", "用語集（英語）", "この小さなウェブについて（英語）"},
}

// render returns the whole page. The navigation is last, so that a snippet begins with the text. The page
// does not contain its own path, so that it has the same bytes under a second path.
func (m *meta) render(body template.HTML, home string) ([]byte, error) {
	words, ok := labelsOf[m.Lang]
	if !ok {
		return nil, fmt.Errorf("no labels for language %q", m.Lang)
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, struct {
		*meta
		Words labels
		Home  string
		Body  template.HTML
	}{m, words, home, body})
	if err != nil {
		return nil, err
	}
	return m.encode(out.Bytes())
}

// encode returns the page in its character set. It fails on a character that the set does not have.
func (m *meta) encode(page []byte) ([]byte, error) {
	switch m.Charset {
	case "":
		return page, nil
	case "iso-8859-1":
		return charmap.ISO8859_1.NewEncoder().Bytes(page)
	}
	return nil, fmt.Errorf("unknown charset %q", m.Charset)
}

// contentType returns the value of the Content-Type field.
func (m *meta) contentType() string {
	if m.Charset != "" {
		return "text/html; charset=" + m.Charset
	}
	return "text/html; charset=utf-8"
}
