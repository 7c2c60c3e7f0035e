package searcher

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/internal/suggest"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// Knowledge is the data from which corrections and completions are made. It is learnt from one view
// and also used with later ones: everything that it proposes is looked up in the current view.
type knowledge struct {
	view        uint64 // serial of the view; 0 while completions are of an earlier one
	speller     *suggest.Speller
	completions *suggest.Completions
}

// Learn reads the terms and titles of the current view, for corrections and completions, and
// returns when that is done; at once if the view has not changed. Run calls it. Before the first
// Learn there are none. Corrections are ready first: 276,594 pages take 0.8 s of CPU time for their
// terms, and about 1.1 s for their titles. Learn skips unreadable data; the error is that of
// ctx.
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
		learnt := knowledge{speller: &suggest.Speller{Words: words.Dictionary(), Names: names.Dictionary()}}
		if k != nil {
			learnt.completions = k.completions
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
		learnt.view, learnt.completions = v.serial, phrases.Completions()
		s.learnt.Store(&learnt)
		return nil
	})
	return err
}

// learnShare is the share of the remaining time for which a request without results waits for the
// first Learn.
const learnShare = 0.8

// awaitLearnt returns the result of the first Learn, or nil if that does not finish in time.
func (s *Searcher) awaitLearnt(clock *retrieval.Clock) *knowledge {
	ctx, cancel := clock.Share(learnShare).Context()
	defer cancel()
	select {
	case <-s.known:
	case <-ctx.Done():
	}
	return s.learnt.Load()
}

// learnPause returns the pause before the next Learn, given the duration of the last one: while a
// crawl publishes a generation every few seconds, learning takes at most a thirtieth of one processor,
// and a small collection is not learnt for each generation.
func learnPause(took time.Duration) time.Duration { return max(30*time.Second, 30*took) }

// keepLearning calls Learn after each refresh that changed the view, until ctx ends.
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
		case <-time.After(learnPause(time.Since(began))):
		}
	}
}

// eachTitle visits the titles of all live documents with their PageRank; for documents that were
// never fetched, the commonest anchor text. Without ranks all have equal weight.
func eachTitle(ctx context.Context, v *view, visit func(title string, rank float64)) {
	for p := range v.parts() {
		p.Segment.EachBare(func(ord vocab.Ordinal, info vocab.DocInfo) error {
			if info.Title == "" || p.Dead.Has(ord) {
				return ctx.Err()
			}
			rank := v.rankOf(p.DocIDOf(ord))
			if v.Ranked == 0 {
				rank = 1 / float64(v.Docs)
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

// The work of a completion is bounded by steps of iterators, so that its result does not depend on the load of
// the machine: half of completeSteps count pairs of words. The time is a bound for slow disks; tests change it.
const completeSteps = 100_000

var completeTime = 250 * time.Millisecond

// Complete returns queries that begin with the typed text, likeliest first, at most limit and
// MaxCompletions: titles of pages, by PageRank, and words and names that complete the last word, by
// how often they follow the word before it, or by document frequency. A site: at the end is
// completed with hosts. Each has results. Its work is bounded by completeSteps, and it returns none before
// the first Learn.
func (s *Searcher) Complete(typed string, limit int) []string {
	k := s.learnt.Load()
	typed = strings.TrimLeftFunc(typed, unicode.IsSpace)
	if k == nil || typed == "" || len(typed) > maxTyped || limit <= 0 ||
		!utf8.ValidString(typed) || strings.ContainsFunc(typed, unicode.IsControl) {
		return nil
	}
	clock := retrieval.NewClock(context.Background(), completeTime).Bound(completeSteps / 2)
	v := s.acquire()
	defer s.release(v)
	limit = min(limit, MaxCompletions)
	var found []string
	sources := suggest.Sources{
		Words: k.speller.Words, Names: k.speller.Names, Titles: k.completions, Evidence: &evidence{v, clock.Share(.5).Bound(completeSteps / 2)},
		Members: func(owner, separator, prefix string) []string {
			return snapshot.Members(v.parts(), owner, separator, prefix)
		},
	}
	proposed := snapshot.ProposeSites(v.parts(), typed)
	if proposed == nil {
		proposed = sources.Propose(typed, 2*limit)
	}
	for _, text := range proposed[:min(len(proposed), 2*limit)] {
		if len(found) == limit || clock.Check() {
			break
		}
		if v.count(query.Parse(text).Root, clock, 1) > 0 {
			found = append(found, text)
		}
	}
	return found
}
