// Package inert makes pages of other sites harmless.
//
// It works by an allow-list: for each token of the source it writes what the lists below allow, and
// escapes all text. Other elements lose their tags and keep their text; muted elements lose their
// text too. A read-only text field, as pages of web services have for requests, becomes a pre.
package inert

import (
	"bytes"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"anatomy/web/internal/text"
	"anatomy/weburl"

	xhtml "golang.org/x/net/html"
)

// safeElements are the allowed elements. mark is missing: marks come from the server.
var safeElements = text.Set(`a abbr address article aside b bdi bdo big blockquote br caption cite code col colgroup dd del
details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd li main nav ol p pre q rp rt
ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr`)

// MaxID bounds the ids that are kept, in characters.
const MaxID = 128

// numberAttributes are attributes with a small whole number.
var numberAttributes = text.Set("colspan rowspan span start value")

// A Page is a harmless page.
type Page struct {
	HTML      []byte // of the body
	Lang, Dir string // of the root element, or ""
	Title     string
	Cut       bool // the page was longer than text.MaxSafe
}

// HTML returns a harmless page for source, HTML in UTF-8. It resolves links against base and
// the page's own base element, and marks the words of m.
func HTML(source []byte, base string, m *text.Marker) *Page {
	f := &filter{marker: m}
	f.base, _ = weburl.Parse(base) // a zero base resolves only absolute links
	z := xhtml.NewTokenizer(bytes.NewReader(source))
	for f.next(z) {
	}
	f.page.HTML = f.out.Bytes()
	return &f.page
}

// Text returns plain text as a page.
func Text(source []byte, m *text.Marker) *Page {
	f := &filter{marker: m}
	f.write("<pre>")
	f.text(string(source), "")
	f.write("</pre>")
	f.page.HTML = f.out.Bytes()
	return &f.page
}

type filter struct {
	page    Page
	out     bytes.Buffer
	base    weburl.URL
	hasBase bool
	mute    string // element whose text is dropped, readOnly, or ""
	marker  *text.Marker
}

// next reads one token and reports whether to go on.
func (f *filter) next(z *xhtml.Tokenizer) bool {
	if f.out.Len() > text.MaxSafe {
		f.page.Cut = true
		return false
	}
	mute := f.mute
	f.mute = ""
	switch z.Next() {
	case xhtml.ErrorToken: // the end: the source is in memory
		return false
	case xhtml.TextToken:
		f.text(string(z.Text()), mute)
	case xhtml.StartTagToken, xhtml.SelfClosingTagToken:
		t := z.Token()
		if t.Data == "noscript" { // its content is shown, since scripts do not run
			z.NextIsNotRawText()
		}
		f.start(&t)
	case xhtml.EndTagToken:
		if name, _ := z.TagName(); safeElements[string(name)] {
			f.write("</", string(name), ">")
		}
	}
	return true
}

func (f *filter) write(parts ...string) {
	for _, p := range parts {
		f.out.WriteString(p)
	}
}

func (f *filter) text(s, mute string) {
	switch {
	case mute == "title" && f.page.Title == "":
		f.page.Title = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	case mute == readOnly:
		f.write("<pre>")
		f.page.Cut = !WriteMarked(&f.out, s, nil) || f.page.Cut
		f.write("</pre>")
	case mute == "":
		f.page.Cut = !WriteMarked(&f.out, s, f.marker) || f.page.Cut
	}
}

// readOnly is the value of mute in a text field that cannot be edited: its text is shown.
const readOnly = "readonly"

func (f *filter) start(t *xhtml.Token) {
	switch {
	case t.Data == "textarea" && hasAttribute(t, readOnly):
		f.mute = readOnly
	case text.MuteElements[t.Data]:
		f.mute = t.Data
	case t.Data == "html" || t.Data == "body":
		f.root(t)
	case t.Data == "base":
		f.rebase(t)
	case t.Data == "img":
		f.image(t)
	case safeElements[t.Data]:
		f.write("<", t.Data)
		for _, a := range t.Attr {
			f.attribute(t.Data, a)
		}
		f.write(">")
	}
}

