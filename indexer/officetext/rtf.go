package officetext

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

const (
	maxGroups = 256 // nested
	maxFonts  = 4096
)

// skippedRTF are the groups without text of the document. So are those that begin with \*.
var skippedRTF = wordSet("fonttbl colortbl pict object header headerl headerr headerf footer footerl footerr footerf " +
	"annotation bkmkstart bkmkend listtable filetbl revtbl themedata nonshppict xe tc rxe txe")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// charsetsRTF are the encodings of fonts by \fcharset (RTF 1.9, "Font Table").
var charsetsRTF = map[int]string{
	128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253", 162: "windows-1254",
	163: "windows-1258", 177: "windows-1255", 178: "windows-1256", 186: "windows-1257", 204: "windows-1251",
	222: "windows-874", 238: "windows-1250",
}

// symbolsRTF are the control words that are characters.
var symbolsRTF = map[string]string{
	"tab": " ", "line": " ", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "endash": "–",
	"emdash": "—", "~": "\u00A0", "_": "-", "emspace": " ", "enspace": " ", "softline": " ",
}

// A group is the state that ends with a brace.
type group struct {
	into    destination
	hidden  bool
	deleted bool
	font    int
	uc      int // fallback bytes after a \u
}

// A destination is the purpose of the text of a group.
type destination uint8

const (
	body destination = iota
	ignored
	note // a footnote or an endnote
	fonts
	styles
	info  // a group of it is a field
	title // and others of info
	subject
	created
	modified
	instruction
)

var destinationsRTF = map[string]destination{
	"fonttbl": fonts, "stylesheet": styles, "info": info, "fldinst": instruction,
}

var fieldsRTF = map[string]destination{"title": title, "subject": subject, "creatim": created, "revtim": modified}

// An rtf reads Rich Text Format (version 1.9.1).
type rtf struct {
	*page
	in []byte
	group
	outer []group

	main    encoding.Encoding         // of the file
	charset map[int]encoding.Encoding // by font
	pending []byte                    // bytes that are not yet decoded
	omit    int                       // fallback bytes of the last \u still to skip
	star    bool                      // the group begins with \*

	levels    map[int]int // levels of headings by style
	style     int         // of the paragraph, or in the style sheet
	outline   int         // level of the paragraph that it states, 0 if none
	high      rune        // the first half of a surrogate pair
	captured  []byte      // text of a group other than the body
	notes     []byte      // text of those of the paragraph
	date      [3]int      // year, month, day
	linkDepth int         // groups around the open link
}

// readRTF reads an RTF file.
func readRTF(in []byte, p *page) error {
	r := &rtf{page: p, in: in, main: charmap.Windows1252, charset: map[int]encoding.Encoding{}, levels: map[int]int{}}
	r.uc = 1
	for len(r.in) > 0 && !p.full() {
		if err := r.step(); err != nil {
			return err
		}
	}
	r.flush()
	r.endParagraph()
	return nil
}

// step reads one brace, control word or run of text.
func (r *rtf) step() error {
	switch c := r.in[0]; c {
	case '{':
		r.in = r.in[1:]
		r.flush()
		if len(r.outer) == maxGroups {
			return fmt.Errorf("groups nested deeper than %d", maxGroups)
		}
		r.outer = append(r.outer, r.group)
		r.omit = 0
	case '}':
		r.in = r.in[1:]
		r.endGroup()
	case '\\':
		r.in = r.in[1:]
		r.control()
	default:
		n := bytes.IndexAny(r.in, "\\{}")
		if n < 0 {
			n = len(r.in)
		}
		s := r.in[:n]
		r.in = r.in[n:]
		skip := min(r.omit, len(s))
		r.omit -= skip
		for _, c := range s[skip:] {
			if c != '\r' && c != '\n' {
				r.pending = append(r.pending, c)
			}
		}
	}
	return nil
}

