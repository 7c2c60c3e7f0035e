// Package decode determines the character encoding of a page, by its declaration or else by its
// content, and decodes the page to UTF-8.
package decode

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"anatomy/indexer/internal/guess"
)

// errBinary is the error for a page that is not text, with any media type.
var errBinary = errors.New("not text")

// UTF8 returns body in UTF-8 without byte order mark. Valid UTF-8 is not copied and remains so with
// any declaration, except for encodings that escape everything into ASCII. For other text the
// first of these counts: byte order mark, Content-Type, meta element, XML declaration, UTF-8 with
// few faults, the likeliest one (HTML 13.2.3.2). Bytes that cannot be decoded become U+FFFD.
func UTF8(body []byte, contentType, declared string) ([]byte, error) {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	wide := bytes.HasPrefix(body, []byte("\xFE\xFF")) || bytes.HasPrefix(body, []byte("\xFF\xFE")) ||
		len(declared) >= 6 && bytes.EqualFold([]byte(declared[:6]), []byte("utf-16"))
	if !wide && isBinary(body) {
		return nil, errBinary
	}
	valid := !wide && utf8.Valid(body)
	if valid && bytes.IndexByte(body, 0x1B) < 0 {
		return body, nil
	}
	enc, name := determine(body, contentType)
	switch {
	case valid && name != "iso-2022-jp":
		return body, nil
	case name == "utf-8":
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), nil
	}
	decoded, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return decoded, nil
}

// determine returns the encoding of a page that is not valid UTF-8.
func determine(body []byte, contentType string) (encoding.Encoding, string) {
	if enc, name := declaredEncoding(body, contentType); enc != nil {
		return enc, name
	}
	return guess.Encoding(body)
}

// declaredEncoding returns the encoding that a page declares, UTF-8 for one with few faults, or nil.
func declaredEncoding(body []byte, contentType string) (encoding.Encoding, string) {
	head := body[:min(len(body), 1024)]
	enc, name, certain := charset.DetermineEncoding(head, contentType)
	if certain {
		return enc, name
	}
	if m := xmlEncoding.FindSubmatch(body[:min(len(body), 256)]); m != nil {
		if e, n := charset.Lookup(string(m[1])); e != nil {
			return e, n
		}
	}
	switch {
	case mostlyUTF8(body):
		return encoding.Nop, "utf-8"
	case name != fallback || declaresFallback(head):
		return enc, name
	}
	return nil, ""
}

// Undeclared returns body in UTF-8, if it is text in another encoding that it does not declare.
func Undeclared(body []byte, contentType string) (text []byte, ok bool) {
	if utf8.Valid(body) || isBinary(body) {
		return nil, false
	}
	if enc, _ := declaredEncoding(body, contentType); enc != nil {
		return nil, false
	}
	enc, _ := guess.Encoding(body)
	text, err := enc.NewDecoder().Bytes(body)
	return text, err == nil
}

// fallback is the encoding that charset.DetermineEncoding returns for a page without declaration.
const fallback = "windows-1252"

// declaresFallback reports whether a meta element declares fallback.
func declaresFallback(head []byte) bool {
	m := metaCharset.FindSubmatch(head)
	if m == nil {
		return false
	}
	_, name := charset.Lookup(string(m[1]))
	return name == fallback
}

var metaCharset = regexp.MustCompile(`(?i)<meta[^>]*charset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)`)

// mostlyUTF8 reports whether more than nine in ten characters outside ASCII are valid UTF-8. One
// broken byte in a page without declaration damages only itself.
func mostlyUTF8(body []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		i += size
	}
	return good > 9*bad
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// isBinary reports whether more than one in 16 of the first 4 KB are binary data bytes (WHATWG MIME
// Sniffing §3). Escape is not one of them, since it begins a change of character set.
func isBinary(body []byte) bool {
	head := body[:min(len(body), 4096)]
	n := 0
	for _, c := range head {
		if c < 0x20 && (c < '\t' || c == 0x0B || c > '\r' && c != 0x1B) {
			n++
		}
	}
	return 16*n > len(head)
}
