// Package datatext converts data to HTML: CSV to a table (RFC 4180, also with tabs, semicolons or bars
// between fields), JSON (RFC 8259) to paragraphs. The page has a title from the first row, or from
// fields such as "name"; of JSON it also has description, keywords, dates and language, as fields of
// the root state them.
//
// Data are untrusted. The bytes and the depth that are read and the written text are bounded; of longer
// data the beginning is kept. Broken data are read up to the first error.
package datatext

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"strings"
	"unicode"
)

// ErrNoText is the error of CSV and JSON for data without a letter.
var ErrNoText = errors.New("data without text")

// The bounds of the input and the output. Anything beyond them is left out.
const (
	maxRead  = 2 << 20 // bytes: a row of CSV with many fields takes 24 times as much memory
	maxText  = 1 << 20 // bytes of text
	maxHTML  = 4 * maxText
	maxTitle = 200    // bytes; also of a heading
	maxField = 1000   // bytes of a description, and of keywords
	maxCell  = 10_000 // bytes of a field of CSV, or a string of JSON
)

// A page is the HTML that is made of data.
type page struct {
	title                 string
	description, keywords string
	language              string
	created, modified     string
	out                   []byte
	size                  int // bytes of text
	hasText               bool
}

// full reports whether no more is written.
func (p *page) full() bool { return p.size >= maxText || len(p.out) >= maxHTML }

// text writes text.
func (p *page) text(s string) {
	p.hasText = p.hasText || strings.ContainsFunc(s, unicode.IsLetter)
	p.name(s)
}

// name writes the name of a field, which alone is no text. Markup is escaped.
func (p *page) name(s string) {
	s = cut(s, maxCell)
	p.size += len(s)
	p.out = append(p.out, html.EscapeString(s)...)
}

// tag writes markup.
func (p *page) tag(s string) { p.out = append(p.out, s...) }

// html returns the page.
func (p *page) html() ([]byte, error) {
	if !p.hasText {
		return nil, ErrNoText
	}
	b := []byte("<!doctype html>\n<html")
	if p.language != "" {
		b = fmt.Appendf(b, " lang=\"%s\"", html.EscapeString(p.language))
	}
	b = fmt.Appendf(b, "><meta charset=utf-8><title>%s</title>\n", html.EscapeString(cut(p.title, maxTitle)))
	for _, m := range [...]struct{ name, content string }{
		{"description", p.description}, {"keywords", p.keywords},
		{"dcterms.created", p.created}, {"dcterms.modified", p.modified},
	} {
		if m.content != "" {
			b = fmt.Appendf(b, "<meta name=%s content=\"%s\">\n", m.name, html.EscapeString(cut(m.content, maxField)))
		}
	}
	return append(bytes.ToValidUTF8(append(b, p.out...), nil), "</html>\n"...), nil
}

// cut returns at most n bytes of s, in whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// fold returns text with single spaces.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
