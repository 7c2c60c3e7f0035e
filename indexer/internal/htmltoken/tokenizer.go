// Package htmltoken splits an HTML page into tags and texts, with the same results as
// html.Tokenizer of golang.org/x/net (TestTokensAreNetHTML, FuzzTokens). Like that tokenizer it
// follows the standard (HTML 13.2.5) except in corners that no browser shows.
//
// It exists for its speed. The page is in memory, so texts are found by searching for their ends,
// nothing is copied, and character references are resolved only in values that are read. With
// html.Tokenizer the whole cost of a page, from URL to searchable, is 1.4 times as high.
package htmltoken

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// A Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End       Kind = iota // the end of the page
	Text                  // text, or the content of a raw element such as script
	Start                 // a start tag
	EmptyTag              // a start tag that ends in "/>"
	EndTag                // an end tag
	OtherKind             // a comment, declaration or processing instruction
)

// A Tokenizer splits one page after the other into tokens. The zero value is ready after Reset. It
// reads the page in place and never writes to it. A Tokenizer is not safe for concurrent use.
type Tokenizer struct {
	Tag   atom.Atom // of the current tag; 0 if atom has no such name
	CDATA bool      // "<![CDATA[" begins a text: set by the caller within svg and math

	page       []byte
	start, end int    // page[start:end] is the current token
	text       [2]int // of a Text
	name       [2]int // of a tag
	attrs      []attribute
	keys       uint64 // keyBit of each of attrs

	raw     atom.Atom // the element whose content comes next, if that content is raw text
	literal bool      // the current text has no character references
	nul     bool      // zero bytes of the current text become U+FFFD

	lower [maxTagName]byte // scratch
	known [1 << knownBits]knownTag
}

// A knownTag is a short name of a tag, as some page spelled it, and its atom. Tags are looked up
// there first, in the slot of their packed name: finding atoms took 8 % of an outline
// (indexer.ParseOutline), and takes 2 %.
type knownTag struct {
	name uint64 // up to seven bytes, and their number in the highest; 0 if the slot is empty
	tag  atom.Atom
}

const knownBits = 6

// maxKept bounds the memory for attributes that is kept for the next page.
const maxKept = 1 << 16

// Reset starts a page. It keeps the memory of the last one.
func (z *Tokenizer) Reset(page []byte) {
	if cap(z.attrs) > maxKept {
		z.attrs = nil
	}
	*z = Tokenizer{page: page, attrs: z.attrs[:0], known: z.known}
}

// Name returns the name of the current tag as the page spells it.
func (z *Tokenizer) Name() []byte { return z.page[z.name[0]:z.name[1]] }

// NotRaw makes the tokenizer read the content of the current element as tags and text, even if the
// element is one of raw text.
func (z *Tokenizer) NotRaw() { z.raw = 0 }

// Attrs returns the number of attributes of the current start tag.
func (z *Tokenizer) Attrs() int { return len(z.attrs) }

// RawAttr returns key and value of the i-th attribute as the page spells them.
func (z *Tokenizer) RawAttr(i int) (key, val []byte) {
	a := &z.attrs[i]
	return z.page[a.key[0]:a.key[1]], z.page[a.val[0]:a.val[1]]
}

// Attr returns the value of the first attribute named key, which is in lower case. The value may be
// part of the page. ok is false if the tag has no such attribute.
func (z *Tokenizer) Attr(key string) (val []byte, ok bool) {
	a := z.find(key)
	if a == nil {
		return nil, false
	}
	return resolve(z.page[a.val[0]:a.val[1]], true, true), true
}

// Has reports whether the tag has an attribute named key, which is in lower case.
func (z *Tokenizer) Has(key string) bool { return z.find(key) != nil }

// find returns the first attribute named key, or nil.
func (z *Tokenizer) find(key string) *attribute {
	if !z.MayHave(key) {
		return nil
	}
	for i := range z.attrs {
		if a := &z.attrs[i]; EqualLower(z.page[a.key[0]:a.key[1]], key) {
			return a
		}
	}
	return nil
}

// MayHave reports false only if the tag has no attribute named key, which is in lower case. It is a
// comparison with a constant, and most tags lack most attributes.
func (z *Tokenizer) MayHave(key string) bool { return z.keys&keyBit(key[0], len(key)) != 0 }

// keyBit returns the bit in keys of an attribute whose key begins with c, in either case, and is n
// bytes long.
func keyBit(c byte, n int) uint64 { return 1 << ((uint(c&31) + 11*uint(n)) & 63) }

// Content returns the text of the current Text.
func (z *Tokenizer) Content() []byte {
	s := z.Raw()
	if z.literal {
		return normalize(s, z.nul)
	}
	return resolve(s, false, z.nul)
}

// Raw returns the text of the current Text as it is in the page, with its character references.
func (z *Tokenizer) Raw() []byte { return z.page[z.text[0]:z.text[1]] }

