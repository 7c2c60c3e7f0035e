package searcher

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/suggest"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Knowledge is what corrections and completions are made from. It is learnt from one view and
// used with later ones, too: whatever it proposes is looked up in the view in force.
type knowledge struct {
	view        uint64 // its serial; 0 while names and completions are of an earlier view
	speller     *suggest.Speller
	names       *suggest.Dictionary
	completions *suggest.Completions
}

// Learn reads the terms and titles of the view in force, for corrections and completions, and
// returns when that is done, at once if nothing is new. Run calls it. Before the first Learn there
// are neither. Corrections are ready first: 276,594 pages take 0.6 s of CPU time for their terms,
// and 0.9 s for their titles and names. Learn leaves out what cannot be read; the error is that of ctx.
func (s *Searcher) Learn(ctx context.Context) error {
	s.learning.Lock()
	defer s.learning.Unlock()
	_, err := s.readOnce(func(v *view) error {
		k := s.learnt.Load()
		if k != nil && k.view == v.serial {
			return nil
		}
		words, names := suggest.NewBuilder(suggest.MaxWords), suggest.NewNameBuilder(suggest.MaxWords)
		var segments []*segment.Segment
		for p := range v.parts() {
			segments = append(segments, p.Segment)
		}
		segment.EachTermOf(segments, func(word []byte, df int) bool {
			words.Add(word, df)
			names.Add(word, df)
			return ctx.Err() == nil
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		learnt := knowledge{speller: &suggest.Speller{Words: words.Dictionary()}}
		if k != nil {
			learnt.names, learnt.completions = k.names, k.completions
		}
		corrects := learnt
		s.learnt.Store(&corrects)
		if k == nil {
			close(s.known)
		}
		phrases := suggest.NewCollector(suggest.MaxPhrases)
		eachTitle(ctx, v, phrases.AddTitle)
		if err := ctx.Err(); err != nil {
			return err
		}
		learnt.view, learnt.names, learnt.completions = v.serial, names.Dictionary(), phrases.Completions()
		s.learnt.Store(&learnt)
		return nil
	})
	return err
}

// learnShare is the share of the time that a request has left, for which one that found nothing
// waits for the first Learn.
const learnShare = 0.8

// awaitLearnt returns what the first Learn has learnt, nil if it does not end in time.
func (s *Searcher) awaitLearnt(clock *retrieval.Clock) *knowledge {
	ctx, cancel := clock.Share(learnShare).Context()
	defer cancel()
	select {
	case <-s.known:
	case <-ctx.Done():
	}
	return s.learnt.Load()
}

// idleFactor is how many times as long as Learn took keepLearning waits before the next: while a
// crawl publishes a generation every few seconds, at most a tenth of one processor learns.
const idleFactor = 10

// keepLearning calls Learn after each refresh with news, until ctx ends.
func (s *Searcher) keepLearning(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		began := time.Now()
		if s.Learn(ctx) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(idleFactor * time.Since(began)):
		}
	}
}

// eachTitle visits the titles of all live documents with their PageRank; of those never fetched,
// the commonest anchor text. Without ranks all are equal.
func eachTitle(ctx context.Context, v *view, visit func(title string, rank float64)) {
	for p := range v.parts() {
		p.Segment.EachBare(func(ord vocab.Ordinal, info vocab.DocInfo) error {
			if info.Title == "" || p.Dead.Has(ord) {
				return ctx.Err()
			}
			rank := v.rankOf(p.DocIDOf(ord))
			if v.ranked == 0 {
				rank = 1 / float64(v.docs)
			}
			visit(info.Title, rank)
			return ctx.Err()
		})
	}
}

// Bounds of completions.
const (
	MaxCompletions = 20
	maxTyped       = 200 // bytes
)

var completeTime = 4 * time.Millisecond // for one completion; tests change it

// Complete returns queries that begin with what was typed, the likeliest first, at most limit and
// MaxCompletions: titles of pages, by PageRank, and words and names that complete the last word, by how
// often they stand behind the one before it, or by document frequency. Each of them has results. It
// takes at most 5 ms. There are none before Learn.
func (s *Searcher) Complete(typed string, limit int) []string {
	k := s.learnt.Load()
	typed = strings.TrimLeftFunc(typed, unicode.IsSpace)
	if k == nil || typed == "" || len(typed) > maxTyped || limit <= 0 ||
		!utf8.ValidString(typed) || strings.ContainsFunc(typed, unicode.IsControl) {
		return nil
	}
	clock := retrieval.NewClock(context.Background(), completeTime)
	v := s.acquire()
	defer s.release(v)
	limit = min(limit, MaxCompletions)
	var found []string
	sources := suggest.Sources{
		Words: k.speller.Words, Names: k.names, Titles: k.completions, Evidence: &evidence{v, clock.Share(.5)},
	}
	for _, text := range sources.Propose(typed, 2*limit) {
		if len(found) == limit || clock.Check() {
			break
		}
		if v.count(query.Parse(text).Root, clock, 1) > 0 {
			found = append(found, text)
		}
	}
	return found
}
