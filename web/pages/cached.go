package pages

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/inert"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
	"anatomy/web/internal/visitor"
)

// A cached page has two parts. /cached describes the page; its frame shows /cached/page, the page
// itself as the filter leaves it, in a sandbox. Both the frame and the header of the answer set the
// sandbox, so the page is harmless when its address is opened by itself.

// CachedPolicy allows reading a cached page and following its links by click. It names the only
// style sheet by its hash.
var CachedPolicy = func() string {
	hash := sha256.Sum256([]byte(cachedStyle))
	return "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
}()

const cachedStyle = `:root{color-scheme:light dark;--ink:light-dark(#1e2226,#dfe2e4);--soft:light-dark(#5c646b,#9aa3aa);--line:light-dark(#dcdfe1,#33393e);--fill:light-dark(#f3f4f4,#1f2428);--link:light-dark(#1d4f91,#8ab6f0);--mark:light-dark(#ffe58a,#6b5410);--on:light-dark(#1e2226,#fff3cf);background:light-dark(#fff,#15181b);scroll-padding-top:1.25rem}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
body{margin:0;padding:1.25rem clamp(1rem,4vw,2rem) 4rem;max-width:46rem;font:1rem/1.55 system-ui,sans-serif;color:var(--ink);overflow-wrap:anywhere}
@media(min-width:66rem){body{margin-inline-start:10.5rem}}
a{color:var(--link)}mark{background:var(--mark);color:var(--on);border-radius:2px;padding:0 1px}mark:target{outline:2px solid var(--link)}
h1,h2,h3,h4,h5,h6{line-height:1.25;margin:1.5em 0 .5em}h1{font-size:1.6rem}h2{font-size:1.3rem}h3,h4,h5,h6{font-size:1.1rem}
pre,code,kbd,samp,tt{font:.875em/1.5 ui-monospace,monospace;background:var(--fill);border-radius:3px}code,kbd,samp,tt{padding:.1em .25em}
pre{padding:.75rem;overflow:auto;overflow-wrap:normal}pre code{padding:0;font-size:1em}
table{border-collapse:collapse;display:block;overflow-x:auto;overflow-wrap:break-word}td,th{border:1px solid var(--line);padding:.25rem .5rem;text-align:start;vertical-align:top}
blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid var(--line)}hr{border:0;border-top:1px solid var(--line)}
nav,footer{font-size:.875rem;color:var(--soft)}.image{color:var(--soft);border:1px dashed var(--line);border-radius:3px;padding:0 .3em;font-size:.875em}`

// A cachedView is the page around a cached page.
type cachedView struct {
	Title    string // of the page, or its URL
	URL      string // "" if it must not become a link
	Crumbs   []string
	Fetched  time.Time
	Words    []string // marked words
	Page     string   // address of the frame
	Other    string   // address of the other view
	Versions string   // address of the list of versions
	Older    bool     // the page is an older version
	Info     string   // address of the page information
	Previous string   // address of the view that opens at the mark before, "" if there is none
	Next     string   // and at the mark after
	Mark     int      // number of the mark at which it opens, 0 for a section
	Marks    int      // of the page, at most maxMarks
	TextOnly bool
	Text     template.HTML // text-only view: paragraphs of escaped and marked text
	Cut      bool
	Missing  string // why the end of the page is missing: "length"; "" if it is whole
	Bytes    int    // of the body
	Lang     string
	Life     *collection.Life // of the definition of a service, or nil
}

// versionValues returns the parameters of a version of a cached page, "" for the current one.
func versionValues(doc vocab.DocID, query string, text bool, version string) string {
	v := address.CachedValues(uint64(doc), query, text)
	if version != "" {
		v.Set("version", version)
	}
	return v.Encode()
}

