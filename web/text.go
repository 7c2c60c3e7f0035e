package web

import (
	"bytes"
	"strings"
	"unicode"

	xhtml "golang.org/x/net/html"
)

// blockElements part words and paragraphs from each other in plain text.
var blockElements = set(`address article aside blockquote br caption dd details div dl dt figcaption figure footer form
h1 h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section summary table tbody td tfoot th thead title tr ul`)

// A plainPage is the text of a page: paragraphs parted by "\n", other white space folded.
type plainPage struct {
	Text, Title string
	Cut         bool // the text was longer than maxSafe
}

// plainText reads source, HTML in UTF-8, as text.
func plainText(source []byte) plainPage {
	r := textReader{}
	z := xhtml.NewTokenizer(bytes.NewReader(source))
	for r.next(z) {
	}
	return plainPage{r.out.String(), strings.Join(strings.Fields(r.title), " "), r.cut}
}

type textReader struct {
	out   strings.Builder
	gap   rune   // what parts the next word from the last: 0, ' ' or '\n'
	mute  string // the element that the next text is dropped with, or ""
	pre   int    // open pre elements: lines are paragraphs there
	title string
	cut   bool
}

// next deals with one token, and says whether to go on.
func (r *textReader) next(z *xhtml.Tokenizer) bool {
	if r.out.Len() > maxSafe {
		r.cut = true
		return false
	}
	mute := r.mute
	r.mute = ""
	switch kind := z.Next(); kind {
	case xhtml.ErrorToken: // the end: the source is in memory
		return false
	case xhtml.TextToken:
		text := strings.ToValidUTF8(string(z.Text()), "\uFFFD")
		if mute == "" {
			r.text(text)
		} else if mute == "title" && r.title == "" {
			r.title = text
		}
	case xhtml.StartTagToken, xhtml.SelfClosingTagToken, xhtml.EndTagToken:
		name, _ := z.TagName()
		r.tag(z, string(name), kind == xhtml.EndTagToken)
	}
	return true
}

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
	case muteElements[name] && !end:
		r.mute = name
	}
}

// part makes the gap before the next word at least as wide as by.
func (r *textReader) part(by rune) {
	if r.gap != '\n' {
		r.gap = by
	}
}

func (r *textReader) text(s string) {
	for _, c := range s {
		switch {
		case r.out.Len() > maxSafe: // the next token, or the end, finds that it is cut
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
