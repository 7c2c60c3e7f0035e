package pdftext

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// A matrix maps (x, y) to (ax+cy+e, bx+dy+f).
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

func translate(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// then returns m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// A layout joins the glyphs of one page to words, lines and paragraphs. It keeps the order in which
// they are drawn, which is the reading order in nearly all documents.
type layout struct {
	d          *document
	paragraphs []paragraph
	text       strings.Builder
	size       float64 // of the open paragraph

	atX, atY float64 // end of the last glyph
	begun    bool    // there was a glyph
	glyphs   int
}

// The gaps between words, lines and paragraphs, in letter heights. TeX sets words a third apart, groff
// sometimes a seventh. Letters are kerned by up to a tenth.
const (
	wordGap      = 0.13
	lineGap      = 0.4
	paragraphGap = 1.75
)

const maxGlyphs = 2 << 20 // of one page

// A state is the graphics state of the text operators (ISO 32000-1 §9.3).
type state struct {
	ctm        matrix
	font       *font
	size       float64
	char, word float64 // spacing
	scale      float64
	leading    float64
	rise       float64
	text, line matrix
}

// draw runs a content stream.
func (l *layout) draw(content, resources pdf.Value, ctm matrix, depth int) {
	s := state{ctm: ctm, scale: 1, text: identity, line: identity}
	var saved []state
	fonts := map[string]*font{} // by name in these resources
	pdf.Interpret(content, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, min(stack.Len(), 64))
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		for stack.Len() > 0 {
			stack.Pop()
		}
		number := func(i int) float64 {
			if i >= len(args) {
				return 0
			}
			return args[i].Float64()
		}
		switch op {
		case "q":
			if len(saved) < 256 {
				saved = append(saved, s)
			}
		case "Q":
			if n := len(saved); n > 0 {
				s, saved = saved[n-1], saved[:n-1]
			}
		case "cm":
			s.ctm = matrix{number(0), number(1), number(2), number(3), number(4), number(5)}.then(s.ctm)
		case "BT":
			s.text, s.line = identity, identity
		case "Tf":
			if len(args) == 2 {
				name := args[0].Name()
				if fonts[name] == nil && len(fonts) < maxFonts {
					fonts[name] = l.d.fonts.font(resources.Key("Font").Key(name))
				}
				s.font, s.size = fonts[name], number(1)
			}
		case "Tc":
			s.char = number(0)
		case "Tw":
			s.word = number(0)
		case "Tz":
			s.scale = number(0) / 100
		case "TL":
			s.leading = number(0)
		case "Ts":
			s.rise = number(0)
		case "Td", "TD":
			if op == "TD" {
				s.leading = -number(1)
			}
			s.move(number(0), number(1))
		case "Tm":
			s.line = matrix{number(0), number(1), number(2), number(3), number(4), number(5)}
			s.text = s.line
		case "T*":
			s.move(0, -s.leading)
		case "'", "\"":
			if op == "\"" {
				s.word, s.char = number(0), number(1)
			}
			s.move(0, -s.leading)
			if len(args) > 0 {
				l.show(&s, args[len(args)-1].RawString())
			}
		case "Tj":
			if len(args) > 0 {
				l.show(&s, args[0].RawString())
			}
		case "TJ":
			if len(args) > 0 {
				l.showAll(&s, args[0])
			}
		case "Do":
			if len(args) == 1 && depth < maxDepth {
				l.form(resources.Key("XObject").Key(args[0].Name()), resources, s.ctm, depth)
			}
		}
	})
}

// form draws a form XObject. Some programs wrap whole pages in one.
func (l *layout) form(form, resources pdf.Value, ctm matrix, depth int) {
	if form.Key("Subtype").Name() != "Form" {
		return
	}
	if own := form.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	if m := form.Key("Matrix"); m.Len() == 6 {
		at := func(i int) float64 { return m.Index(i).Float64() }
		ctm = matrix{at(0), at(1), at(2), at(3), at(4), at(5)}.then(ctm)
	}
	l.draw(form, resources, ctm, depth+1)
}

