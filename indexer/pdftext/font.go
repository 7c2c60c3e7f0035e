package pdftext

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// A font has the text and width of each character code.
type font struct {
	bytes  int                // of a code: 1, or 2 in a composite font
	text   map[uint32]string  // by code
	widths map[uint32]float64 // by code, in letter heights
	width  float64            // of other codes
}

// A fontCache holds the fonts of a document by their source text.
type fontCache map[string]*font

const (
	maxFonts = 1000
	maxCodes = 70_000 // of one font
)

// font returns a font, which it reads once. It returns nil if v is no font.
func (c fontCache) font(v pdf.Value) *font {
	if v.Kind() != pdf.Dict {
		return nil
	}
	key := v.String()
	if f := c[key]; f != nil || len(c) >= maxFonts {
		return f
	}
	f := &font{bytes: 1, text: map[uint32]string{}, widths: map[uint32]float64{}, width: 0.5}
	c[key] = f
	if v.Key("Subtype").Name() == "Type0" {
		f.bytes = 2
		f.readComposite(v.Key("DescendantFonts").Index(0))
	} else {
		f.readSimple(v)
	}
	func() {
		defer func() { _ = recover() }() // of a broken table, keep what was read
		f.readUnicode(v.Key("ToUnicode"))
	}()
	return f
}

// readSimple reads a font with one byte per code. Type 3 fonts have their own unit of width.
func (f *font) readSimple(v pdf.Value) {
	unit := 1.0 / 1000
	if m := v.Key("FontMatrix"); m.Len() == 6 {
		unit = m.Index(0).Float64()
	}
	first, list := v.Key("FirstChar").Int64(), v.Key("Widths")
	for i := range min(list.Len(), 256) {
		f.widths[uint32(first)+uint32(i)] = list.Index(i).Float64() * unit
	}
	holder := pdf.Font{V: v}
	encoder := holder.Encoder()
	for code := range uint32(256) {
		text := encoder.Decode(string([]byte{byte(code)}))
		if !utf8.ValidString(text) {
			text = string(rune(code))
		}
		if ligature, ok := texLigatures[code]; ok && text == string(rune(code)) {
			text = ligature
		}
		f.set(code, text)
	}
}

// ligatures replaces the ligatures of Unicode by their letters.
var ligatures = strings.NewReplacer("\uFB00", "ff", "\uFB01", "fi", "\uFB02", "fl", "\uFB03", "ffi", "\uFB04", "ffl")

// texLigatures are the codes of ligatures in TeX fonts that declare no encoding.
var texLigatures = map[uint32]string{11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl"}

// readComposite reads the widths of a CID font: "first [w w w]" and "first last w" (ISO 32000-1 §9.7.4.3).
func (f *font) readComposite(v pdf.Value) {
	f.width = 1
	if dw := v.Key("DW"); dw.Kind() != pdf.Null {
		f.width = dw.Float64() / 1000
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len() && len(f.widths) < maxCodes; {
		first := uint32(w.Index(i).Int64())
		if list := w.Index(i + 1); list.Kind() == pdf.Array {
			for k := range min(list.Len(), maxCodes) {
				f.widths[first+uint32(k)] = list.Index(k).Float64() / 1000
			}
			i += 2
			continue
		}
		last, width := uint32(w.Index(i+1).Int64()), w.Index(i+2).Float64()/1000
		for code := first; code <= last && code-first < maxCodes; code++ {
			f.widths[code] = width
		}
		i += 3
	}
}

// readUnicode reads the table of texts by code, which overrides the encoding (ISO 32000-1 §9.10.3).
func (f *font) readUnicode(table pdf.Value) {
	if table.Kind() != pdf.Stream {
		return
	}
	pdf.Interpret(table, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		switch op {
		case "endcodespacerange":
			if n := len(args); n >= 2 && len(args[n-1].RawString()) > 0 {
				f.bytes = min(len(args[n-1].RawString()), 2)
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.set(codeOf(args[i].RawString()), utf16Text(args[i+1].RawString()))
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				f.setRange(codeOf(args[i].RawString()), codeOf(args[i+1].RawString()), args[i+2])
			}
		}
	})
}

func (f *font) set(code uint32, text string) {
	if len(f.text) < maxCodes {
		f.text[code] = ligatures.Replace(text)
	}
}

func (f *font) setRange(low, high uint32, to pdf.Value) {
	for code := low; code <= high && code-low < maxCodes; code++ {
		if to.Kind() == pdf.Array {
			f.set(code, utf16Text(to.Index(int(code-low)).RawString()))
			continue
		}
		text := []rune(utf16Text(to.RawString()))
		if len(text) == 0 {
			return
		}
		text[len(text)-1] += rune(code - low)
		f.set(code, string(text))
	}
}

func codeOf(raw string) (code uint32) {
	for i := range min(len(raw), 4) {
		code = code<<8 | uint32(raw[i])
	}
	return code
}

func utf16Text(raw string) string {
	units := make([]uint16, 0, min(len(raw)/2, 64))
	for i := 0; i+1 < len(raw) && len(units) < 64; i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	return string(utf16.Decode(units))
}

// each calls glyph with the text and width of each code of a string. space marks the code to which
// word spacing applies. Control characters have no text.
func (f *font) each(raw string, glyph func(text string, width float64, space bool)) {
	for ; len(raw) >= f.bytes; raw = raw[f.bytes:] {
		code := codeOf(raw[:f.bytes])
		width, ok := f.widths[code]
		if !ok {
			width = f.width
		}
		glyph(strings.Map(printable, f.text[code]), width, f.bytes == 1 && code == ' ')
	}
}

func printable(r rune) rune {
	if r < ' ' || r == utf8.RuneError || 0xE000 <= r && r < 0xF900 { // controls, and private use
		return -1
	}
	return r
}
