package indexer

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// A token is the kind of a piece of a page.
type token uint8

const (
	noToken   token = iota // the page has ended
	textToken              // text, or the raw content of script and the like
	startTag
	emptyTag // a start tag that ends in "/>"
	endTag
	otherToken // a comment, declaration or instruction
)

// A tokenizer cuts a page into tags and texts, as html.Tokenizer of x/net does, which the tests hold
// it to; like that, it follows the standard (HTML 13.2.5) but for corners that no browser shows. It
// is several times as fast, since the page is in memory whole: texts are found by their ends, nothing
// is copied, and attributes are resolved where they are asked for alone.
type tokenizer struct {
	page []byte // never written to

	start, end int       // of the token: page[start:end]
	text       [2]int    // of a textToken
	name       [2]int    // of a tag
	tag        atom.Atom // of a tag; 0 where the name has none
	attrs      []attribute

	raw     atom.Atom // the element whose content comes next, where that holds no tags
	literal bool      // the text holds no character references
	nul     bool      // zero bytes in it stand for U+FFFD
	cdata   bool      // <![CDATA[ begins a text: within svg and math

	lower [maxTagName]byte
	names [64]tagName // a page uses few names, over and over
}

// A tagName is a name of at most 8 bytes, as it is written, the first in the highest place.
type tagName struct {
	packed uint64
	tag    atom.Atom
}

// An attribute of a tag, where it stands in the page.
type attribute struct {
	key, val [2]int
}

func (z *tokenizer) reset(page []byte) {
	*z = tokenizer{page: page, attrs: z.attrs[:0], names: z.names}
}

// nameText is the name of a tag, as it is written.
func (z *tokenizer) nameText() []byte { return z.page[z.name[0]:z.name[1]] }

// notRaw says that the content of the element that begins holds tags like any other's.
func (z *tokenizer) notRaw() { z.raw = 0 }

// next moves to the next token. A tag that does not end is none, and neither is what follows it.
func (z *tokenizer) next() token {
	z.start = z.end
	if z.raw != 0 {
		end := z.rawEnd()
		z.literal, z.nul = z.raw != atom.Textarea && z.raw != atom.Title, true
		z.raw = 0
		if end > z.start {
			return z.textTo(end)
		}
	}
	z.literal, z.nul = false, false
	s := z.page
	for i := z.start; ; i++ {
		n := bytes.IndexByte(s[i:], '<')
		if n < 0 || i+n+1 == len(s) {
			return z.rest()
		}
		i += n
		c := s[i+1]
		switch {
		case !isLetter(c) && c != '/' && c != '!' && c != '?':
			continue
		case i > z.start:
			return z.textTo(i)
		case isLetter(c):
			return z.startTag(i + 1)
		case c == '/':
			return z.endTag(i + 2)
		case c == '!':
			return z.declaration(i + 2)
		}
		return z.until(i+1, '>')
	}
}

// textTo makes the token a text that ends before end.
func (z *tokenizer) textTo(end int) token {
	z.end = end
	z.text = [2]int{z.start, end}
	return textToken
}

// rest makes what is left a text, if anything is.
func (z *tokenizer) rest() token {
	if z.start == len(z.page) {
		return noToken
	}
	return z.textTo(len(z.page))
}

// until ends the token behind the next c from i on.
func (z *tokenizer) until(i int, c byte) token {
	z.end = len(z.page)
	if n := bytes.IndexByte(z.page[i:], c); n >= 0 {
		z.end = i + n + 1
	}
	return otherToken
}

// unfinished ends the page at a tag that does not.
func (z *tokenizer) unfinished() token {
	z.start, z.end = len(z.page), len(z.page)
	return noToken
}

func (z *tokenizer) startTag(i int) token {
	z.attrs = z.attrs[:0]
	if !z.readTag(i, true) {
		return z.unfinished()
	}
	switch z.tag {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		z.raw = z.tag
	}
	if z.page[z.end-2] == '/' && !z.slashIsValue() {
		return emptyTag
	}
	return startTag
}

// slashIsValue says whether the slash before the end of the tag belongs to an attribute: <p a=/>.
func (z *tokenizer) slashIsValue() bool {
	n := len(z.attrs)
	return n > 0 && z.attrs[n-1].val[1] == z.end-1
}

func (z *tokenizer) endTag(i int) token {
	switch {
	case i == len(z.page):
		return z.rest()
	case z.page[i] == '>':
		z.end = i + 1
		return otherToken
	case !isLetter(z.page[i]):
		return z.until(i, '>')
	case !z.readTag(i, false):
		return z.unfinished()
	}
	return endTag
}

