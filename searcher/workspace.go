package searcher

import (
	"slices"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A workspace is memory that a query works in, and the next one after it: a list takes 3 KB, and what else a query of two
// words needs, a hundred allocations of which garbage would be made. Nothing of it may stay in a response.
type workspace struct {
	lists   []*segment.Postings // those before used are taken
	used    int
	word    []byte // to look up
	window  *scoreWindow
	joined  *segment.Batch
	hits    [][]vocab.Hit // of one page, by word
	cutting snippetRoom
	best    collector // of one walk
	reading pageReader
	scoring scorer
	keys    []uint64     // see inOrder
	order   []*candidate // what it gives

	parser     query.Parser
	answers    slab[answer]
	terms      slab[terms]
	ints       slab[int]
	scores     slab[Score]
	points     slab[uint32]
	pairs      slab[[2]int]
	opened     slab[*segment.Postings]
	parts      slab[[]*segment.Postings]
	walks      slab[walk]
	plans      slab[plan]
	lanes      slab[lane]
	lanesOf    slab[*lane]
	words      slab[termCursor]
	cursors    slab[cursor]
	candidates slab[candidate]
	sketches   slab[vocab.Sketch]
}

// A slab gives out parts of one slice. They are the query's until it ends.
type slab[T any] struct {
	all  []T
	used int
}

// take gives n elements, all zero. To append to them makes a slice of its own.
func (s *slab[T]) take(n int) []T {
	if s.used+n > len(s.all) { // what was taken of the old one stays as it is
		s.all, s.used = make([]T, max(n, 2*len(s.all), 4)), 0
	}
	s.used += n
	return s.all[s.used-n : s.used : s.used]
}

// one gives one element, which is zero.
func (s *slab[T]) one() *T { return &s.take(1)[0] }

// keptElements bounds what is kept of a slab: a word may have as many as maxForms.
const keptElements = 1024

// free takes all back.
func (s *slab[T]) free() {
	if clear(s.all[:s.used]); len(s.all) > keptElements {
		s.all = nil
	}
	s.used = 0
}

// A scoreWindow is room to add up the scores of a run of documents in. It is all 0 between two of them.
type scoreWindow struct {
	scores    [windowDocs]uint32
	seen      [windowDocs / 64]uint64
	listed    [windowDocs + 1]uint16 // the first n: those with a score
	promising []uint64
	n         int
}

// workspace gives one to a query; it comes back by free.
func (s *Searcher) workspace() *workspace {
	if ws, ok := s.workspaces.Get().(*workspace); ok {
		return ws
	}
	return &workspace{}
}

// keptLists bounds the lists that a workspace keeps.
const keptLists = 64

// free takes back the workspace of a query that has ended as it should: what a fault of the memory cut off may have left
// a window half full.
func (s *Searcher) free(ws *workspace) {
	if ws.used = 0; len(ws.lists) > keptLists {
		clear(ws.lists[keptLists:])
		ws.lists = ws.lists[:keptLists]
	}
	ws.reading = pageReader{}
	ws.answers.free()
	ws.terms.free()
	ws.ints.free()
	ws.scores.free()
	ws.points.free()
	ws.pairs.free()
	ws.opened.free()
	ws.parts.free()
	ws.walks.free()
	ws.plans.free()
	ws.lanes.free()
	ws.lanesOf.free()
	ws.words.free()
	ws.cursors.free()
	ws.candidates.free()
	ws.sketches.free()
	s.workspaces.Put(ws)
}

// postings gives room for a list.
func (ws *workspace) postings() *segment.Postings {
	if ws.used == len(ws.lists) {
		ws.lists = append(ws.lists, &segment.Postings{})
	}
	ws.used++
	return ws.lists[ws.used-1]
}

// open gives the list of a word, nil where a segment does not hold it.
func (ws *workspace) open(seg *segment.Segment, list segment.List, word string) (*segment.Postings, error) {
	p := ws.postings()
	ws.word = append(ws.word[:0], word...)
	if there, err := p.Open(seg, list, ws.word); err != nil || !there {
		ws.used--
		return nil, err
	}
	return p, nil
}

// What follows is for one user at a time: what it gave before is given again.

// windows gives a window.
func (ws *workspace) windows() *scoreWindow {
	if ws.window == nil {
		ws.window = &scoreWindow{}
	}
	return ws.window
}

// batch gives room for the documents of a block.
func (ws *workspace) batch() *segment.Batch {
	if ws.joined == nil {
		ws.joined = &segment.Batch{}
	}
	return ws.joined
}

// collector gives one that takes on what was found in segments before: the least score that is admitted, and how many pages
// match.
func (ws *workspace) collector(k int, floor uint32, count, countTo int) *collector {
	ws.best = collector{k: k, keys: ws.best.keys[:0], floor: floor, count: count, countTo: countTo}
	return &ws.best
}

// scorer gives one.
func (ws *workspace) scorer(w *Weights, t *terms) *scorer {
	fields := ws.scoring.fields[:0]
	ws.scoring = scorer{w: w, terms: t, fields: slices.Grow(fields, len(t.words))[:len(t.words)]}
	return &ws.scoring
}

// hitsOf gives room for the hits of so many words of a page.
func (ws *workspace) hitsOf(words int) [][]vocab.Hit {
	for len(ws.hits) < words {
		ws.hits = append(ws.hits, nil)
	}
	return ws.hits[:words]
}

// snippets gives room to cut snippets in.
func (ws *workspace) snippets() *snippetRoom { return &ws.cutting }
