package box

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/api"
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

// script is box.js with box.css in it, without indentation: 18 KB. scriptTag names its version.
var (
	script    = []byte(strings.Replace(unindented(scriptSource), `"{{css}}"`, quoted(styleSource), 1))
	scriptTag = fmt.Sprintf(`"%08x"`, crc32.ChecksumIEEE(script))
)

// unindented returns a text without white space at the beginning of its lines. No string of
// box.js has several lines.
func unindented(source string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(source, "")
}

// quoted returns a style sheet as a string of JavaScript.
func quoted(source string) string {
	b, _ := json.Marshal(unindented(source)) // a string: cannot fail
	return string(b)
}

// serveScript serves the script under a name that does not change: browsers ask for a new one after
// an hour.
func (b *box) serveScript(c *gin.Context) {
	c.Header("Cache-Control", "private, max-age=3600")
	c.Header("ETag", scriptTag)
	if c.GetHeader("If-None-Match") == scriptTag {
		c.Status(http.StatusNotModified)
		return
	}
	c.Data(http.StatusOK, "text/javascript; charset=utf-8", script)
}

// defaultPages is the number of pages of an answer: with their sections they fill a screen.
const defaultPages = 8

// search answers like /api/v1/search to a query that is being typed.
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
	return api.Answer(r, a), nil
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
