package searcher

import (
	"slices"
	"strings"

	"anatomy/searcher/internal/memo"
	"anatomy/searcher/labels"
	"anatomy/searcher/pins"
	"anatomy/searcher/query"
	"anatomy/searcher/synonyms"
	"anatomy/vocab"
)

// An answerCache caches recent responses to requests that repeat (query caching, BP98 §6.1). A
// response belongs to one snapshot and one state of knowledge, so it never hides changes of the
// index, the ranks or spellings. The slices of a response must not be modified.
type answerCache = memo.Sized[answerKey, *Response]

// AnswerStats describe the cache of responses, see Options.AnswerBytes.
type AnswerStats = memo.Stats

// An answerKey is everything that a response depends on.
type answerKey struct {
	view      uint64
	knowledge *knowledge
	synonyms  *synonyms.Table
	pins      *pins.Table
	languages string
	labels    *labels.Patterns
	request   Request // without Within
}

// keeps reports whether a request may be cached: it is not personal, and does not read the link
// database, which changes independently of snapshots.
func keeps(req *Request, q query.Query) bool {
	return req.Preferences == nil && !req.Explain && !req.Bare && !hasReference(q.Root)
}

// hasReference reports whether a query has link:, related:, info: or cache:.
func hasReference(root *query.Node) (yes bool) {
	root.Locate(func(query.Ref) []vocab.DocID {
		yes = true
		return nil
	})
	return yes
}

// Estimated sizes in bytes of a response, a result and a facet value without their longer strings.
const (
	answerSize = 1500
	resultSize = 600
	facetSize  = 80 // of a value
)

// clone returns a copy of the response with its own titles and URLs: those of the response share
// memory with a block of documents.
func (resp *Response) clone() *Response {
	own := *resp
	own.Results = slices.Clone(resp.Results)
	for i := range own.Results {
		r := &own.Results[i]
		r.URL, r.Title, r.Lang = strings.Clone(r.URL), strings.Clone(r.Title), strings.Clone(r.Lang)
	}
	return &own
}

func (resp *Response) size() int64 {
	n := answerSize + int64(len(resp.Query))
	for i := range resp.Facets {
		for _, v := range resp.Facets[i].Values {
			n += facetSize + int64(len(v.Value)+len(v.Filter)+len(v.Query))
		}
	}
	for i := range resp.Results {
		n += resp.Results[i].size()
	}
	return n
}

func (r *Result) size() int64 {
	n := resultSize + len(r.URL) + len(r.Title)
	for _, f := range r.Snippet {
		n += len(f.Text) + 24
	}
	n += r.Section.Size()
	for _, v := range r.Versions {
		n += len(v.URL) + 48
	}
	for i := range r.Sections {
		n += r.Sections[i].Size()
	}
	return int64(n)
}
