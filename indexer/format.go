package indexer

import (
	"bytes"
	"slices"

	"golang.org/x/net/html/atom"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// maxFontNesting bounds the nested changes of font size that are tracked.
const maxFontNesting = 64

// A format is the formatting of the text at the current position of a page, from the open elements.
type format struct {
	heading  vocab.HitType // of the open heading, Plain if there is none
	term     bool          // a dt is open
	emphasis int           // open elements of emphasis
	code     int           // open elements of code
	pre      int           // those of them whose lines are shown
	fonts    []font
}

// A font is an open element that changed the font size.
type font struct {
	tag  atom.Atom
	size uint8
}

// style returns the style of text. The most specific property wins: a heading, then code, in which
// emphasis is often only color.
func (f *format) style() style {
	s := style{kind: f.heading, pre: f.pre > 0}
	switch {
	case s.kind != vocab.Plain:
	case f.code > 0:
		s.kind = vocab.Code
	case f.emphasis > 0 || f.size() > vocab.NormalSize:
		s.kind = vocab.Emphasis
	}
	return s
}

// size returns the font size.
func (f *format) size() uint8 {
	if n := len(f.fonts); n > 0 {
		return f.fonts[n-1].size
	}
	return vocab.NormalSize
}

// named reports whether the text is a heading below the first level, or a defined term.
func (f *format) named() bool {
	return f.heading == vocab.Heading2 || f.heading == vocab.Heading3 || f.term
}

// heads reports whether the text is a heading or a defined term.
func (f *format) heads() bool { return f.heading != vocab.Plain || f.term }

// start handles the start tag of an element of kind k.
func (f *format) start(tags *htmltoken.Tokenizer, k kind) {
	if k&breaks != 0 {
		f.heading, f.term = vocab.Plain, tags.Tag == atom.Dt
	}
	if heading := headingOf(tags.Tag); heading != vocab.Plain {
		f.clear()
		f.heading = heading
	}
	switch {
	case k&cell != 0:
		f.clear()
	case k&emphasis != 0:
		f.emphasis++
	case k&code != 0:
		f.code++
		if k&block != 0 {
			f.pre++
		}
	case k&sized != 0:
		f.startFont(tags)
	}
}

// end handles the end tag of an element of kind k.
func (f *format) end(tag atom.Atom, k kind) {
	switch {
	case k&cell != 0:
		f.clear()
	case k&emphasis != 0:
		f.emphasis = max(f.emphasis-1, 0)
	case k&code != 0:
		f.code = max(f.code-1, 0)
		if k&block != 0 {
			f.pre = max(f.pre-1, 0)
		}
	case k&sized != 0:
		f.endFont(tag)
	case tag == atom.Dt:
		f.term = false
	case headingOf(tag) != vocab.Plain:
		f.heading = vocab.Plain
	}
}

// headingOf returns the heading type of an element, or Plain for other elements.
func headingOf(tag atom.Atom) vocab.HitType {
	switch tag {
	case atom.H1:
		return vocab.Heading1
	case atom.H2:
		return vocab.Heading2
	case atom.H3, atom.H4, atom.H5, atom.H6, atom.Caption:
		return vocab.Heading3
	}
	return vocab.Plain
}

// clear drops the elements that were left open. Table cells and headings begin with plain formatting,
// or an unclosed <b> would make the rest of the page bold.
func (f *format) clear() {
	f.emphasis, f.code, f.pre, f.fonts = 0, 0, 0, f.fonts[:0]
}

func (f *format) startFont(tags *htmltoken.Tokenizer) {
	if len(f.fonts) == maxFontNesting {
		return
	}
	size := int(f.size())
	switch tags.Tag {
	case atom.Big:
		size++
	case atom.Small:
		size--
	default:
		spec, _ := tags.Attr("size")
		size = parseFontSize(spec, size)
	}
	f.fonts = append(f.fonts, font{tags.Tag, uint8(min(max(size, 1), 7))})
}

// parseFontSize parses "5", "+1" or "-2" (HTML, rules for parsing a legacy font size). Signed sizes are
// relative to the normal size. For anything else it returns size.
func parseFontSize(spec []byte, size int) int {
	spec = bytes.TrimSpace(spec)
	sign := byte(0)
	if len(spec) > 0 && (spec[0] == '+' || spec[0] == '-') {
		sign, spec = spec[0], spec[1:]
	}
	if len(spec) == 0 || spec[0] < '0' || spec[0] > '9' {
		return size
	}
	n := int(spec[0] - '0')
	switch sign {
	case '+':
		return vocab.NormalSize + n
	case '-':
		return vocab.NormalSize - n
	}
	return n
}

func (f *format) endFont(tag atom.Atom) {
	for i := len(f.fonts) - 1; i >= 0; i-- {
		if f.fonts[i].tag == tag {
			f.fonts = slices.Delete(f.fonts, i, i+1)
			return
		}
	}
}
