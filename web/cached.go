package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/html/charset"

	"anatomy/searcher"
	"anatomy/vocab"
)

// A cached page is shown in two halves. /cached is a page of ours that says what it is and when it
// was fetched; within it, /cached/page is the page itself, as the filter leaves it, in a sandbox.
// The sandbox stands twice, on the frame and in the header of the answer, so that the page is as
// harmless when its address is opened by itself.

// cachedPolicy lets a cached page be read and its links be followed by a click. Its one style
// sheet, cachedStyle, is named by its hash.
var cachedPolicy = func() string {
	hash := sha256.Sum256([]byte(cachedStyle))
	return "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
}()

const cachedStyle = `:root{color-scheme:light dark;--ink:light-dark(#1e2226,#dfe2e4);--soft:light-dark(#5c646b,#9aa3aa);--line:light-dark(#dcdfe1,#33393e);--fill:light-dark(#f3f4f4,#1f2428);--link:light-dark(#1d4f91,#8ab6f0);--mark:light-dark(#ffe58a,#6b5410);--on:light-dark(#1e2226,#fff3cf);background:light-dark(#fff,#15181b)}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
body{margin:0 auto;padding:1.25rem 1rem 4rem;max-width:46rem;font:1rem/1.55 system-ui,sans-serif;color:var(--ink);overflow-wrap:anywhere}
a{color:var(--link)}mark{background:var(--mark);color:var(--on);border-radius:2px;padding:0 1px}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:1.5em 0 .5em}h1{font-size:1.6rem}h2{font-size:1.3rem}h3,h4,h5,h6{font-size:1.1rem}
pre,code,kbd,samp,tt{font:.875em/1.5 ui-monospace,monospace;background:var(--fill);border-radius:3px}code,kbd,samp,tt{padding:.1em .25em}
pre{padding:.75rem;overflow:auto;overflow-wrap:normal}pre code{padding:0;font-size:1em}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:.25rem .5rem;text-align:start;vertical-align:top}
blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid var(--line)}hr{border:0;border-top:1px solid var(--line)}
nav,footer{font-size:.875rem;color:var(--soft)}.image{color:var(--soft);border:1px dashed var(--line);border-radius:3px;padding:0 .3em;font-size:.875em}`

// A cachedView is the page around a cached page.
type cachedView struct {
	URL      string // "" where it is not one that may be linked
	Crumbs   []string
	Fetched  time.Time
	Words    []string // that are marked
	Page     string   // address of the frame's content
	Other    string   // address of the other view
	Versions string   // address of all versions; "" where those are not shown
	Older    bool     // this is one of them, asked for by its place
	Info     string   // address of what is known of the page; "" where that is not told
	TextOnly bool
	Text     template.HTML // of the text-only view: paragraphs of escaped and marked text
	Cut      bool
	Lang     string
}

func cachedHref(doc uint64, query string, text bool) string {
	return "/cached?" + cachedValues(doc, query, text).Encode()
}

func cachedValues(doc uint64, query string, text bool) url.Values {
	v := url.Values{"doc": {strconv.FormatUint(doc, 10)}}
	if query != "" {
		v.Set("q", query)
	}
	if text {
		v.Set("text", "1")
	}
	return v
}

// versionValues are those of a cached page at a place, "" for the one that counts.
func versionValues(doc vocab.DocID, query string, text bool, version string) string {
	v := cachedValues(uint64(doc), query, text)
	if version != "" {
		v.Set("version", version)
	}
	return v.Encode()
}

// cached is the page around: parameters doc or url, q for the marks, text=1 for text only,
// version for one that was superseded.
func (s *Server) cached(c *gin.Context) error {
	p := readParams(c)
	query, textOnly := p.text("q", MaxQuery), p.flag("text")
	version := p.text("version", 100)
	page, err := s.stored(c.Request.Context(), p, version)
	if err != nil {
		return err
	}
	marked := s.wordsOf(c, query)
	v := s.view("Cached page", query)
	v.Cached = &cachedView{
		URL:      linkable(page.URL),
		Crumbs:   breadcrumb(page.URL),
		Fetched:  page.Fetched,
		Words:    marked[:min(len(marked), 12)],
		Page:     "/cached/page?" + versionValues(page.Doc, query, false, version),
		Other:    "/cached?" + versionValues(page.Doc, query, !textOnly, version),
		Older:    version != "",
		TextOnly: textOnly,
	}
	if s.o.Versions != nil {
		v.Cached.Versions = versionsHref(page.Doc, nil)
	}
	if s.o.Trace != nil {
		v.Cached.Info = traceHref(page.URL)
	}
	if textOnly {
		v.Cached.read(page, newMarker(marked))
	}
	c.Header("Content-Security-Policy", framePolicy)
	return s.render(c, http.StatusOK, s.pages.cached, v)
}

// read fills in the text-only view.
func (v *cachedView) read(page *vocab.Page, m *marker) {
	plain := textOf(page)
	v.Cut = plain.Cut
	v.Lang = langTag(page.Language)
	var b bytes.Buffer
	for paragraph := range strings.SplitSeq(plain.Text, "\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString(`<p dir="auto">`)
		if !writeMarked(&b, paragraph, m) {
			v.Cut = true
			break
		}
		b.WriteString("</p>\n")
	}
	v.Text = template.HTML(b.String())
}