func (r *rtf) endGroup() {
	r.flush()
	into := r.into
	if n := len(r.outer); n > 0 {
		r.group, r.outer = r.outer[n-1], r.outer[:n-1]
	}
	r.omit = 0
	if r.linkDepth > len(r.outer) {
		r.endLink()
		r.linkDepth = 0
	}
	if into != r.into || into == styles {
		r.endDestination(into)
	}
}

// endDestination uses the text of a group of a destination, at its end.
func (r *rtf) endDestination(d destination) {
	text := fold(r.captured)
	day := fmt.Sprintf("%04d-%02d-%02d", r.date[0], r.date[1], r.date[2])
	switch {
	case d == styles:
		if level := namedLevel(strings.TrimSuffix(text, ";")); level > 0 {
			r.levels[r.style] = level
		}
		r.style = 0
	case d == title && r.page.title == "":
		r.page.title = text
	case d == subject:
		r.description = text
	case d == created:
		r.page.created = day
	case d == modified:
		r.page.modified = day
	case d == instruction:
		if to := hyperlink(text); to != "" {
			r.link(to)
			r.linkDepth = len(r.outer) // the group of the field
		}
	}
	r.captured = r.captured[:0]
}

// control reads the control word or symbol after a backslash.
func (r *rtf) control() {
	if len(r.in) == 0 {
		return
	}
	c := r.in[0]
	if c < 'a' || c > 'z' {
		r.in = r.in[1:]
		r.sign(c)
		return
	}
	n := 0
	for n < len(r.in) && n < 32 && r.in[n] >= 'a' && r.in[n] <= 'z' {
		n++
	}
	word, digits := string(r.in[:n]), n
	for digits < len(r.in) && digits < n+10 && (r.in[digits] >= '0' && r.in[digits] <= '9' || digits == n && r.in[n] == '-') {
		digits++
	}
	value, err := strconv.Atoi(string(r.in[n:digits]))
	r.in = bytes.TrimPrefix(r.in[digits:], []byte(" "))
	if word == "bin" {
		r.in = r.in[min(max(value, 0), len(r.in)):]
		return
	}
	if r.omit > 0 {
		r.omit--
		return
	}
	if word != "u" {
		r.flush()
	}
	r.word(word, value, err == nil)
}

// sign handles a control symbol.
func (r *rtf) sign(c byte) {
	switch c {
	case '\'':
		x, err := strconv.ParseUint(string(r.in[:min(2, len(r.in))]), 16, 8)
		r.in = r.in[min(2, len(r.in)):]
		switch {
		case r.omit > 0:
			r.omit--
		case err == nil:
			r.pending = append(r.pending, byte(x))
		}
	case '\\', '{', '}':
		r.pending = append(r.pending, c)
	case '*':
		r.star = true
	case '\r', '\n':
		r.word("par", 0, false)
	default:
		r.flush()
		r.emit([]byte(symbolsRTF[string(c)]))
	}
}

// word handles a control word with its value, if it has one.
func (r *rtf) word(word string, value int, valued bool) {
	star := r.star
	r.star = false
	switch {
	case word == "footnote" && r.into == body:
		r.into = note
		r.notes = append(r.notes, ' ')
	case r.into == note && paragraphsRTF[word]:
	case r.into == note && destinationsRTF[word] != body:
		r.into = ignored
	case destinationsRTF[word] != body:
		r.enter(destinationsRTF[word])
	case r.into == info && fieldsRTF[word] != body:
		r.enter(fieldsRTF[word])
	case star, skippedRTF[word], r.into == info:
		r.into = ignored
	case breaksRTF[word]:
		r.endParagraph()
	default:
		if set, ok := wordsRTF[word]; ok {
			set(r, value, valued)
		} else {
			r.emit([]byte(symbolsRTF[word]))
		}
	}
}

// enter makes d the destination of the current group.
func (r *rtf) enter(d destination) {
	r.into = d
	r.captured, r.date = r.captured[:0], [3]int{}
}

// breaksRTF are the control words that end a block.
var breaksRTF = wordSet("par sect page cell row nestcell nestrow")

