package web

import (
	"bytes"
	"embed"
	"fmt"
	"hash/crc32"
	"html/template"
	"mime"
	"net/http"
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

//go:embed templates static
var files embed.FS

// assets are the files below /static/ by the name they are served under, which holds a checksum
// of the content, so that browsers may keep them for ever: app.css is /static/app.1c291ca3.css.
type assets struct {
	content map[string][]byte // by served name
	served  map[string]string // path by plain name
}

func loadAssets() assets {
	a := assets{make(map[string][]byte), make(map[string]string)}
	entries, _ := files.ReadDir("static") // embedded: cannot fail
	for _, e := range entries {
		content, _ := files.ReadFile("static/" + e.Name())
		ext := path.Ext(e.Name())
		name := fmt.Sprintf("%s.%08x%s", strings.TrimSuffix(e.Name(), ext), crc32.ChecksumIEEE(content), ext)
		a.content[name] = content
		a.served[e.Name()] = "/static/" + name
	}
	return a
}

// static serves one asset.
func (s *Server) static(c *gin.Context) error {
	name := c.Param("file")
	content, ok := s.assets.content[name]
	if !ok {
		return notFound("There is nothing at this address.")
	}
	c.Header("Cache-Control", "public, max-age=31536000, immutable")
	c.Data(http.StatusOK, mime.TypeByExtension(path.Ext(name)), content)
	return nil
}

// pages are the parsed templates, each within the layout but for busy.
type pages struct {
	home, results, images, explain, cached, links, trace, preferences, help, bot, advanced, site, versions, api, crawl, problem, busy, dashboard *template.Template
}

// parsePages panics on a template that does not parse: they are part of the program.
func parsePages(a assets) pages {
	functions := template.FuncMap{
		"asset":  func(name string) string { return a.served[name] },
		"count":  count,
		"date":   date,
		"points": points,

		"resultList": resultList, "pager": pager, "sites": sites, "tabs": tabs,

		"count64": func(n any) string { return count(int(reflect.ValueOf(n).Int())) },
		"sum":     func(a, b int64) int64 { return a + b },
		"rate":    rate, "hits": hits, "megabytes": megabytes, "span": span,
	}
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html"))
	page := func(name string) *template.Template {
		return template.Must(template.Must(layout.Clone()).ParseFS(files, "templates/"+name))
	}
	return pages{
		home:        page("home.html"),
		results:     page("results.html"),
		images:      page("images.html"),
		explain:     page("explain.html"),
		cached:      page("cached.html"),
		links:       page("links.html"),
		trace:       page("trace.html"),
		preferences: page("preferences.html"),
		help:        page("help.html"),
		bot:         page("bot.html"),
		advanced:    page("advanced.html"),
		site:        page("site.html"),
		versions:    page("versions.html"),
		api:         page("api.html"),
		crawl:       page("crawl.html"),
		problem:     page("problem.html"),
		busy:        template.Must(template.New("busy.html").Funcs(functions).ParseFS(files, "templates/busy.html")),
		dashboard:   page("dashboard.html"),
	}
}

// A view is what the templates see. Title and Query serve the layout, one of the rest the page.
type view struct {
	Site    string
	HasBot  bool // /bot is there
	Title   string
	Query   string
	Num     int // results a page, 0 for the default
	Visitor *visitor
	Rank    string // vector that was asked for, "" for the default
	Type    string // of results, "" for pages
	Kinds   []tabView

	Results *resultsView
	Explain *explainView
	Cached  *cachedView
	Links   *linksView
	Trace   *traceView

	Preferences *preferencesView
	Help        *helpView
	Bot         *botView
	Advanced    *advancedView
	SiteReport  *siteReportView
	Versions    *versionsView
	API         *apiView
	Crawl       *crawlView
	Problem     *problem
	Dashboard   *dashboardView
}

func (s *Server) view(title, query string) *view {
	return &view{Site: s.o.Name, HasBot: s.o.Bot != nil, Title: title, Query: query}
}

// htmlType is the content type of a page.
const htmlType = "text/html; charset=utf-8"

// pageBuffers hold pages while they are made: what is written is copied.
var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// render answers with a page; nothing is sent before the whole of it is made.
func (s *Server) render(c *gin.Context, status int, t *template.Template, v *view) error {
	if v.Visitor == nil {
		v.Visitor = s.visitor(c, readParams(c))
	}
	b := pageBuffers.Get().(*bytes.Buffer)
	defer pageBuffers.Put(b)
	b.Reset()
	if err := t.Execute(b, v); err != nil {
		s.log.Error("page not made", "page", t.Name(), "err", err)
		c.String(http.StatusInternalServerError, "The page could not be made.\n")
		return nil
	}
	c.Data(status, htmlType, s.placed(b.Bytes()))
	return nil
}

// count writes a number with its thousands parted: 1,234,567.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func date(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// points writes a score with all its six decimals, so that a column of them adds up as shown.
func points(s searcher.Score) string {
	sign := ""
	if s < 0 {
		sign, s = "−", -s
	}
	return fmt.Sprintf("%s%d.%06d", sign, s/1e6, s%1e6)
}

// duration writes a time of the order of a query's: 0.84 ms, 12 ms, 1.3 s.
func duration(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", ms)
	default:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
}
