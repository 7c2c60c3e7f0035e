package searcher

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"time"

	"anatomy/searcher/suggest"
	"anatomy/vocab"
)

// Knowledge is what corrections and completions are made of. It is learnt from one snapshot and may
// be used with later ones: whatever it proposes is looked up in the snapshot in force.
type knowledge struct {
	generation  uint64
	rankStamp   stamp
	segments    []string
	words       *suggest.Dictionary
	completions *suggest.Completions
	tried       spellings
}

// Learn reads the words and titles of what is searched now, for corrections and completions; it
// returns when that is done, at once if nothing is new. Run does so by itself. Until it was done
// once, there are none. What cannot be read is left out; the error is that of ctx.
func (s *Searcher) Learn(ctx context.Context) error {
	s.learning.Lock()
	defer s.learning.Unlock()
	_, err := s.with(func(snap *snapshot) error {
		k := s.learnt.Load()
		if k != nil && k.generation == snap.generation && k.rankStamp == snap.rankStamp && slices.Equal(k.segments, snap.segments) {
			return nil
		}
		words := suggest.NewBuilder(suggest.MaxWords)
		snap.eachWord(ctx, words.Add)
		phrases := suggest.NewCollector(suggest.MaxPhrases)
		snap.eachTitle(ctx, phrases.AddTitle)
		if err := ctx.Err(); err != nil {
			return err
		}
		s.learnt.Store(&knowledge{generation: snap.generation, rankStamp: snap.rankStamp, segments: snap.segments, words: words.Dictionary(), completions: phrases.Completions()})
		return nil
	})
	return err
}

// A lexicon is the words of a segment being read in order.
type lexicon struct {
	word []byte
	df   int
	next func() ([]byte, int, bool)
	stop func()
}

// eachWord visits all words, each once, with the number of their documents in all segments. It holds
// one word of each.
func (snap *snapshot) eachWord(ctx context.Context, visit func(word []byte, df int)) {
	var open []*lexicon
	for _, p := range snap.parts {
		l := &lexicon{}
		l.next, l.stop = iter.Pull2(func(yield func([]byte, int) bool) {
			p.seg.EachWord(nil, func(word []byte, df int) bool { return ctx.Err() == nil && yield(word, df) })
		})
		defer l.stop()
		open = append(open, l)
	}
	open = advance(open)
	var word []byte
	for len(open) > 0 {
		least := open[0].word
		for _, l := range open[1:] {
			if bytes.Compare(l.word, least) < 0 {
				least = l.word
			}
		}
		word = append(word[:0], least...)
		df := 0
		var moving, rest []*lexicon
		for _, l := range open {
			if bytes.Equal(l.word, word) {
				df += l.df
				moving = append(moving, l)
			} else {
				rest = append(rest, l)
			}
		}
		visit(word, df)
		open = append(rest, advance(moving)...)
	}
}

// advance goes to the next word of each, and gives those that have one.
func advance(all []*lexicon) (open []*lexicon) {
	for _, l := range all {
		var ok bool
		if l.word, l.df, ok = l.next(); ok {
			open = append(open, l)
		}
	}
	return open
}

// eachTitle visits the titles of all live documents, with their PageRank; of those that were never
// fetched, that is the commonest text of links to them. Where there are no ranks, all are equal.
func (snap *snapshot) eachTitle(ctx context.Context, visit func(title string, rank float64)) {
	for _, p := range snap.parts {
		p.seg.EachBare(func(ord vocab.Ordinal, info vocab.DocInfo) error {
			if info.Title == "" || p.dead.has(ord) {
				return ctx.Err()
			}
			rank := snap.rankOf(info.Doc)
			if snap.vector == nil {
				rank = 1 / float64(snap.docs)
			}
			visit(info.Title, rank)
			return ctx.Err()
		})
	}
}

// rest is how many times as long as learning took it waits until it learns again: while a crawl
// brings a new generation every few seconds, at most a tenth of one processor goes into it.
const rest = 10

// keepLearning learns whatever Refresh takes over, until ctx ends.
func (s *Searcher) keepLearning(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.news:
		}
		began := time.Now()
		if s.Learn(ctx) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest * time.Since(began)):
		}
	}
}