func hasAttribute(t *xhtml.Token, name string) bool {
	return slices.ContainsFunc(t.Attr, func(a xhtml.Attribute) bool { return a.Key == name })
}

// root keeps the language and the direction of the page.
func (f *filter) root(t *xhtml.Token) {
	for _, a := range t.Attr {
		switch a.Key {
		case "lang":
			f.page.Lang = text.LangTag(a.Val)
		case "dir":
			f.page.Dir = direction(a.Val)
		}
	}
}

// rebase uses the first base element to resolve links. It does not write it.
func (f *filter) rebase(t *xhtml.Token) {
	for _, a := range t.Attr {
		if a.Key == "href" && !f.hasBase {
			if u, err := f.base.Join(a.Val); err == nil {
				f.base, f.hasBase = u, true
			}
		}
	}
}

// image writes the alternative text of an image.
func (f *filter) image(t *xhtml.Token) {
	for _, a := range t.Attr {
		if a.Key == "alt" && strings.TrimSpace(a.Val) != "" {
			f.write(`<span class="image">`)
			f.text(a.Val, "")
			f.write("</span>")
			return
		}
	}
}

func (f *filter) attribute(element string, a xhtml.Attribute) {
	value := ""
	switch {
	case a.Namespace != "":
	case a.Key == "href" && element == "a":
		f.link(a.Val)
		return
	case a.Key == "id", a.Key == "name" && element == "a":
		a.Key, value = "id", text.Shorten(text.Visible(a.Val), MaxID)
	case a.Key == "title" || a.Key == "datetime":
		value = text.Shorten(text.Visible(a.Val), 512)
	case a.Key == "lang":
		value = text.LangTag(a.Val)
	case a.Key == "dir":
		value = direction(a.Val)
	case numberAttributes[a.Key]:
		if n, err := strconv.Atoi(a.Val); err == nil && n >= 0 && n <= 10_000 {
			value = strconv.Itoa(n)
		}
	}
	if value != "" {
		f.write(" ", a.Key, `="`)
		writeEscaped(&f.out, value)
		f.write(`"`)
	}
}

// link writes an absolute link to the live page, or a link within this page.
func (f *filter) link(ref string) {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' || unicode.IsSpace(r) })
	head, fragment, hasFragment := strings.Cut(ref, "#")
	if hasFragment {
		fragment = "#" + (&url.URL{Fragment: text.Shorten(text.Visible(fragment), 256)}).EscapedFragment()
	}
	if head == "" {
		if hasFragment {
			f.write(` href="`)
			writeEscaped(&f.out, fragment)
			f.write(`"`)
		}
		return
	}
	if u, err := f.base.Join(head); err == nil && text.Linkable(u.String()) != "" {
		f.write(` href="`)
		writeEscaped(&f.out, u.String()+fragment)
		f.write(`" target="_top" rel="noreferrer nofollow"`)
	}
}

func direction(s string) string {
	switch s = strings.ToLower(s); s {
	case "ltr", "rtl", "auto":
		return s
	}
	return ""
}

// WriteMarked writes a text as HTML with the words of m in mark elements. It stops when out exceeds
// text.MaxSafe, and reports whether it wrote the whole text.
func WriteMarked(out *bytes.Buffer, s string, m *text.Marker) bool {
	whole := true
	m.Each(strings.ToValidUTF8(s, "\uFFFD"), func(piece string, mark bool) {
		if out.Len() > text.MaxSafe {
			whole = false
			return
		}
		if mark {
			out.WriteString("<mark>")
		}
		writeEscaped(out, piece)
		if mark {
			out.WriteString("</mark>")
		}
	})
	return whole
}

// writeEscaped writes a text as HTML without NUL bytes, which browsers and tokenizers treat
// differently.
func writeEscaped(out *bytes.Buffer, s string) {
	out.WriteString(html.EscapeString(strings.ReplaceAll(s, "\x00", "")))
}
