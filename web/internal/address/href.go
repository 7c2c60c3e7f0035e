package address

import (
	"net/url"
	"strconv"

	"anatomy/searcher"
	"anatomy/vocab"
)

// SearchHref returns the address of a search from an offset on. Limit 0 is the default.
func SearchHref(path string, r searcher.Request, offset int) string {
	v := url.Values{"q": {r.Query}}
	if offset > 0 {
		v.Set("start", strconv.Itoa(offset))
	}
	if r.Limit > 0 && r.Limit != searcher.DefaultLimit {
		v.Set("num", strconv.Itoa(r.Limit))
	}
	if r.Rank != "" {
		v.Set("rank", r.Rank)
	}
	if r.Count != "" {
		v.Set("count", string(r.Count))
	}
	if r.Anchors != "" {
		v.Set("anchors", string(r.Anchors))
	}
	if r.Ungrouped {
		v.Set("filter", "0")
	}
	if r.Facets != "" {
		v.Set("facets", r.Facets)
	}
	if r.Similar != 0 {
		v.Set("similar", strconv.FormatUint(uint64(r.Similar), 10))
	}
	return path + "?" + v.Encode()
}

// WithQuery returns the request with another query.
func WithQuery(r searcher.Request, query string) searcher.Request {
	r.Query, r.Similar = query, 0
	return r
}

// Answered returns the request that the results belong to: with the corrected query, if there is
// one.
func Answered(r searcher.Request, a *searcher.Response) searcher.Request {
	if a.Corrected != "" {
		r.Query = a.Corrected
	}
	return r
}

// NextOffset returns the offset of the next page of results; ok is false if there is none within
// the limits.
func NextOffset(r searcher.Request, a *searcher.Response) (offset int, ok bool) {
	offset = r.Offset + r.Limit
	return offset, a.Next && offset <= searcher.MaxOffset
}

func SimilarHref(path string, r searcher.Request, result *searcher.Result) string {
	r.Similar = result.Doc
	return SearchHref(path, r, 0)
}

func HostHref(path string, r searcher.Request, host string) string {
	return SearchHref(path, WithQuery(r, r.Query+" site:"+host), 0)
}

func FeedHref(base, format string, r searcher.Request, offset int) string {
	r.Facets = ""
	return base + SearchHref("/search", r, offset) + "&format=" + format
}

func CachedHref(doc uint64, query string, text bool) string {
	return "/cached?" + CachedValues(doc, query, text).Encode()
}

func CachedValues(doc uint64, query string, text bool) url.Values {
	v := url.Values{"doc": {strconv.FormatUint(doc, 10)}}
	if query != "" {
		v.Set("q", query)
	}
	if text {
		v.Set("text", "1")
	}
	return v
}

// CachedAt returns the address of a cached page that opens at the element with an id, "" for the first
// marked word.
func CachedAt(doc uint64, query, id string) string {
	v := CachedValues(doc, query, false)
	if id != "" {
		v.Set("at", id)
	}
	return "/cached?" + v.Encode()
}

func LinksHref(address string) string { return "/links?" + url.Values{"url": {address}}.Encode() }

func TraceHref(address string) string { return "/page?" + url.Values{"url": {address}}.Encode() }

// SiteHref returns the address of the report of a site.
func SiteHref(site string) string { return (&url.URL{Path: "/site/" + site}).EscapedPath() }

// ImageHref returns the address of a small image.
func ImageHref(m *searcher.ImageResult) string {
	return "/image?" + url.Values{"doc": {strconv.FormatUint(uint64(m.Doc), 10)}, "id": {m.ID()}}.Encode()
}

func VersionsHref(doc vocab.DocID, values url.Values) string {
	v := CachedValues(uint64(doc), "", false)
	for name := range values {
		v.Set(name, values.Get(name))
	}
	return "/versions?" + v.Encode()
}
