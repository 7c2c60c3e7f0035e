package web

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	xhtml "golang.org/x/net/html"

	"anatomy/weburl"
)

// The filter makes a harmless page of any page. It copies nothing: of each token of the source it
// writes anew what is on the lists below, and escapes all text. Elements off the list lose their
// tags and keep their text; elements whose text is no text lose that too.
//
// What may not get through: scripts, frames, objects, forms, styles, images, meta, base, link,
// attributes that load or act, links that are not http or https. As no element of the lists has
// raw text or foreign content, a browser cannot read the output otherwise than it was written.

// safeElements may stand in a cached page. mark is missing because marks are ours.
var safeElements = set(`a abbr address article aside b bdi bdo big blockquote br caption cite code col colgroup dd del
details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i ins kbd li main nav ol p pre q rp rt
ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr`)

// muteElements hold text that is not to be read: the token after their start tag is dropped if it
// is text. All but option have raw text for the tokeniser, which is one token.
var muteElements = set("script style textarea title iframe noembed noframes option")

// numberAttributes hold a small whole number.
var numberAttributes = set("colspan rowspan span start value")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// A safePage is a page that the filter has seen to.
type safePage struct {
	HTML      []byte // of the body
	Lang, Dir string // of the root element, "" where unknown
	Title     string
	Cut       bool // the page was longer than maxSafe
}

// maxSafe bounds what is read and what is written of a page, in bytes. The last piece written may
// go past it. Both ends need a bound: a short link can become a long one, a word a marked word.
const maxSafe = 4 << 20

// filterPage reads source, HTML in UTF-8, into a page that can do nothing. Links are resolved
// against base and the page's own base element. Words of m are marked.
func filterPage(source []byte, base string, m *marker) *safePage {
	f := &filter{marker: m}
	f.base, _ = weburl.Parse(base) // a zero base resolves absolute links only
	z := xhtml.NewTokenizer(bytes.NewReader(source))
	for f.next(z) {
	}
	f.page.HTML = f.out.Bytes()
	return &f.page
}

type filter struct {
	page    safePage
	out     bytes.Buffer
	base    weburl.URL
	hasBase bool
	mute    string // the element that the next text belongs to and is dropped with, or ""
	marker  *marker
}

// next deals with one token, and says whether to go on.
func (f *filter) next(z *xhtml.Tokenizer) bool {
	if f.out.Len() > maxSafe {
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
		if t.Data == "noscript" { // its content is for us, who run no scripts
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
	if mute == "title" && f.page.Title == "" {
		f.page.Title = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	}
	if mute == "" && !writeMarked(&f.out, s, f.marker) {
		f.page.Cut = true
	}
}

func (f *filter) start(t *xhtml.Token) {
	switch {
	case muteElements[t.Data]:
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

// root keeps language and direction of the whole page.
func (f *filter) root(t *xhtml.Token) {
	for _, a := range t.Attr {
		switch a.Key {
		case "lang":
			f.page.Lang = langTag(a.Val)
		case "dir":
			f.page.Dir = direction(a.Val)
		}
	}
}

// rebase honours the first base element for resolving; it is not written.
func (f *filter) rebase(t *xhtml.Token) {
	for _, a := range t.Attr {
		if a.Key == "href" && !f.hasBase {
			if u, err := f.base.Join(a.Val); err == nil {
				f.base, f.hasBase = u, true
			}
		}
	}
}

// image shows the words that stand for an image.
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
		a.Key, value = "id", shorten(visible(a.Val), 128)
	case a.Key == "title" || a.Key == "datetime":
		value = shorten(visible(a.Val), 512)
	case a.Key == "lang":
		value = langTag(a.Val)
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

// link writes an absolute link to the live page, or one within this page.
func (f *filter) link(ref string) {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' || unicode.IsSpace(r) })
	head, fragment, hasFragment := strings.Cut(ref, "#")
	if hasFragment {
		fragment = "#" + (&url.URL{Fragment: shorten(visible(fragment), 256)}).EscapedFragment()
	}
	if head == "" {
		if hasFragment {
			f.write(` href="`)
			writeEscaped(&f.out, fragment)
			f.write(`"`)
		}
		return
	}
	if u, err := f.base.Join(head); err == nil && linkable(u.String()) != "" {
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
