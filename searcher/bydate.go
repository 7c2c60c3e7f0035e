package searcher

import (
	"cmp"
	"sync"

	"anatomy/vocab"
)

// By date the newest pages stand first, whatever else their scores say, and those without a date last; of one day, those
// with the higher scores, as far as the candidates go. What no query changes is then the day of a page, and
// words bring nothing in the first phase: so the walk that finds the best pages finds the newest, by the same bounds.
// Nothing is put before others for its host, its site's name or what the asker likes.

// byDate is the snapshot with days in place of the points that no query changes.
func (snap *snapshot) byDate() *snapshot {
	snap.dating.Do(func() {
		snap.dated = &snapshot{generation: snap.generation, segments: snap.segments, rankStamp: snap.rankStamp, docs: snap.docs, average: snap.average, vector: snap.vector, homes: &sync.Map{}}
		for _, p := range snap.parts {
			days := make([]uint32, p.seg.Docs())
			for ord := range days {
				days[ord] = uint32(p.seg.Date(vocab.Ordinal(ord)))
			}
			snap.dated.parts = append(snap.dated.parts, &part{handle: p.handle, dead: p.dead, static: newStatics(days)})
		}
	})
	return snap.dated
}

// byDay is the order of candidates by date.
func byDay(a, b candidate) int { return cmp.Or(cmp.Compare(b.first, a.first), byScore(a, b)) }
