package crawler

import (
	"net/http"

	"golang.org/x/net/http/httpguts"

	"anatomy/vocab"
)

// maxETag is how many bytes of an entity tag are kept and sent back; real ones have under 100.
const maxETag = 256

// validatorsOf takes what a response offers to ask by the next time. A tag that a header cannot
// carry, or a date that is none, is as good as not sent.
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

// isETag says whether s is an entity tag, strong or weak (RFC 9110 §8.8.3). Some servers leave the
// quotes out and understand their tag only so; it is given back as it came.
func isETag(s string) bool {
	return s != "" && len(s) <= maxETag && httpguts.ValidHeaderFieldValue(s)
}

// conditional adds to the fields of a request that an answer is wanted only if the page is no longer
// the one that we have (RFC 9110 §13.1.2). Both fields go out: a server that knows tags
// heeds the tag alone, others have the date.
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

// unmodified is what a 304 means. It carries the validators that it was sent with, else those that
// we asked by, which hold on (RFC 9110 §15.4.5).
func unmodified(h http.Header, f *vocab.Fetch) {
	if f.Known == (vocab.Validators{}) {
		f.Outcome, f.Reason = vocab.Failed, "304 Not Modified, though asked without condition"
		return
	}
	f.Outcome, f.Validators = vocab.Unmodified, validatorsOf(h)
	if f.Validators.ETag == "" {
		f.Validators.ETag = f.Known.ETag
	}
	if f.Validators.LastModified == "" {
		f.Validators.LastModified = f.Known.LastModified
	}
}
