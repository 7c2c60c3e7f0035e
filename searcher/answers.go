package searcher

import (
	"container/list"
	"slices"
	"strings"
	"sync"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// answers keeps the responses given last, as much as a number of bytes holds, for those who ask the same again (query
// caching, which BP98 §6.1 names as the first thing to do). A response is of one snapshot, and is given for that alone:
// what the index, the ranks or the spellings that were learnt have changed to is never hidden by it.
type answers struct {
	limit int64

	mu      sync.Mutex
	entries map[answerKey]*list.Element
	order   list.List // of *keptAnswer, last used first
	stats   AnswerStats
}

// An answerKey is all that a response depends on.
type answerKey struct {
	snapshot uint64
	learnt   *knowledge
	request  Request
}

type keptAnswer struct {
	key      answerKey
	response *Response
	size     int64
}

// AnswerStats tell of responses that are kept, see Options.AnswerBytes.
type AnswerStats struct {
	Hits, Misses int64 // requests, of those that may be answered so
	Bytes        int64 // that are kept
}

// keeps says that a request may be answered with what was answered before: it is of no one in particular, and asks
// for nothing of the link database, which changes by itself.
func (c *answers) keeps(req *Request, q query.Query) bool {
	return c.limit > 0 && req.Preferences == nil && !req.Explain && !req.Bare && !refers(q.Root)
}

// refers says that a query names pages by their links or addresses.
func refers(root *query.Node) (yes bool) {
	root.Locate(func(query.Ref) []vocab.DocID {
		yes = true
		return nil
	})
	return yes
}

// get gives a response, whose slices are not to be changed.
func (c *answers) get(key answerKey) (Response, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		c.stats.Misses++
		return Response{}, false
	}
	c.stats.Hits++
	c.order.MoveToFront(e)
	return *e.Value.(*keptAnswer).response, true
}

// put keeps a response, if it is whole.
func (c *answers) put(key answerKey, resp *Response) {
	if resp.Partial {
		return
	}
	a := &keptAnswer{key, resp.alone(), answerSize + int64(len(key.request.Query))}
	for i := range a.response.Results {
		a.size += a.response.Results[i].size()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok || a.size > c.limit/4 {
		return
	}
	if c.entries == nil {
		c.entries = map[answerKey]*list.Element{}
	}
	c.entries[key] = c.order.PushFront(a)
	for c.stats.Bytes += a.size; c.stats.Bytes > c.limit; {
		c.remove(c.order.Back())
	}
}

func (c *answers) remove(e *list.Element) {
	a := c.order.Remove(e).(*keptAnswer)
	delete(c.entries, a.key)
	c.stats.Bytes -= a.size
}

// clear forgets all: there is another snapshot.
func (c *answers) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.order.Init()
	c.stats.Bytes = 0
}

func (c *answers) told() AnswerStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// What a response and a result take besides their longer strings, in bytes, about.
const (
	answerSize = 1500
	resultSize = 600
)

// alone is the response with titles and addresses in memory of their own: they share that of a block of documents.
func (resp *Response) alone() *Response {
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
	return int64(n)
}
