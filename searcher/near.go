package searcher

import (
	"cmp"
	"context"
	"slices"

	"anatomy/vocab"
)

// A Near page says nearly what another one says.
type Near struct {
	Doc      vocab.DocID
	URL      string
	Distance int // of the sketches of the two, at most NearDistance: vocab.Sketch.Distance
}

// Near lists the n pages that say most nearly what a document says, the nearest first, and how many there
// are in all. It looks at the sketches of all documents, a millisecond for a million.
func (s *Searcher) Near(ctx context.Context, doc vocab.DocID, n int) (nearest []Near, total int, err error) {
	err = s.again(func(snap *snapshot) error {
		found := snap.near(doc)
		nearest, total = nil, len(found)
		for _, f := range found[:min(n, total)] {
			info, err := snap.parts[f.into.part].seg.Record(f.into.ord)
			if err != nil {
				return err
			}
			nearest = append(nearest, Near{f.into.doc, info.URL, f.distance})
		}
		return ctx.Err()
	})
	return nearest, total, err
}

// near finds the documents into which one could be folded.
func (snap *snapshot) near(doc vocab.DocID) (found []folding) {
	var sketch vocab.Sketch
	for _, p := range slices.Backward(snap.parts) {
		if ord, ok := p.seg.Ordinal(doc); ok && !p.dead.has(ord) {
			sketch = p.seg.Sketch(ord)
		}
	}
	for i, p := range snap.parts {
		for ord := range vocab.Ordinal(p.seg.Docs()) {
			d := sketch.Distance(p.seg.Sketch(ord))
			if other := p.seg.Doc(ord); d <= NearDistance && other != doc && !p.dead.has(ord) {
				found = append(found, folding{candidate{doc: other, part: i, ord: ord}, d})
			}
		}
	}
	slices.SortFunc(found, func(a, b folding) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.into.doc, b.into.doc))
	})
	return found
}
