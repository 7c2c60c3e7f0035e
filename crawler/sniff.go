package crawler

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
	"strings"

	"anatomy/crawler/internal/body"
	"anatomy/vocab"
	"anatomy/weburl"
)

// mediumOf returns the medium of an answer according to its Content-Type. If that is ambiguous, or
// an old format of an office document, the extension of u decides whether the file is a newer one,
// CSV, or may be the definition of a service.
func mediumOf(contentType string, u *weburl.URL) vocab.Medium {
	media, _, _ := strings.Cut(contentType, ";")
	if !vagueTypes[strings.ToLower(strings.TrimSpace(media))] {
		return vocab.MediumOf(contentType)
	}
	m, _ := vocab.ParseMedium(strings.TrimPrefix(path.Ext(u.Path()), "."))
	if !m.Office() && m != vocab.YAML && m != vocab.WSDL && m != vocab.CSV && m != vocab.GraphQL {
		return vocab.OtherMedium
	}
	return m
}

// vagueTypes are the media types with which servers send office documents that they do not
// recognize.
var vagueTypes = map[string]bool{
	"": true, "application/octet-stream": true, "binary/octet-stream": true, "application/force-download": true,
	"application/zip": true, "application/x-zip-compressed": true, "application/msword": true,
	"application/vnd.ms-excel": true, "application/vnd.ms-powerpoint": true,
}

// refuseBinary refuses a body whose first bytes are neither text nor of its medium. It ignores the
// stated type.
func refuseBinary(head []byte, contentType string, medium vocab.Medium) error {
	detected := http.DetectContentType(head)
	pdf := vocab.IsPDF(head)
	switch {
	case pdf && (contentType == "" || medium == vocab.PDF), medium.Zipped() && vocab.IsZip(head):
		return nil
	case medium == vocab.PDF, medium.Zipped():
	case strings.HasPrefix(detected, "text/") || bytes.IndexFunc(head, isBinaryByte) < 0 && !pdf:
		return nil // "BM" begins a bitmap, and texts about cars
	}
	lower := strings.ToLower(contentType)
	if strings.Contains(lower, "utf-16") || strings.Contains(lower, "utf-32") {
		return nil // text with zero bytes in it
	}
	if contentType == "" {
		return &body.UnsupportedError{Reason: "no media type, looks like " + detected}
	}
	return &body.UnsupportedError{Reason: fmt.Sprintf("sent as %.100q, is %s", contentType, detected)}
}

// isBinaryByte reports whether a character never occurs in text (mimesniff §3, binary data bytes).
func isBinaryByte(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\f' && r != '\r' && r != 0x1B
}

// detectType returns the media type of a body that was sent without one.
func detectType(body []byte) string {
	media, _, _ := strings.Cut(http.DetectContentType(body), ";") // its charset is a guess
	return media
}

// imageType returns the media type of an image by its first bytes; "" if it is none.
func imageType(head []byte) string {
	if kind := http.DetectContentType(head); strings.HasPrefix(kind, "image/") {
		return kind
	}
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n"))
	isHTML := bytes.Contains(text, []byte("<html")) || bytes.Contains(text, []byte("<!doctype html"))
	if bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<svg")) && !isHTML {
		return "image/svg+xml"
	}
	return ""
}
