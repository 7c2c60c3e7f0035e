package indexer

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// toUTF8 gives body in UTF-8, without its byte order mark. Nothing is copied where it is UTF-8
// already: text that is valid UTF-8 is that, whatever is declared, but for the encodings that
// escape everything into ASCII. Otherwise the byte order mark counts, then the Content-Type, then
// a meta element, then an XML declaration, then windows-1252 unless it is UTF-8 with few faults (HTML
// 13.2.3.2). What cannot be decoded becomes U+FFFD.
func toUTF8(body []byte, contentType, declared string) ([]byte, error) {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	wide := bytes.HasPrefix(body, []byte("\xFE\xFF")) || bytes.HasPrefix(body, []byte("\xFF\xFE")) ||
		len(declared) >= 6 && bytes.EqualFold([]byte(declared[:6]), []byte("utf-16"))
	if !wide && isBinary(body) {
		return nil, ErrBinary
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

func determine(body []byte, contentType string) (encoding.Encoding, string) {
	enc, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if certain {
		return enc, name
	}
	if m := xmlEncoding.FindSubmatch(body[:min(len(body), 256)]); m != nil {
		if e, n := charset.Lookup(string(m[1])); e != nil {
			return e, n
		}
	}
	if mostlyUTF8(body) {
		return encoding.Nop, "utf-8"
	}
	return enc, name
}

// mostlyUTF8 says whether nine in ten of the characters outside ASCII are good UTF-8: one broken
// byte in a page that declares nothing spoils no more than itself.
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

// isBinary says whether, of the first 4 KB, one byte in 16 or more is one that no text holds
// (WHATWG MIME Sniffing §3, binary data bytes; escape begins a change of character set).
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
