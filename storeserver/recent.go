package storeserver

import (
	"sync"

	"anatomy/vocab"
)

// generation is the number of bodies in each of the two generations of recent: 24 bytes each and
// the map, about 4 MB in all.
const generation = 1 << 15

// A recent has the documents of the most recently stored bodies, at least a generation of them,
// which the document index may not know yet. The zero value is empty.
type recent struct {
	mu         sync.Mutex
	young, old map[vocab.ContentID]vocab.DocID
}

func (r *recent) add(c vocab.ContentID, doc vocab.DocID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young) == generation {
		r.young, r.old = make(map[vocab.ContentID]vocab.DocID), r.young
	}
	r.young[c] = doc
}

func (r *recent) forget(c vocab.ContentID, doc vocab.DocID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young[c] == doc {
		delete(r.young, c)
	}
	if r.old[c] == doc {
		delete(r.old, c)
	}
}

func (r *recent) find(c vocab.ContentID) (vocab.DocID, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if doc, ok := r.young[c]; ok {
		return doc, true
	}
	doc, ok := r.old[c]
	return doc, ok
}
