package indexer

import (
	"bytes"

	"golang.org/x/net/html"
)

// An attribute of a tag: the key in lower case, the value with its character references resolved.
// Both last until the next tag.
type attribute struct {
	key, val []byte
}

// readAttributes reads the attributes of a start tag into p.attrs; rest is what of the raw tag
// stands behind its name. The tokeniser's TagAttr copies each key and value, so it is asked only
// where there is something to be replaced in them.
func (p *parser) readAttributes(z *html.Tokenizer, rest []byte) {
	p.attrs = p.attrs[:0]
	if len(rest) <= 1 {
		return
	}
	if bytes.IndexByte(rest, '&') < 0 && bytes.IndexByte(rest, '\r') < 0 && bytes.IndexByte(rest, 0) < 0 {
		p.attrs = scanAttributes(p.attrs, rest)
		return
	}
	for more := true; more; {
		var a attribute
		a.key, a.val, more = z.TagAttr()
		if a.key != nil {
			p.attrs = append(p.attrs, a)
		}
	}
}

// attr is the value of an attribute; ok is false where there is none. The first of several
// counts.
func (p *parser) attr(key string) (val []byte, ok bool) {
	for _, a := range p.attrs {
		if string(a.key) == key {
			return a.val, true
		}
	}
	return nil, false
}

// scanAttributes appends the attributes in s, the part of a tag behind its name, up to and with
// the ">". It lowers keys in place. It reads as html.Tokenizer does (HTML 13.2.5.32 to 39).
func scanAttributes(attrs []attribute, s []byte) []attribute {
	for i := skipSpace(s, 0); i < len(s) && s[i] != '>'; i = skipSpace(s, i) {
		start := i
		for i < len(s) && !(s[i] == '=' && i > start) && s[i] != '/' && s[i] != '>' && !isSpace(s[i]) {
			i++
		}
		a := attribute{key: lowerASCII(s[start:i])}
		a.val, i = scanValue(s, skipSpace(s, i))
		if len(a.key) > 0 {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

// scanValue reads the value of an attribute, if s[i] begins one, and gives the index behind it.
func scanValue(s []byte, i int) (val []byte, next int) {
	if i >= len(s) {
		return nil, i
	}
	if s[i] == '/' {
		return nil, i + 1
	}
	if s[i] != '=' {
		return nil, i
	}
	i = skipSpace(s, i+1)
	if i >= len(s) || s[i] == '>' {
		return nil, i
	}
	start := i
	if quote := s[i]; quote == '"' || quote == '\'' {
		n := bytes.IndexByte(s[i+1:], quote)
		if n < 0 {
			return s[i+1:], len(s)
		}
		return s[i+1 : i+1+n], i + n + 2
	}
	for i < len(s) && s[i] != '>' && !isSpace(s[i]) {
		i++
	}
	return s[start:i], i
}

func skipSpace(s []byte, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return spaces[c] == 1 }

func lowerASCII(s []byte) []byte {
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			s[i] = c + ('a' - 'A')
		}
	}
	return s
}