// readTag reads a tag from its name on, and is false where it has no end. The attributes are noted
// if keep says so.
func (z *tokenizer) readTag(i int, keep bool) bool {
	s := z.page
	z.name[0] = i
	for i++; i < len(s) && !endsName(s[i]); i++ {
	}
	z.name[1] = i
	z.tag = z.lookUp(s[z.name[0]:i])
	for i = skipSpace(s, i); i < len(s) && s[i] != '>'; i = skipSpace(s, i) {
		var a attribute
		if a, i = scanAttribute(s, i); keep && a.key[0] < a.key[1] {
			z.attrs = append(z.attrs, a)
		}
	}
	z.end = i + 1
	return i < len(s)
}

// maxTagName is longer than any name that means something.
const maxTagName = 16

func (z *tokenizer) lookUp(name []byte) atom.Atom {
	if len(name) > 8 {
		return z.lookUpAny(name)
	}
	packed := uint64(0)
	for _, c := range name {
		packed = packed<<8 | uint64(c)
	}
	known := &z.names[packed*hashFactor>>58]
	if known.packed != packed {
		*known = tagName{packed, z.lookUpAny(name)}
	}
	return known.tag
}

func (z *tokenizer) lookUpAny(name []byte) atom.Atom {
	if len(name) > maxTagName {
		return 0
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		z.lower[i] = c
	}
	return atom.Lookup(z.lower[:len(name)])
}

// scanAttribute reads the attribute at s[i], and gives the index behind it. Its key may be empty
// (HTML 13.2.5.32 to 39).
func scanAttribute(s []byte, i int) (a attribute, next int) {
	a.key[0] = i
	for i < len(s) && !(endsName(s[i]) || s[i] == '=' && i > a.key[0]) {
		i++
	}
	a.key[1], a.val = i, [2]int{i, i}
	i = skipSpace(s, i)
	if i < len(s) && s[i] == '/' {
		return a, i + 1
	}
	if i == len(s) || s[i] != '=' {
		return a, i
	}
	i = skipSpace(s, i+1)
	if i == len(s) || s[i] == '>' {
		return a, i
	}
	if quote := s[i]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(s[i+1:], quote)
		if n < 0 {
			a.val = [2]int{i + 1, len(s)}
			return a, len(s)
		}
		a.val = [2]int{i + 1, i + 1 + n}
		return a, i + n + 2
	}
	a.val[0] = i
	for i < len(s) && s[i] != '>' && !isSpace(s[i]) {
		i++
	}
	a.val[1] = i
	return a, i
}

// declaration reads what begins with "<!": a comment, a text in CDATA, or something of no meaning.
func (z *tokenizer) declaration(i int) token {
	rest := z.page[i:]
	switch {
	case len(rest) < 2:
		z.end = len(z.page)
		return otherToken
	case rest[0] == '-' && rest[1] == '-':
		z.end = commentEnd(z.page, i+2)
		return otherToken
	case z.cdata && bytes.HasPrefix(rest, []byte("[CDATA[")):
		i += len("[CDATA[")
		z.end, z.text, z.nul = len(z.page), [2]int{i, len(z.page)}, true
		if n := bytes.Index(z.page[i:], []byte("]]>")); n >= 0 {
			z.end, z.text[1] = i+n+3, i+n
		}
		return textToken
	}
	return z.until(i, '>')
}

// commentEnd is the index behind the comment whose content begins at i: at "-->" or "--!>", or at a
// ">" that comes first, or after one dash (HTML 13.2.5.43 to 52).
func commentEnd(s []byte, i int) int {
	for p := i; ; p++ {
		n := bytes.IndexByte(s[p:], '>')
		if n < 0 {
			return len(s)
		}
		p += n
		switch content := s[i:p]; {
		case len(content) == 0, string(content) == "-", bytes.HasSuffix(content, []byte("--")), bytes.HasSuffix(content, []byte("--!")):
			return p + 1
		}
	}
}

// rawEnd is where the content of the raw element ends: before its end tag.
func (z *tokenizer) rawEnd() int {
	s, i := z.page, z.end
	switch z.raw {
	case atom.Plaintext:
		return len(s)
	case atom.Script:
		return scriptEnd(s, i)
	}
	name := z.raw.String()
	for {
		n := bytes.Index(s[i:], []byte("</"))
		if n < 0 {
			return len(s)
		}
		var found bool
		if i, found = rawEndTag(s, i+n+2, name); found || i == len(s) {
			return i
		}
	}
}

// rawEndTag looks for the end tag of name at s[i], behind "</". Where it is found, next is the index
// of its "<"; else that of the byte that does not fit.
func rawEndTag(s []byte, i int, name string) (next int, found bool) {
	start := i - 2
	for k := range len(name) {
		if i == len(s) || s[i]|0x20 != name[k] {
			return i, false
		}
		i++
	}
	if i == len(s) || !endsName(s[i]) {
		return i, false
	}
	return start, true
}

// isSpace says whether c is white space in a tag.
func isSpace(c byte) bool { return spaces[c] == 1 }

// endsName says whether c ends the name of a tag or attribute.
func endsName(c byte) bool { return spaces[c] == 1 || c == '>' || c == '/' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func skipSpace(s []byte, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}
