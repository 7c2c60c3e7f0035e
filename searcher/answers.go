package searcher

import (
	"slices"
	"strings"
	"sync"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// An answerCache keeps recent responses for requests that repeat (query caching, BP98 §6.1). A
// response belongs to one snapshot and one state of knowledge, so that it never hides changes of
// the index, the ranks or spellings.
//
// Entries are in two generations. New and used ones are in the young generation; when that is full,
// it becomes the old one, and the old one is dropped.
type answerCache struct {
	limit int64 // bytes of both generations; 0 keeps nothing

	mu         sync.Mutex
	young, old map[answerKey]cachedAnswer
	youngBytes int64
	stats      AnswerStats
}

// An answerKey is all that a response depends on.
type answerKey struct {
	view      uint64
	knowledge *knowledge
	request   Request // without Within
}

type cachedAnswer struct {
	response *Response
	size     int64
}

// AnswerStats describe the cache of responses, see Options.AnswerBytes.
type AnswerStats struct {
	Hits, Misses int64 // of requests that may be cached
	Bytes        int64
}

// keeps reports whether a request may be cached: it is not personal, and does not read the link
// database, which changes independently of snapshots.
func (c *answerCache) keeps(req *Request, q query.Query) bool {
	return c.limit > 0 && req.Preferences == nil && !req.Explain && !req.Bare && !hasReference(q.Root)
}

// hasReference reports whether a query has link:, related:, info: or cache:.
func hasReference(root *query.Node) (yes bool) {
	root.Locate(func(query.Ref) []vocab.DocID {
		yes = true
		return nil
	})
	return yes
}

// get returns a response whose slices must not be changed.
func (c *answerCache) get(key answerKey) (Response, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.young[key]
	if !ok {
		if a, ok = c.old[key]; !ok {
			c.stats.Misses++
			return Response{}, false
		}
		delete(c.old, key)
		c.stats.Bytes -= a.size
		c.add(key, a)
	}
	c.stats.Hits++
	return *a.response, true
}

// put caches a complete response.
func (c *answerCache) put(key answerKey, resp *Response) {
	a := cachedAnswer{resp.clone(), answerSize + int64(len(key.request.Query))}
	for i := range a.response.Results {
		a.size += a.response.Results[i].size()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.young[key]; !ok && a.size <= c.limit/4 {
		c.add(key, a)
	}
}

// add adds an entry to the young generation. The caller holds mu.
func (c *answerCache) add(key answerKey, a cachedAnswer) {
	if c.young == nil || c.youngBytes+a.size > c.limit/2 {
		c.old, c.young = c.young, map[answerKey]cachedAnswer{}
		c.stats.Bytes, c.youngBytes = c.youngBytes, 0
	}
	c.young[key] = a
	c.youngBytes += a.size
	c.stats.Bytes += a.size
}

// clear drops all entries.
func (c *answerCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.young, c.old, c.youngBytes, c.stats.Bytes = nil, nil, 0, 0
}

// Stats returns the counts so far.
func (c *answerCache) Stats() AnswerStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Sizes of a response and a result without their longer strings, in bytes, estimated.
const (
	answerSize = 1500
	resultSize = 600
)

// clone returns the response with titles and URLs of its own: they share the memory of a block of
// documents.
func (resp *Response) clone() *Response {
	own := *resp
	own.Results = slices.Clone(resp.Results)
	for i := range own.Results {
		r := &own.Results[i]
		r.URL, r.Title, r.Lang = strings.Clone(r.URL), strings.Clone(r.Title), strings.Clone(r.Lang)
	}
	return &own
}

func (r *Result) size() int64 {
	n := resultSize + len(r.URL) + len(r.Title)
	for _, f := range r.Snippet {
		n += len(f.Text) + 24
	}
	n += r.Section.Size()
	for i := range r.Sections {
		n += r.Sections[i].Size()
	}
	return int64(n)
}
