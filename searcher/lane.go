package searcher

import (
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A lane is the list of a word of the query, with what it adds to a page's score in the first phase.
// It is a cursor.
type lane struct {
	walk     *walk
	postings *segment.Postings
	step     uint32        // points of one step of impact
	bound    uint32        // the most that it adds in the stretch of documents at hand
	at       vocab.Ordinal // where it is, or behind: see walk.gather
}

func (l *lane) cost() int { return l.postings.DF() }

func (l *lane) advance(to vocab.Ordinal) vocab.Ordinal {
	if l.walk.clock.tick() || !l.postings.Advance(to) {
		l.walk.fail(l.postings.Err())
		return end
	}
	return l.postings.Ord()
}

// points is what the word adds to the page that l stands on.
func (l *lane) points() uint32 { return l.step * uint32(l.postings.Impact()) }

// most is the most that the word adds to any page.
func (l *lane) most() uint32 { return l.step * uint32(l.postings.MaxImpact()) }

// boundIn is the most that it adds to a page in [from, to).
func (l *lane) boundIn(from, to vocab.Ordinal) uint32 {
	return l.step * uint32(l.postings.MaxIn(from, to))
}

// boundAt is the most that it adds to a page in the block that holds ord.
func (l *lane) boundAt(ord vocab.Ordinal) uint32 {
	bound, _ := l.postings.Bound(ord)
	return l.step * uint32(bound)
}