// Next moves to the next token. A tag without end is not a token; it ends the page.
func (z *Tokenizer) Next() Kind {
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
	for i := z.start; i+1 < len(s); i++ {
		if s[i] != '<' {
			n := bytes.IndexByte(s[i:], '<')
			if n < 0 || i+n+1 == len(s) {
				break
			}
			i += n
		}
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
		return z.other(i + 1)
	}
	return z.rest()
}

// textTo makes the token a text that ends before end.
func (z *Tokenizer) textTo(end int) Kind {
	z.end = end
	z.text = [2]int{z.start, end}
	return Text
}

// rest makes the remaining page a text, unless it is empty.
func (z *Tokenizer) rest() Kind {
	if z.start == len(z.page) {
		return End
	}
	return z.textTo(len(z.page))
}

// other ends the token after the next ">" from i on.
func (z *Tokenizer) other(i int) Kind {
	z.end = len(z.page)
	if n := bytes.IndexByte(z.page[i:], '>'); n >= 0 {
		z.end = i + n + 1
	}
	return OtherKind
}

// unfinished ends the page at a tag without end.
func (z *Tokenizer) unfinished() Kind {
	z.start, z.end = len(z.page), len(z.page)
	return End
}

func (z *Tokenizer) startTag(i int) Kind {
	z.attrs, z.keys = z.attrs[:0], 0
	if !z.readTag(i, true) {
		return z.unfinished()
	}
	switch z.Tag {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script,
		atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		z.raw = z.Tag
	}
	if z.page[z.end-2] == '/' && !z.slashIsValue() {
		return EmptyTag
	}
	return Start
}

// slashIsValue reports whether the slash before the end of the tag is part of a value: <p a=/>.
func (z *Tokenizer) slashIsValue() bool {
	n := len(z.attrs)
	return n > 0 && z.attrs[n-1].val[1] == z.end-1
}

func (z *Tokenizer) endTag(i int) Kind {
	switch {
	case i == len(z.page):
		return z.rest()
	case z.page[i] == '>':
		z.end = i + 1
		return OtherKind
	case !isLetter(z.page[i]):
		return z.other(i)
	case !z.readTag(i, false):
		return z.unfinished()
	}
	return EndTag
}

// readTag reads a tag from its name on and reports whether the tag has an end. Attributes are kept
// if keep is set.
func (z *Tokenizer) readTag(i int, keep bool) bool {
	s := z.page
	z.name[0] = i
	packed := uint64(s[i])
	for i++; i < len(s) && !endsName(s[i]); i++ {
		packed = packed<<8 | uint64(s[i])
	}
	z.name[1] = i
	z.Tag = z.lookUp(s[z.name[0]:i], packed)
	for i = skipSpace(s, i); i < len(s) && s[i] != '>'; i = skipSpace(s, i) {
		var a attribute
		if a, i = scanAttribute(s, i); keep && a.key[0] < a.key[1] {
			z.attrs = append(z.attrs, a)
			z.keys |= keyBit(s[a.key[0]], a.key[1]-a.key[0])
		}
	}
	z.end = i + 1
	return i < len(s)
}

// lookUp returns the atom of a tag name in any case. packed has the last eight bytes of name.
func (z *Tokenizer) lookUp(name []byte, packed uint64) atom.Atom {
	if len(name) >= 8 {
		return z.atomOf(name)
	}
	packed |= uint64(len(name)) << 56
	slot := &z.known[packed*0x9e3779b97f4a7c15>>(64-knownBits)]
	if slot.name != packed {
		*slot = knownTag{packed, z.atomOf(name)}
	}
	return slot.tag
}

// maxTagName is longer than any name in use.
const maxTagName = 16

func (z *Tokenizer) atomOf(name []byte) atom.Atom {
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

// declaration reads what follows "<!": a comment, a CDATA section, or a declaration.
func (z *Tokenizer) declaration(i int) Kind {
	rest := z.page[i:]
	switch {
	case len(rest) < 2:
		z.end = len(z.page)
		return OtherKind
	case rest[0] == '-' && rest[1] == '-':
		z.end = commentEnd(z.page, i+2)
		return OtherKind
	case z.CDATA && bytes.HasPrefix(rest, []byte("[CDATA[")):
		i += len("[CDATA[")
		z.end, z.text, z.nul = len(z.page), [2]int{i, len(z.page)}, true
		if n := bytes.Index(z.page[i:], []byte("]]>")); n >= 0 {
			z.end, z.text[1] = i+n+3, i+n
		}
		return Text
	}
	return z.other(i)
}

// rawEnd returns the index where the content of the raw element ends.
func (z *Tokenizer) rawEnd() int {
	switch z.raw {
	case atom.Plaintext:
		return len(z.page)
	case atom.Script:
		return scriptEnd(z.page, z.end)
	}
	return rawEnd(z.page, z.end, z.raw.String())
}