// cached shows the page around: parameters doc or url, q for marks, text=1 for the text-only view,
// version for an older version, at for the id of the element at which it opens, mark for the number of
// the mark at which it opens instead.
func (s *documentPages) cached(c *gin.Context) error {
	p := params.Read(c)
	query, textOnly := p.Text("q", params.MaxQuery), p.Flag("text")
	at, mark := p.Text("at", vocab.MaxSectionID), p.Number("mark", 0, 0, maxMarks)
	version := p.Text("version", 100)
	page, err := s.reader.PageAsked(c.Request.Context(), p, version)
	if err != nil {
		return err
	}
	marked := s.reader.Words(c.Request.Context(), query)
	v := s.View(c, "Cached page", query)
	cached := &cachedView{
		Title:    linkTitle(text.TitleOf(page.Page), page.URL),
		URL:      text.Linkable(page.URL),
		Crumbs:   text.Breadcrumb(page.URL),
		Fetched:  page.Fetched,
		Words:    marked[:min(len(marked), 12)],
		Page:     "/cached/page?" + versionValues(page.Doc, query, false, version) + "#" + passageID(at, mark),
		Other:    "/cached?" + versionValues(page.Doc, query, !textOnly, version),
		Older:    version != "",
		Missing:  page.Truncated.String(),
		Bytes:    len(page.Body),
		TextOnly: textOnly,
		Life:     page.Life,
	}
	cached.Versions = address.VersionsHref(page.Doc, nil)
	cached.Info = address.TraceHref(page.URL)
	var shown []byte // with marks
	if textOnly {
		cached.read(page, text.NewMarker(marked))
		shown = []byte(cached.Text)
	} else if len(marked) > 0 {
		shown = renderCached(v.Messages, page, text.NewMarker(marked), "")
	}
	before, after := marksAround(shown, at, mark)
	cached.Marks = min(bytes.Count(shown, markTag), maxMarks)
	if mark > 0 || at == "" {
		cached.Mark = min(before+1, cached.Marks)
	}
	toMark := func(n int) string {
		if n == 0 {
			return ""
		}
		href := "/cached?" + versionValues(page.Doc, query, textOnly, version) + "&mark=" + strconv.Itoa(n)
		if textOnly {
			href += "#" + markID(n)
		}
		return href
	}
	cached.Previous, cached.Next = toMark(before), toMark(after)
	if !textOnly && len(marked) > 0 {
		cached.Other += "#" + markID(1)
	}
	c.Header("Content-Security-Policy", respond.FramePolicy)
	v.Body = cached
	return s.Render(c, http.StatusOK, "cached", v)
}

// maxMarks bounds the marks of a page that one can go to.
const maxMarks = 10_000

// markID returns the id of a mark on a page; they count from 1.
func markID(n int) string { return "anatomy-mark-" + strconv.Itoa(n) }

// passageID returns the fragment of the passage in the frame: a mark, else a section, else the first
// mark.
func passageID(at string, mark int) string {
	if mark > 0 {
		return markID(mark)
	}
	return (&url.URL{Fragment: cmp.Or(text.Shorten(text.Visible(at), inert.MaxID), markID(1))}).EscapedFragment()
}

// marksAround returns the numbers of the marks before and after the passage at which a page opens, 0
// if there is none.
func marksAround(page []byte, at string, mark int) (before, after int) {
	all := min(bytes.Count(page, markTag), maxMarks)
	if mark == 0 {
		passage := bytes.Index(page, []byte(` id="`+html.EscapeString(text.Shorten(text.Visible(at), inert.MaxID))+`"`))
		if at == "" || passage < 0 {
			mark = 1 // it opens at the first one
		} else {
			before = bytes.Count(page[:passage], markTag)
			return before, (before + 1) % (all + 1)
		}
	}
	return max(0, min(mark, all+1)-1), (min(mark, all) + 1) % (all + 1)
}

// markTag begins each mark of a page.
var markTag = []byte(`<mark id="anatomy-mark-`)

// numberMarks gives each mark an id.
func numberMarks(page []byte) []byte {
	var b bytes.Buffer
	for n := 1; ; n++ {
		before, after, found := bytes.Cut(page, []byte("<mark>"))
		b.Write(before)
		if !found {
			return b.Bytes()
		}
		b.WriteString(`<mark id="` + markID(n) + `">`)
		page = after
	}
}

