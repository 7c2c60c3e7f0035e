// Package pdftext converts PDF to HTML with the title, the text page by page in paragraphs and
// headings, and the links.
//
// No parser of PDF is safe with untrusted files: a few kilobytes can unpack to gigabytes, refer to
// themselves, or nest until the stack overflows. So [Converter] runs each conversion in a process
// of its own, with bounded time, memory and output, and its output is untrusted text. The library
// ledongthuc/pdf reads the objects of a file. The layout of glyphs into words, lines and paragraphs
// is done here, since the library joins words.
package pdftext

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// The bounds of the page tree.
const (
	maxPages = 5000
	maxLinks = 2000
	maxNodes = 20_000
	maxDepth = 32 // nested nodes, and nested forms
)

// ErrNoText is the error of Convert for a document without text.
var ErrNoText = errors.New("PDF has no text: its pages may be images")

// Convert converts a PDF of size bytes to HTML in UTF-8. Of a damaged file it writes what can be read,
// and fails if that is nothing. Time and memory are not bounded: see [Converter].
func Convert(w io.Writer, file io.ReaderAt, size int64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("PDF: %v", r)
		}
	}()
	r, err := pdf.NewReader(file, size)
	if err != nil {
		return fmt.Errorf("PDF: %w", err)
	}
	d := &document{fonts: fontCache{}}
	d.title = infoTitle(r)
	d.walk(r.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0)
	if len(d.pages) == 0 || d.size == 0 {
		return ErrNoText
	}
	return d.write(w)
}

// infoTitle returns the title that the file states, unless it is the name of a program or a file.
func infoTitle(r *pdf.Reader) (title string) {
	defer func() { _ = recover() }()
	title = strings.TrimSpace(r.Trailer().Key("Info").Key("Title").Text())
	if _, after, ok := strings.Cut(title, "Microsoft Word - "); ok {
		title = after
	}
	isFile := strings.Contains(title, ".") && !strings.Contains(title, " ")
	if isFile || strings.EqualFold(title, "untitled") || len(title) > maxTitle {
		return ""
	}
	return strings.ToValidUTF8(title, "")
}

// walk reads the pages below a node of the page tree. Nodes inherit resources.
func (d *document) walk(node, resources pdf.Value, depth int) {
	if d.nodes++; d.nodes > maxNodes || depth > maxDepth || len(d.pages) >= maxPages || d.size >= maxText {
		return
	}
	if own := node.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	kids := node.Key("Kids")
	if kids.Kind() != pdf.Array {
		d.page(node, resources)
		return
	}
	for i := range kids.Len() {
		d.kid(kids, i, resources, depth)
	}
}

// kid reads the i-th kid. A broken one is skipped.
func (d *document) kid(kids pdf.Value, i int, resources pdf.Value, depth int) {
	defer func() { _ = recover() }()
	d.walk(kids.Index(i), resources, depth+1)
}

// page reads a page, as far as it is not broken.
func (d *document) page(node, resources pdf.Value) {
	l := &layout{d: d}
	func() {
		defer func() { _ = recover() }()
		l.draw(node.Key("Contents"), resources, identity, 0)
	}()
	l.endParagraph()
	d.pages = append(d.pages, page{l.paragraphs, d.annotations(node)})
}

// annotations returns the links of a page to web pages.
func (d *document) annotations(node pdf.Value) (links []string) {
	defer func() { _ = recover() }()
	list := node.Key("Annots")
	for i := range list.Len() {
		if to := list.Index(i).Key("A").Key("URI").RawString(); strings.HasPrefix(to, "http") && d.links < maxLinks {
			d.links++
			links = append(links, to)
		}
	}
	return links
}