// paragraphsRTF are the control words of a paragraph's style. In a note they do not apply to the
// paragraph around it.
var paragraphsRTF = wordSet("pard s outlinelevel")

// wordsRTF are the control words that change the state.
var wordsRTF = map[string]func(r *rtf, value int, valued bool){
	"pard":         func(r *rtf, _ int, _ bool) { r.style, r.outline = 0, 0 },
	"s":            func(r *rtf, n int, _ bool) { r.style = n },
	"outlinelevel": func(r *rtf, n int, _ bool) { r.outline = n + 1 },
	"plain":        func(r *rtf, _ int, _ bool) { r.hidden, r.deleted = false, false },
	"v":            func(r *rtf, n int, valued bool) { r.hidden = !valued || n != 0 },
	"deleted":      func(r *rtf, n int, valued bool) { r.deleted = !valued || n != 0 },
	"f":            func(r *rtf, n int, _ bool) { r.font = n },
	"uc":           func(r *rtf, n int, _ bool) { r.uc = max(n, 0) },
	"u":            func(r *rtf, n int, _ bool) { r.unicode(n) },
	"yr":           func(r *rtf, n int, _ bool) { r.date[0] = n },
	"mo":           func(r *rtf, n int, _ bool) { r.date[1] = n },
	"dy":           func(r *rtf, n int, _ bool) { r.date[2] = n },
	"fcharset": func(r *rtf, n int, _ bool) {
		if enc, _ := charset.Lookup(charsetsRTF[n]); enc != nil && len(r.charset) < maxFonts {
			r.charset[r.font] = enc
		}
	},
	"ansicpg": func(r *rtf, n int, _ bool) {
		if enc, _ := charset.Lookup(codepage(n)); enc != nil {
			r.main = enc
		}
	},
}

// codepage returns the name of a Windows code page.
func codepage(n int) string {
	switch n {
	case 932:
		return "shift_jis"
	case 936:
		return "gbk"
	case 949:
		return "euc-kr"
	case 950:
		return "big5"
	}
	return fmt.Sprint("windows-", n)
}

// unicode adds the character of \u. UTF-16 surrogates come one after the other.
func (r *rtf) unicode(n int) {
	r.flushBytes()
	unit := rune(uint16(n))
	switch {
	case utf16.IsSurrogate(r.high):
		r.emit(utf8.AppendRune(nil, utf16.DecodeRune(r.high, unit)))
		r.high = 0
	case utf16.IsSurrogate(unit):
		r.high = unit
	default:
		r.emit(utf8.AppendRune(nil, unit))
	}
	r.omit = r.uc
}

// flush decodes and writes the pending bytes, which are in the encoding of the font.
func (r *rtf) flush() {
	r.flushBytes()
	r.high = 0
}

func (r *rtf) flushBytes() {
	if len(r.pending) == 0 {
		return
	}
	enc := r.charset[r.font]
	if enc == nil {
		enc = r.main
	}
	if s, err := enc.NewDecoder().Bytes(r.pending); err == nil {
		r.emit(s)
	}
	r.pending = r.pending[:0]
}

// emit adds text to the destination of the current group.
func (r *rtf) emit(s []byte) {
	switch {
	case r.into <= note && (r.hidden || r.deleted):
	case r.into == body:
		r.write(s)
	case r.into == note:
		r.notes = append(r.notes, s[:min(len(s), max(0, maxText-r.size-len(r.notes)))]...)
	case r.into > info, r.into == styles:
		r.captured = append(r.captured, s[:min(len(s), max(0, maxField-len(r.captured)))]...)
	}
}

// endParagraph writes the current paragraph, and its notes as another.
func (r *rtf) endParagraph() {
	if r.into != body {
		r.emit([]byte(" "))
		return
	}
	level := r.outline
	if level == 0 {
		level = r.levels[r.style]
	}
	r.head(level)
	r.endBlock()
	r.write(r.notes)
	r.endBlock()
	r.notes = r.notes[:0]
}
