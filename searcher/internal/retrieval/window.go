package retrieval

// windowDocs is the number of documents whose scores are summed at a time.
const windowDocs = 4096

// A scoreWindow sums up the scores of windowDocs consecutive documents. It is all zero between
// windows.
type scoreWindow struct {
	scores [windowDocs]uint32
	seen   [windowDocs / 64]uint64 // bitmap of the documents with a posting
	listed [windowDocs + 1]uint16  // the first n: documents with a score, in no order
	n      int
}

// mark adds a term's impacts to the scores of documents and marks them in seen.
func (w *scoreWindow) mark(step, base uint32, ordinals []uint32, impacts []uint8) {
	impacts = impacts[:len(ordinals)]
	for i, ord := range ordinals {
		at := (ord - base) % windowDocs
		w.scores[at] += step * uint32(impacts[i])
		w.seen[at/64] |= 1 << (at % 64)
	}
}

// list adds a term's impacts to the scores of documents and lists those without a score before. It
// is branch-free.
func (w *scoreWindow) list(step, base uint32, ordinals []uint32, impacts []uint8) {
	impacts = impacts[:len(ordinals)]
	n := w.n
	for i, ord := range ordinals {
		at := (ord - base) % windowDocs
		score := w.scores[at]
		w.scores[at] = score + step*uint32(impacts[i])
		w.listed[n] = uint16(at)
		if score == 0 {
			n++
		}
	}
	w.n = n
}
