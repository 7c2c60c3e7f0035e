package searcher

import (
	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// An onlyCursor walks the documents that pass a test of their columns, which lie in memory: looking at
// one after the other takes a nanosecond each, less than a list of them would take to read.
type onlyCursor struct {
	passes  func(vocab.Ordinal) bool
	docs    vocab.Ordinal
	clock   *clock
	at      vocab.Ordinal
	started bool
}

// only makes the cursor of a filter.
func (w *walk) only(f query.Filter) cursor {
	seg := w.part.seg
	c := &onlyCursor{docs: vocab.Ordinal(seg.Docs()), clock: w.clock}
	switch {
	case f.Lang != "":
		lang := segment.LanguageOf(f.Lang)
		c.passes = func(ord vocab.Ordinal) bool { return seg.Language(ord) == lang }
	case f.Medium != vocab.Unread:
		c.passes = func(ord vocab.Ordinal) bool { return seg.Medium(ord) == f.Medium }
	default:
		c.passes = func(ord vocab.Ordinal) bool { return f.Dated(seg.Date(ord)) }
	}
	return c
}

// cost is that of a test of every document: filters come last.
func (c *onlyCursor) cost() int { return int(c.docs) }

func (c *onlyCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	if c.started && c.at >= to {
		return c.at
	}
	c.started = true
	for to < c.docs && !c.passes(to) {
		if to++; to%ticks == 0 && c.clock.look() {
			to = c.docs
		}
	}
	if c.at = to; to >= c.docs || c.clock.tick() {
		c.at = end
	}
	return c.at
}