// read fills in the text-only view.
func (v *cachedView) read(page *reader.Page, m *text.Marker) {
	plain := text.PlainOf(page.Page)
	v.Cut = plain.Cut
	v.Lang = page.Lang
	var b bytes.Buffer
	for paragraph := range strings.SplitSeq(plain.Text, "\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString(`<p dir="auto">`)
		if !inert.WriteMarked(&b, paragraph, m) {
			v.Cut = true
			break
		}
		b.WriteString("</p>\n")
	}
	v.Text = template.HTML(numberMarks(b.Bytes()))
}

// cachedPage answers with the content of the frame.
func (s *documentPages) cachedPage(c *gin.Context) error {
	p := params.Read(c)
	query := p.Text("q", params.MaxQuery)
	version := p.Text("version", 100)
	page, err := s.reader.PageAsked(c.Request.Context(), p, version)
	if err != nil {
		return err
	}
	c.Header("Content-Security-Policy", CachedPolicy)
	words := text.NewMarker(s.reader.Words(c.Request.Context(), query))
	c.Data(http.StatusOK, frame.HTMLType, renderCached(frame.Messages(c), page, words, visitor.Of(c, p).Theme))
	return nil
}

// operationHead is the beginning of an operation in the page of a service, as servicetext writes it,
// with marks.
var operationHead = regexp.MustCompile(`<section id="(operation-[^"]+)"><h2>(.*?)</h2>\s*<p>(<code>.*?</code>)`)

// shownOperations is the number of operations up to which their list is open.
const shownOperations = 20

// withOperations adds a list of the operations to the page of a service.
func withOperations(texts *messages.Printer, page *reader.Page, content []byte) []byte {
	all := operationHead.FindAllSubmatchIndex(content, -1)
	if page.Life == nil || len(all) < 2 {
		return content
	}
	b := bytes.NewBuffer(append([]byte(nil), content[:all[0][0]]...))
	open := ""
	if len(all) <= shownOperations {
		open = " open"
	}
	fmt.Fprintf(b, `<nav lang="%s"><details%s><summary>%s</summary><ul>`, texts.Tag, open, html.EscapeString(texts.Text("operations: %s", texts.Count(len(all)))))
	unmarked := strings.NewReplacer("<mark>", "", "</mark>", "")
	for _, at := range all {
		unmarked.WriteString(b, fmt.Sprintf(`<li><a href="#%s">%s</a> %s</li>`, content[at[2]:at[3]], content[at[4]:at[5]], content[at[6]:at[7]]))
	}
	b.WriteString("</ul></details></nav>\n")
	b.Write(content[all[0][0]:])
	return b.Bytes()
}

// renderCached returns the document of the frame, with notes in the language of texts.
func renderCached(texts *messages.Printer, page *reader.Page, m *text.Marker, theme string) []byte {
	source, isHTML, cut := text.Decode(page.Page)
	var safe *inert.Page
	if isHTML {
		safe = inert.HTML(source, page.URL, m)
	} else {
		safe = inert.Text(source, m)
	}
	safe.Cut = safe.Cut || cut
	if safe.Lang == "" {
		safe.Lang = page.Lang
	}
	var b bytes.Buffer
	b.WriteString("<!doctype html><html")
	for _, a := range [][2]string{{"lang", safe.Lang}, {"dir", safe.Dir}, {"data-theme", theme}} {
		if a[1] != "" {
			fmt.Fprintf(&b, ` %s="%s"`, a[0], html.EscapeString(a[1]))
		}
	}
	fmt.Fprintf(&b, `><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title><style>%s</style></head><body>`,
		html.EscapeString(text.Shorten(safe.Title, 200)), cachedStyle)
	b.Write(numberMarks(withOperations(texts, page, safe.HTML)))
	if safe.Cut {
		note := texts.Text("The rest of this page is not shown because it is too long.")
		fmt.Fprintf(&b, `<hr><p lang="%s" dir="ltr">%s</p>`, texts.Tag, html.EscapeString(note))
	}
	b.WriteString("</body></html>\n")
	return b.Bytes()
}
