package box

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/api"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// A box serves the script of the search box and answers it.
type box struct {
	reader  *reader.Reader
	respond *respond.Responder
}

//go:embed box.js
var scriptSource string

//go:embed box.css
var styleSource string

// A script is box.js with box.css and the labels of a language in it, without indentation and
// comments: 19 KB.
type script struct {
	source []byte
	tag    string // names its version
}

// scripts are those of all languages, by tag of the language.
var scripts = sync.OnceValue(func() map[string]script {
	all := map[string]script{}
	styled := strings.Replace(unindented(scriptSource), `"{{css}}"`, quoted(unindented(styleSource)), 1)
	for _, m := range messages.All() {
		source := []byte(strings.Replace(styled, `"{{labels}}"`, quoted(labels(m)), 1))
		all[m.Tag] = script{source, fmt.Sprintf(`"%08x"`, crc32.ChecksumIEEE(source))}
	}
	return all
})

// labels returns the labels of the box as JSON. The script replaces names in braces.
func labels(m *messages.Printer) string {
	b, _ := json.Marshal(map[string]string{ // texts: cannot fail
		"button": m.Text("Search"), "dialog": m.Text("Search"), "placeholder": m.Text("Search"),
		"close": m.Text("Close"), "list": m.Text("Results"), "results": m.Text("Results: {n}"),
		"none": m.Text("No results for “{q}”") + " – " + m.Text("Try fewer or other words."), "all": m.Text("All results"), "pinned": m.Text("Pinned"),
		"corrected": m.Text("Showing results for %s.", "{q}"), "meant": m.Text("Did you mean %s?", "{q}"),
		"start": m.Text("Type to search"), "recent": m.Text("Recent searches"), "clear": m.Text("Clear"),
		"busy":      m.Text("The search is busy. Try again in a moment."),
		"failed":    m.Text("The search cannot be reached from here."),
		"elsewhere": m.Text("Search at {host}"),
	})
	return string(b)
}

// unindented returns a text without white space at the beginning of its lines, and without lines of
// comments. No string of box.js has several lines.
func unindented(source string) string {
	return regexp.MustCompile(`(?m)^[ \t]*//.*\n|^[ \t]+`).ReplaceAllString(source, "")
}

// quoted returns a text as a string of JavaScript.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string: cannot fail
	return string(b)
}

// serveScript serves the script under a name that does not change: browsers ask for a new one after
// an hour. The parameter lang is the language of its labels, by default English.
func (b *box) serveScript(c *gin.Context) {
	s := scripts()[messages.For(c.Query("lang")).Tag]
	c.Header("Cache-Control", "private, max-age=3600")
	c.Header("ETag", s.tag)
	if c.GetHeader("If-None-Match") == s.tag {
		c.Status(http.StatusNotModified)
		return
	}
	c.Data(http.StatusOK, "text/javascript; charset=utf-8", s.source)
}

// defaultPages is the number of pages of an answer: with their sections they fill a screen.
const defaultPages = 8

// search answers like /api/v1/search to a query that is being typed. URLs lead to the passage of the
// snippet.
func (b *box) search(c *gin.Context) (any, error) {
	p := params.Read(c)
	r := p.Request()
	r.Limit = p.Number("num", defaultPages, 1, searcher.MaxLimit)
	site := siteOf(p)
	p.Required("q", r.Query)
	if p.Err != nil {
		return nil, p.Err
	}
	typing := !strings.HasSuffix(p.One("q"), " ")
	a, err := searchTyped(c.Request.Context(), b.reader, r, site, typing)
	if err != nil {
		return nil, err
	}
	r.Query = a.Query // which the next pages of results are of
	return api.AnswerWithPassages(r, a), nil
}

// siteOf returns the site: filter of the parameter site, none if it is absent.
func siteOf(p *params.Params) []string {
	raw := p.One("site")
	if raw == "" {
		return nil
	}
	site, ok := text.SiteName(raw)
	if !ok {
		p.Fail("Parameter site must be a host, or a host and a folder: example.org/docs.")
	}
	return []string{"site:" + site}
}
