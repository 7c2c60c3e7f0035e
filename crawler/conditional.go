package crawler

import (
	"net/http"

	"golang.org/x/net/http/httpguts"

	"anatomy/vocab"
)

// maxETag bounds the entity tags that are sent back, in bytes; real ones have less than 100.
const maxETag = 256

// validatorsOf returns the validators of a response. It ignores a tag that a header cannot carry,
// and a date that is not valid.
func validatorsOf(h http.Header) (v vocab.Validators) {
	if tag := h.Get("Etag"); isETag(tag) {
		v.ETag = tag
	}
	if date := h.Get("Last-Modified"); date != "" {
		if _, err := http.ParseTime(date); err == nil {
			v.LastModified = date
		}
	}
	return v
}

// isETag reports whether s is an entity tag, strong or weak (RFC 9110 §8.8.3). Some servers omit
// the quotes and accept their tag only without; it is sent back as received.
func isETag(s string) bool {
	return s != "" && len(s) <= maxETag && httpguts.ValidHeaderFieldValue(s)
}

// conditional returns the header fields of a request that is answered with the page only if its
// version has changed (RFC 9110 §13.1.2). It has both conditions: servers that support tags use the
// tag, others the date.
func conditional(base http.Header, known vocab.Validators) http.Header {
	if known == (vocab.Validators{}) {
		return base
	}
	h := base.Clone()
	if isETag(known.ETag) {
		h["If-None-Match"] = []string{known.ETag}
	}
	if _, err := http.ParseTime(known.LastModified); err == nil {
		h["If-Modified-Since"] = []string{known.LastModified}
	}
	return h
}

// unmodified records a 304, with its validators, or otherwise those of the request, which remain
// valid (RFC 9110 §15.4.5).
func unmodified(h http.Header, f *vocab.Fetch) {
	if f.Held == (vocab.Validators{}) {
		f.Outcome, f.Reason = vocab.Failed, "304 Not Modified to an unconditional request"
		return
	}
	f.Outcome, f.Validators = vocab.Unmodified, validatorsOf(h)
	if f.Validators.ETag == "" {
		f.Validators.ETag = f.Held.ETag
	}
	if f.Validators.LastModified == "" {
		f.Validators.LastModified = f.Held.LastModified
	}
}