// move begins a line at an offset from the beginning of the last one.
func (s *state) move(x, y float64) {
	s.line = translate(x, y).then(s.line)
	s.text = s.line
}

func (l *layout) showAll(s *state, list pdf.Value) {
	for i := range list.Len() {
		if x := list.Index(i); x.Kind() == pdf.String {
			l.show(s, x.RawString())
		} else {
			s.text = translate(-x.Float64()/1000*s.size*s.scale, 0).then(s.text)
		}
	}
}

// show draws a string, glyph by glyph.
func (l *layout) show(s *state, raw string) {
	if s.font == nil {
		return
	}
	s.font.each(raw, func(text string, width float64, space bool) {
		letter := matrix{s.size * s.scale, 0, 0, s.size, 0, s.rise}
		at := letter.then(s.text).then(s.ctm)
		advance := width*s.size + s.char
		if space {
			advance += s.word
		}
		s.text = translate(advance*s.scale, 0).then(s.text)
		l.glyph(text, at, letter.then(s.text).then(s.ctm))
	})
}

// glyph adds the text of a glyph. Its position determines whether it begins a word, line or paragraph.
func (l *layout) glyph(text string, at, end matrix) {
	if l.glyphs++; l.glyphs > maxGlyphs || l.d.size > maxText {
		return
	}
	size := math.Hypot(at.c, at.d)
	if size == 0 || math.IsNaN(size) || math.IsInf(size, 0) {
		return
	}
	if l.begun {
		l.separate(at, size)
	}
	l.begun, l.atX, l.atY = true, end.e, end.f
	if strings.TrimSpace(text) == "" {
		l.space()
		return
	}
	if l.text.Len() == 0 {
		l.size = size
	}
	l.text.WriteString(text)
	l.d.size += len(text)
}

// separate adds the separator between two glyphs, by their distance.
func (l *layout) separate(at matrix, size float64) {
	length := math.Hypot(at.a, at.b)
	if length == 0 {
		return
	}
	dx, dy := at.e-l.atX, at.f-l.atY
	along, across := (dx*at.a+dy*at.b)/length/size, (dy*at.a-dx*at.b)/length/size
	switch {
	case math.Abs(across) > paragraphGap, math.Abs(across) > lineGap && math.Abs(size-l.size) > 0.15*size:
		l.endParagraph()
	case math.Abs(across) > lineGap:
		l.newLine()
	case along > wordGap, along < -1:
		l.space()
	}
}

func (l *layout) space() {
	if s := l.text.String(); s != "" && s[len(s)-1] != ' ' {
		l.text.WriteByte(' ')
	}
}

// newLine ends a line. After a hyphen it leaves the decision to unhyphen.
func (l *layout) newLine() {
	if s := l.text.String(); strings.HasSuffix(s, "-") || strings.HasSuffix(s, "\u00ad") || strings.HasSuffix(s, "\u2010") {
		l.text.WriteByte('\n')
		return
	}
	l.space()
}

func (l *layout) endParagraph() {
	if text := strings.TrimSpace(unhyphen(l.text.String())); text != "" {
		l.paragraphs = append(l.paragraphs, paragraph{text, l.size})
	}
	l.text.Reset()
}

// unhyphen joins "hyphen-\nation". Before a capital letter or a digit the hyphen is part of the word.
func unhyphen(s string) string {
	before, after, cut := strings.Cut(s, "\n")
	if !cut {
		return s
	}
	var b strings.Builder
	for ; cut; before, after, cut = strings.Cut(after, "\n") {
		if next, _ := utf8.DecodeRuneInString(after); unicode.IsLower(next) {
			_, n := utf8.DecodeLastRuneInString(before)
			before = before[:len(before)-n]
		}
		b.WriteString(before)
		if after == "" {
			break
		}
	}
	return b.String() + before
}