// cachedPage is the page within.
func (s *Server) cachedPage(c *gin.Context) error {
	p := readParams(c)
	query := p.text("q", MaxQuery)
	version := p.text("version", 100)
	page, err := s.stored(c.Request.Context(), p, version)
	if err != nil {
		return err
	}
	c.Header("Content-Security-Policy", cachedPolicy)
	c.Data(http.StatusOK, htmlType, renderCached(page, newMarker(s.wordsOf(c, query)), s.visitor(c, p).Theme))
	return nil
}

// renderCached is the whole document of the frame.
func renderCached(page *vocab.Page, m *marker, theme string) []byte {
	source, isHTML, cut := decode(page)
	var safe *safePage
	if isHTML {
		safe = filterPage(source, page.URL, m)
	} else {
		safe = preformatted(source, m)
	}
	safe.Cut = safe.Cut || cut
	if safe.Lang == "" {
		safe.Lang = langTag(page.Language)
	}
	var b bytes.Buffer
	b.WriteString("<!doctype html><html")
	for _, a := range [][2]string{{"lang", safe.Lang}, {"dir", safe.Dir}, {"data-theme", theme}} {
		if a[1] != "" {
			fmt.Fprintf(&b, ` %s="%s"`, a[0], html.EscapeString(a[1]))
		}
	}
	fmt.Fprintf(&b, `><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title><style>%s</style></head><body>`,
		html.EscapeString(shorten(safe.Title, 200)), cachedStyle)
	b.Write(safe.HTML)
	if safe.Cut {
		b.WriteString("<hr><p>The rest of this page is too long to be shown.</p>")
	}
	b.WriteString("</body></html>\n")
	return b.Bytes()
}

// preformatted shows plain text as it is.
func preformatted(source []byte, m *marker) *safePage {
	f := &filter{marker: m}
	f.write("<pre>")
	f.text(string(source), "")
	f.write("</pre>")
	f.page.HTML = f.out.Bytes()
	return &f.page
}

// decode brings the body of a page to UTF-8, at most maxSafe bytes of it, and says whether it is
// HTML and whether there was more.
func decode(page *vocab.Page) (source []byte, isHTML, cut bool) {
	r, err := charset.NewReader(bytes.NewReader(page.Body), page.ContentType)
	if err != nil { // an empty body
		return nil, true, false
	}
	source, _ = io.ReadAll(io.LimitReader(r, maxSafe+1)) // decoders replace what they cannot read
	medium := vocab.MediumOf(page.ContentType)
	isHTML = medium == vocab.HTML || medium == vocab.Unread
	if len(source) > maxSafe {
		return source[:maxSafe], isHTML, true
	}
	return source, isHTML, false
}

// textOf is the text of a page whatever its type.
func textOf(page *vocab.Page) plainPage {
	source, isHTML, cut := decode(page)
	plain := plainPage{Text: strings.ToValidUTF8(string(source), "\uFFFD")}
	if isHTML {
		plain = plainText(source)
	}
	plain.Cut = plain.Cut || cut
	return plain
}

// stored is the page that parameters doc or url name, or an older version of that of doc.
func (s *Server) stored(ctx context.Context, p *params, version string) (*vocab.Page, error) {
	doc, address := p.doc("doc"), p.text("url", MaxURL)
	if doc == 0 && (address == "" || s.o.Find == nil) {
		p.required("doc", "")
	}
	if p.err != nil {
		return nil, p.err
	}
	if version == "" {
		return s.storedPage(ctx, doc, address)
	}
	if s.o.VersionAt == nil || doc == 0 {
		return nil, notFound("Older versions are shown by doc and version, where they are kept.")
	}
	return s.o.VersionAt(ctx, doc, version)
}

// storedPage is the page of a document, or where doc is 0, of an address.
func (s *Server) storedPage(ctx context.Context, doc vocab.DocID, address string) (*vocab.Page, error) {
	if s.o.Pages == nil || doc == 0 && s.o.Find == nil {
		return nil, notFound("Pages are not kept here.")
	}
	if doc == 0 {
		found, err := s.o.Find(ctx, address)
		if err != nil {
			return nil, err
		}
		doc = found
	}
	page, err := s.o.Pages.Page(ctx, doc)
	if err == nil && page == nil {
		err = ErrNotFound
	}
	if err != nil && problemOf(err).Status == http.StatusNotFound {
		err = notFound("There is no cached copy of that page.")
	}
	return page, err
}

// wordsOf are the words to mark for a query. The searcher alone knows what a query matches, so it
// is asked; without an answer nothing is marked.
func (s *Server) wordsOf(c *gin.Context, query string) []string {
	if query == "" {
		return nil
	}
	a, err := s.ask(c.Request.Context(), searcher.Request{Query: query, Limit: 1})
	if err != nil || a == nil {
		return nil
	}
	return a.Words
}
