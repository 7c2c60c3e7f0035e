// Package pdftext makes pages of HTML from PDF, to be indexed and shown like any other: the title,
// the text page by page with its paragraphs and headings, and the links.
//
// A PDF is a program that a stranger wrote, and no parser of it is to be trusted: a file of a few
// kilobytes can unpack to gigabytes, point back into itself, or nest until the stack ends. So
// [Converter] has the work done in a process of its own, whose time, memory and output are bounded,
// and takes what it says for text from a stranger. The objects of the file are read by
// ledongthuc/pdf; where the words are on the page is found here, for that library joins them.
package pdftext

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// The bounds of a document. What is behind them is left out.
const (
	maxPages = 5000
	maxText  = 4 << 20 // bytes
	maxLinks = 2000
	maxNodes = 20_000 // of the page tree
	maxDepth = 32     // of the page tree, and of forms within forms
	maxTitle = 300    // bytes
)

// ErrNoText is the error of Convert for a document of pictures.
var ErrNoText = errors.New("no text in it: its pages may be pictures")

// Convert reads a PDF of size bytes and writes it as a page of HTML, in UTF-8. What can be read of a
// damaged file is written; the error is for one of which nothing can. It trusts the file to end and
// to be reasonable: see [Converter].
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
	d := &document{fonts: map[string]*font{}}
	d.title = infoTitle(r)
	d.walk(r.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0)
	if len(d.pages) == 0 || d.size == 0 {
		return ErrNoText
	}
	return d.write(w)
}

// infoTitle is the title that the file states, unless that is the name of a program or a file.
func infoTitle(r *pdf.Reader) (title string) {
	defer func() { _ = recover() }()
	title = strings.TrimSpace(r.Trailer().Key("Info").Key("Title").Text())
	_, after, ok := strings.Cut(title, "Microsoft Word - ")
	if ok {
		title = after
	}
	if strings.EqualFold(title, "untitled") || len(title) > maxTitle || !strings.ContainsAny(title, " ") && strings.Contains(title, ".") {
		return ""
	}
	return strings.ToValidUTF8(title, "")
}

// A document is what was read so far.
type document struct {
	title string
	pages []page
	fonts map[string]*font // by what they are written as
	size  int              // bytes of text
	nodes int
	links int
}

// A page has its paragraphs in the order in which they are drawn.
type page struct {
	paragraphs []paragraph
	links      []string
}

type paragraph struct {
	text string
	size float64 // of its letters, in points
}

// walk goes through the page tree; resources are inherited.
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

// kid goes on with the next when one is broken.
func (d *document) kid(kids pdf.Value, i int, resources pdf.Value, depth int) {
	defer func() { _ = recover() }()
	d.walk(kids.Index(i), resources, depth+1)
}

// page reads a page, up to where it is broken.
func (d *document) page(node, resources pdf.Value) {
	l := &layout{d: d}
	func() {
		defer func() { _ = recover() }()
		l.draw(node.Key("Contents"), resources, identity, 0)
	}()
	l.endParagraph()
	d.pages = append(d.pages, page{l.paragraphs, d.annotations(node)})
}

// annotations are the links of a page to the web.
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
