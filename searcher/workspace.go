package searcher

import (
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A workspace is memory that a query works in, and the next one after it: lists take 3 KB each, and a query of two words
// spent a third of its time on making them anew. Nil is one that keeps nothing. What a query gives back holds none of it.
type workspace struct {
	lists   []*segment.Postings // those before used are taken
	used    int
	window  scoreWindow
	hits    [][]vocab.Hit // of one page, by word
	cutting snippetRoom
}

// A scoreWindow is room to add up the scores of a run of documents in. It is all 0 between two of them.
type scoreWindow struct {
	scores [windowDocs]uint32
	seen   [windowDocs / 64]uint64
}

// workspace gives one to a query; it comes back by free.
func (s *Searcher) workspace() *workspace {
	if ws, ok := s.workspaces.Get().(*workspace); ok {
		return ws
	}
	return &workspace{}
}

// keptLists bounds the lists that a workspace keeps: a word may have as many as maxForms.
const keptLists = 64

// free takes back the workspace of a query that has ended as it should: what a fault of the memory cut off may have left
// a window half full.
func (s *Searcher) free(ws *workspace) {
	if ws.used = 0; len(ws.lists) > keptLists {
		clear(ws.lists[keptLists:])
		ws.lists = ws.lists[:keptLists]
	}
	s.workspaces.Put(ws)
}

// postings gives room for a list.
func (ws *workspace) postings() *segment.Postings {
	if ws == nil {
		return &segment.Postings{}
	}
	if ws.used == len(ws.lists) {
		ws.lists = append(ws.lists, &segment.Postings{})
	}
	ws.used++
	return ws.lists[ws.used-1]
}

// open gives the list of a word, nil where a segment does not hold it.
func (ws *workspace) open(seg *segment.Segment, list segment.List, word string) (*segment.Postings, error) {
	p := ws.postings()
	if there, err := p.Open(seg, list, []byte(word)); err != nil || !there {
		return nil, err
	}
	return p, nil
}

// windows gives a window, for one walk at a time.
func (ws *workspace) windows() *scoreWindow {
	if ws == nil {
		return &scoreWindow{}
	}
	return &ws.window
}

// hitsOf gives room for the hits of so many words of a page, for one reader at a time.
func (ws *workspace) hitsOf(words int) [][]vocab.Hit {
	if ws == nil {
		return make([][]vocab.Hit, words)
	}
	for len(ws.hits) < words {
		ws.hits = append(ws.hits, nil)
	}
	return ws.hits[:words]
}

// snippets gives room to cut snippets in, for one snippeter at a time.
func (ws *workspace) snippets() *snippetRoom {
	if ws == nil {
		return &snippetRoom{}
	}
	return &ws.cutting
}
