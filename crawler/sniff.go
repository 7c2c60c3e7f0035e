package crawler

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"anatomy/crawler/internal/body"
	"anatomy/vocab"
)

// indexed reports whether a media type is indexed. If none is stated, the bytes of the body decide.
func indexed(contentType string) bool {
	return strings.TrimSpace(contentType) == "" || vocab.MediumOf(contentType) != vocab.OtherMedium
}

// refuseBinary refuses a body whose first bytes are neither text nor PDF, whatever type is stated.
func refuseBinary(head []byte, contentType string) error {
	detected := http.DetectContentType(head)
	pdf := vocab.IsPDF(head)
	switch {
	case pdf && (contentType == "" || vocab.MediumOf(contentType) == vocab.PDF):
		return nil
	case vocab.MediumOf(contentType) == vocab.PDF:
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
