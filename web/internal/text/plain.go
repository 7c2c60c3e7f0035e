package text

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"anatomy/vocab"
)

// blockElements separate words and paragraphs in plain text.
var blockElements = Set(`address article aside blockquote br caption dd details div dl dt figcaption figure footer form
h1 h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section summary table tbody td tfoot th thead title tr ul`)

// A Plain is the text of a page: paragraphs separated by "\n", with other white space folded,
// without the elements that the publisher marks data-nosnippet.
type Plain struct {
	Text, Title string
	Cut         bool // the text was longer than MaxSafe
}

// plainText returns the text of source, HTML in UTF-8.
func plainText(source []byte) Plain {
	r := textReader{}
	z := xhtml.NewTokenizer(bytes.NewReader(source))
	for r.next(z) {
	}
	return Plain{r.out.String(), strings.Join(strings.Fields(r.title), " "), r.cut}
}

type textReader struct {
	visibility
	out strings.Builder
	gap rune // separator before the next word: 0, ' ' or '\n'
	pre int  // open pre elements, in which lines are paragraphs
	cut bool
}

// A visibility knows which text of a page readers see: none of the elements that contain other text, or that
// the publisher marks data-nosnippet.
type visibility struct {
	mute  string // element whose text, the next token, is dropped, or ""
	title string // of the page, once it has been read
	open  string // element with data-nosnippet, or ""
	depth int    // open elements of that name within it
}

// read reads a token. text is that of a text that readers see, or "".
func (v *visibility) read(z *xhtml.Tokenizer) (kind xhtml.TokenType, text string) {
	mute := v.mute
	v.mute = ""
	if kind = z.Next(); kind != xhtml.TextToken {
		return kind, ""
	}
	text = strings.ToValidUTF8(string(z.Text()), "\uFFFD")
	if mute == "" && v.open == "" {
		return kind, text
	}
	if mute == "title" && v.title == "" {
		v.title = text
	}
	return kind, ""
}

// next reads one token and reports whether to go on.
func (r *textReader) next(z *xhtml.Tokenizer) bool {
	if r.out.Len() > MaxSafe {
		r.cut = true
		return false
	}
	switch kind, text := r.read(z); kind {
	case xhtml.ErrorToken: // the end: the source is in memory
		return false
	case xhtml.TextToken:
		r.text(text)
	case xhtml.StartTagToken, xhtml.SelfClosingTagToken, xhtml.EndTagToken:
		name, attributes := z.TagName()
		if end := kind == xhtml.EndTagToken; end || attributes || string(name) == r.open {
			r.withhold(z, string(name), end)
		}
		r.tag(z, string(name), kind == xhtml.EndTagToken)
	}
	return true
}

// withhold handles a tag whose attributes have not been read. It may begin or end an element with
// data-nosnippet, or be within one.
func (v *visibility) withhold(z *xhtml.Tokenizer, name string, end bool) {
	switch {
	case name == v.open && !end:
		v.depth++
	case name == v.open && v.depth > 0:
		v.depth--
	case name == v.open:
		v.open = ""
	case v.open == "" && !end && isWithholding[name]:
		for more := true; more; {
			var key []byte
			if key, _, more = z.TagAttr(); string(key) == "data-nosnippet" {
				v.open, v.depth = name, 0
			}
		}
	}
}

// isWithholding has the elements that may be marked data-nosnippet.
var isWithholding = Set("span div section")

func (r *textReader) tag(z *xhtml.Tokenizer, name string, end bool) {
	if blockElements[name] {
		r.part('\n')
	}
	switch {
	case name == "pre" && end:
		r.pre = max(0, r.pre-1)
	case name == "pre":
		r.pre++
	case name == "noscript" && !end:
		z.NextIsNotRawText()
	case MuteElements[name] && !end:
		r.mute = name
	}
}

// part makes the separator before the next word at least as wide as by.
func (r *textReader) part(by rune) {
	if r.gap != '\n' {
		r.gap = by
	}
}

func (r *textReader) text(s string) {
	for _, c := range s {
		switch {
		case r.out.Len() > MaxSafe: // the next token, or the end, sets cut
			r.cut = true
			return
		case c == '\n' && r.pre > 0:
			r.part('\n')
		case unicode.IsSpace(c) || unicode.IsControl(c):
			r.part(' ')
		default:
			if r.gap != 0 && r.out.Len() > 0 {
				r.out.WriteRune(r.gap)
			}
			r.gap = 0
			r.out.WriteRune(c)
		}
	}
}

// MuteElements contain text that readers do not see. A tokenizer returns the text of all but option as
// one token.
var MuteElements = Set("script style textarea title iframe noembed noframes option")

// Decode converts the body of a page to UTF-8, at most MaxSafe bytes of it, and reports whether it
// is HTML and whether it was cut.
func Decode(page *vocab.Page) (source []byte, isHTML, cut bool) {
	r, err := charset.NewReader(bytes.NewReader(page.Body), page.ContentType)
	if err != nil { // an empty body
		return nil, true, false
	}
	source, _ = io.ReadAll(io.LimitReader(r, MaxSafe+1)) // decoders replace what they cannot read
	medium := vocab.MediumOf(page.ContentType)
	isHTML = medium == vocab.HTML || medium == vocab.OtherMedium
	if len(source) > MaxSafe {
		return source[:MaxSafe], isHTML, true
	}
	return source, isHTML, false
}

// PlainOf returns the text of a page of any type.
func PlainOf(page *vocab.Page) Plain {
	source, isHTML, cut := Decode(page)
	plain := Plain{Text: strings.ToValidUTF8(string(source), "\uFFFD")}
	if isHTML {
		plain = plainText(source)
	}
	plain.Cut = plain.Cut || cut
	return plain
}

// TitleOf returns the title of an HTML page, "" for other pages and for one without title.
func TitleOf(page *vocab.Page) string {
	source, isHTML, _ := Decode(page)
	if !isHTML {
		return ""
	}
	r, z := textReader{}, xhtml.NewTokenizer(bytes.NewReader(source))
	for r.title == "" && r.next(z) {
	}
	return strings.Join(strings.Fields(r.title), " ")
}

// MaxSafe limits what is read and written of a page, in bytes. The last piece may exceed it. Output
// needs a limit too: a short link can become a long one.
const MaxSafe = 4 << 20

func Set(words string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
