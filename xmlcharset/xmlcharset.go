// Package xmlcharset reads untrusted XML in the encoding that it declares.
package xmlcharset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"golang.org/x/net/html/charset"
)

// MaxToken bounds a tag, a comment or a run of text, in bytes: a decoder keeps a whole token, and attributes
// take 24 times the bytes that they have in the file.
const MaxToken = 1 << 20

// A Decoder reads XML that may be broken, token by token, by RawToken alone. Its CharsetReader, which can be
// replaced, accepts one declaration of an encoding.
type Decoder struct {
	*xml.Decoder
	in *tokenReader
}

// NewDecoder returns a decoder of r.
func NewDecoder(r io.Reader) *Decoder {
	in := &tokenReader{Reader: r}
	d := xml.NewDecoder(in)
	d.Strict, d.CharsetReader = false, once()
	return &Decoder{d, in}
}

// NewUTF8Decoder returns a decoder of text in UTF-8, whatever encoding it declares, that knows the entities of HTML.
func NewUTF8Decoder(text []byte) *Decoder {
	d := NewDecoder(bytes.NewReader(text))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d
}

// RawToken returns the next token as xml.Decoder does. A token longer than MaxToken is an error.
func (d *Decoder) RawToken() (xml.Token, error) {
	d.in.room = MaxToken
	return d.Decoder.RawToken()
}

// A tokenReader bounds the bytes that are read for one token.
type tokenReader struct {
	io.Reader
	room int // bytes that may be read for the token
}

func (r *tokenReader) Read(p []byte) (int, error) {
	if r.room <= 0 {
		return 0, fmt.Errorf("XML token longer than %d bytes", MaxToken)
	}
	n, err := r.Reader.Read(p[:min(len(p), r.room)])
	r.room -= n
	return n, err
}

// once returns a CharsetReader that fails at its second call: the decoder calls it for every XML declaration,
// at any position, and each reader would read from the previous one.
func once() func(label string, in io.Reader) (io.Reader, error) {
	declared := false
	return func(label string, in io.Reader) (io.Reader, error) {
		if declared {
			return nil, errors.New("second XML declaration with an encoding")
		}
		declared = true
		return charset.NewReaderLabel(label, in)
	}
}
