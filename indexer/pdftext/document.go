package pdftext

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The bounds of texts, in bytes. What exceeds maxText is left out.
const (
	maxText    = 4 << 20
	maxTitle   = 300
	maxHeading = 200 // longer paragraphs in large letters are no headings
)

// A document is what has been read of a PDF.
type document struct {
	title string
	pages []page
	fonts fontCache
	size  int // bytes of text
	nodes int // of the page tree
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

// write writes the document as HTML. Each page is a section. Paragraphs in larger letters than most
// of the text are headings.
func (d *document) write(w io.Writer) error {
	normal := d.normalSize()
	if d.title == "" {
		d.title = d.largest()
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "<!doctype html><meta charset=utf-8><title>%s</title>\n", html.EscapeString(d.title))
	for i, p := range d.pages {
		fmt.Fprintf(b, "<section id=page=%d>\n", i+1)
		for _, g := range p.paragraphs {
			fmt.Fprintf(b, "<%s>%s</%[1]s>\n", element(g, normal), html.EscapeString(g.text))
		}
		for _, to := range p.links {
			fmt.Fprintf(b, "<a href=\"%s\"></a>\n", html.EscapeString(to))
		}
		fmt.Fprint(b, "</section>\n")
	}
	return b.Flush()
}

// element returns the name of the HTML element for a paragraph.
func element(g paragraph, normal float64) string {
	switch {
	case len(g.text) > maxHeading:
	case g.size >= 1.6*normal:
		return "h1"
	case g.size >= 1.3*normal:
		return "h2"
	case g.size >= 1.12*normal:
		return "h3"
	}
	return "p"
}

// normalSize returns the font size of most of the text.
func (d *document) normalSize() (normal float64) {
	bytes := map[float64]int{}
	most := 0
	for _, p := range d.pages {
		for _, g := range p.paragraphs {
			size := math.Round(g.size*2) / 2
			bytes[size] += len(g.text)
			if bytes[size] > most {
				most, normal = bytes[size], size
			}
		}
	}
	return normal
}

// largest returns the paragraph in the largest letters on the first two pages.
func (d *document) largest() (title string) {
	size := 0.0
	for _, p := range d.pages[:min(len(d.pages), 2)] {
		for _, g := range p.paragraphs {
			if g.size > 1.05*size && strings.ContainsFunc(g.text, letter) && len(g.text) <= maxTitle && len(g.text) > 2 {
				title, size = g.text, g.size
			}
		}
	}
	return title
}

func letter(r rune) bool { return r > '@' }
