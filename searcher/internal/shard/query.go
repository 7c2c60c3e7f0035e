// Package shard answers the calls of a query in one shard: the data of a collection, or of a part of
// it, in one data folder. Package searcher decides what depends on several shards.
package shard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A Query is a query in one shard. The steps of the pipeline make these calls to the shards, in
// this order:
//
//	Has, Forms, Open   statistics: which terms exist, their forms, document frequencies
//	Hosts, OpenSites   hosts with a name, documents of preferred sites
//	Collect            the first phase: the best candidates by impact
//	Matches, Count     whether a document matches; how many match
//	Score              the second phase: exact scores
//	Held               which terms documents contain, for a relaxed query
//	Present, Explain   snippets and explanations
//	Tally              facets
//
// Arguments and results are plain data that refer to no segment of another shard. The caller
// decides everything that depends on several shards, and passes it as arguments: idf, the
// statistics, home pages, thresholds, collapsed pages. A Query keeps lists of earlier calls open.
// It belongs to one goroutine at a time.
type Query struct {
	snap    *snapshot.Snapshot
	weights *scoring.Weights
	clock   *retrieval.Clock
	arena   *Arena

	words  []string                     // Open
	df     []int                        // Open: document frequency by word
	lists  [][]*segment.PostingIterator // Open: full lists by part and word; nil where a part lacks it
	sites  [][]*retrieval.RangeIterator // OpenSites: documents by site and part
	damage []error                      // unreadable parts, for the response
	remote *remote                      // nil if the shard is whole
}

// maxHostLabels bounds the words of host names that are examined for a query.
const maxHostLabels = 1000

// New returns a query in the shard of a snapshot, without open lists. If the shard is light, calls
// that need its lists or texts are made by r.
func New(snap *snapshot.Snapshot, w *scoring.Weights, clock *retrieval.Clock, a *Arena, r Remote) Query {
	q := Query{snap: snap, weights: w, clock: clock, arena: a}
	if snap.Light() {
		q.remote = &remote{Remote: r}
	}
	return q
}

// Over reports whether the time of the query is up.
func (q *Query) Over() bool { return q.clock.Over() }

// TakeDamage returns the unreadable parts found since the last call.
func (q *Query) TakeDamage() []error {
	damage := q.damage
	q.damage = nil
	return damage
}

// DF returns the document frequencies of the open words.
func (q *Query) DF() []int { return q.df }

// Unreadable records that a part of the index cannot be read, and returns nil if the query can
// continue without it. It returns the error if a file has vanished, because the next snapshot may
// have it again, if the part is light, or if there was an error before.
func (q *Query) Unreadable(part *snapshot.Part, err, before error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, segment.ErrLight) || before != nil {
		return errors.Join(before, err)
	}
	q.damage = append(q.damage, fmt.Errorf("segment %s: %w", part.Name, err))
	return nil
}

// walk returns a walk over a part that only matches.
func (q *Query) walk(part *snapshot.Part) *retrieval.Walk {
	return q.arena.retrieval.Walk(&part.Part, retrieval.Terms{}, nil, q.clock)
}

// Has reports which identifiers exist in the shard.
func (q *Query) Has(all []scoring.Identifier) (has []bool, err error) {
	has = make([]bool, len(all))
	for _, part := range q.snap.Parts {
		for i, id := range all {
			df, failed := part.Segment.DF(segment.Full, []byte(id.Term))
			if failed != nil {
				err = q.Unreadable(part, failed, err)
				break
			}
			has[i] = has[i] || df > 0
		}
	}
	return has, err
}

// Forms returns the forms of a term in the shard, and the number of documents that contain the term
// or one of them.
func (q *Query) Forms(key snapshot.FormsKey) (all snapshot.Forms) {
	var asked []snapshot.Forms
	for i, part := range q.snap.Parts {
		of, err := part.FormsOf(key, q.clock)
		if q.remote != nil && errors.Is(err, segment.ErrLight) {
			if asked == nil {
				asked = q.askForms(key)
			}
			if asked == nil {
				return snapshot.Forms{} // the shard counts as missing
			}
			of, err = asked[i], nil
		}
		if err != nil {
			q.Unreadable(part, err, nil)
		}
		if len(of.Words) == 0 {
			if of.DF, err = part.Segment.DF(segment.Full, []byte(key.Word)); err != nil {
				q.Unreadable(part, err, nil)
			}
		}
		all.Add(of)
	}
	return all
}

// Open opens the posting lists of the words of a query, keeping those that are open, and determines
// their document frequencies, see DF. Dead documents count. For silent words it opens the short lists of
// titles, URLs and links, where they only count as parts of names.
func (q *Query) Open(t *scoring.Terms) (err error) {
	if q.remote != nil { // a relaxed query continues with the earlier one
		copied := *q.remote
		q.remote, copied.terms = &copied, t
	}
	words := t.Words
	before, lists := q.words, q.lists
	q.words, q.lists = words, q.arena.parts.Alloc(len(q.snap.Parts))
	for i := range q.lists {
		q.lists[i] = q.arena.lists.Alloc(len(words))
	}
	q.df = q.arena.counts.Alloc(len(words))
	for k, word := range words {
		known, kind := slices.Index(before, word), listOf(t, k)
		for i, part := range q.snap.Parts {
			var list *segment.PostingIterator
			var failed error
			if known >= 0 {
				list = lists[i][known]
			} else {
				list, failed = q.arena.retrieval.Open(part.Segment, kind, word)
			}
			if q.lists[i][k] = list; list != nil {
				q.df[k] += list.DF()
				continue
			}
			if q.remote != nil && (known >= 0 || errors.Is(failed, segment.ErrLight)) {
				var n int
				n, failed = part.Segment.DF(kind, []byte(word))
				q.df[k] += n
				q.remote.lacks = q.remote.lacks || n > 0
			}
			if failed != nil {
				err = q.Unreadable(part, failed, err)
			}
		}
	}
	return err
}

// listOf returns the list of a term that scores.
func listOf(t *scoring.Terms, i int) segment.List {
	if t.IsSilent(i) {
		return segment.Short
	}
	return segment.Full
}

// Hosts returns the words of host names that a term spells, the first maxHostLabels of them.
func (q *Query) Hosts(term string) (found []snapshot.HostLabel) {
	for _, part := range q.snap.Parts {
		labels := part.HostLabels()
		from, _ := slices.BinarySearchFunc(labels, term, func(l snapshot.HostLabel, term string) int {
			return cmp.Compare(l.Word, term)
		})
		to, end := from, min(from+maxHostLabels, len(labels))
		for to < end && scoring.Spells(term, labels[to].Word) {
			to++
		}
		found = MergeLabels(found, labels[from:to])
	}
	return found
}

// MergeLabels returns the first maxHostLabels of two sorted lists, without duplicates. It modifies
// neither.
func MergeLabels(some, more []snapshot.HostLabel) []snapshot.HostLabel {
	switch {
	case len(some) == 0:
		return more
	case len(more) == 0:
		return some
	}
	all := slices.Concat(some, more)
	slices.SortFunc(all, snapshot.HostLabel.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), maxHostLabels)]
}

// OpenSites finds the documents of sites, for InSite.
func (q *Query) OpenSites(sites []string) error {
	if q.remote != nil {
		q.remote.sites = sites
	}
	q.sites = nil
	for _, site := range sites {
		docs := make([]*retrieval.RangeIterator, len(q.snap.Parts))
		for i, part := range q.snap.Parts {
			w := q.walk(part)
			if docs[i] = w.Site(site); w.Err() != nil {
				if err := q.Unreadable(part, w.Err(), nil); err != nil {
					return err
				}
			}
		}
		q.sites = append(q.sites, docs)
	}
	return nil
}

// InSite reports whether a document belongs to a site, given the site's index in OpenSites.
func (q *Query) InSite(site, part int, ord vocab.Ordinal) bool {
	return q.sites[site][part].Advance(ord) == ord
}

// SiteDocs returns the first n documents of a host and its subdomains in the order of URLs.
func (q *Query) SiteDocs(host string, n int) (docs []HostDoc, err error) {
	for _, part := range q.snap.Parts {
		w := q.walk(part)
		it := w.Site(host)
		for ord := it.Advance(0); ord != retrieval.End && len(docs) < n; ord = it.Advance(ord + 1) {
			if !part.Dead.Has(ord) {
				docs = append(docs, HostDoc{part.DocIDOf(ord), part.Segment.Host(ord)})
			}
		}
		err = errors.Join(err, w.Err())
	}
	return docs, err
}

// remote is the state of a Query in a light shard.
type remote struct {
	Remote
	terms  *scoring.Terms // nil before Open
	lacks  bool           // the lists of some terms are not on this machine
	sites  []string
	failed error // the first failure; then all later calls are empty
}

// Failed reports whether calls to other machines failed.
func (q *Query) Failed() bool { return q.remote != nil && q.remote.failed != nil }

// send sends a call. After a failure the reply is empty: the shard counts as missing.
func (q *Query) send(c *Call) (r Reply) {
	if q.remote.failed != nil {
		return r
	}
	if err := q.exchange(c, &r); err != nil {
		q.remote.failed = err
		return Reply{}
	}
	if r.Over {
		q.clock.End()
	}
	for _, text := range r.Damage {
		q.damage = append(q.damage, &RemoteError{text})
	}
	return r
}

// A RemoteError is damage of the index on another machine.
type RemoteError struct{ text string }

func (e *RemoteError) Error() string { return e.text }

// Times of a call. A machine that does not answer leaves time for the other shards.
const (
	callShare  = 0.5                    // of the remaining time
	finishTime = 500 * time.Millisecond // of a call that finishes an answer, whatever time remains
)

func (q *Query) exchange(c *Call, r *Reply) error {
	if q.remote.Call == nil {
		return ErrAlone
	}
	c.Key, c.Variant, c.Terms, c.Sites = q.snap.Key(), q.remote.Variant, q.remote.terms.Inputs(), q.remote.sites
	if c.Terms != nil {
		c.Terms.Root = nodeFor(c.Terms.Root, q.snap.Base)
	}
	clock := q.clock.Share(callShare)
	if c.finishes() {
		clock = q.clock.Grace(finishTime)
	} else {
		c.Within = clock.Left()
	}
	request, err := json.Marshal(c)
	if err != nil {
		return err
	}
	ctx, cancel := clock.Context()
	defer cancel()
	number, _ := q.snap.Base.Shard()
	reply, err := q.remote.Call(ctx, number, request)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply, r); err != nil {
		return fmt.Errorf("the reply about shard %d is damaged: %w", number, err)
	}
	return nil
}

// errReply is the error for a reply that does not fit its call.
var errReply = errors.New("the reply of another machine does not fit its call")

// here reports whether all lists of the terms are on this machine. Short ones are in the dictionary,
// which light copies have.
func (q *Query) here() bool { return q.remote == nil || !q.remote.lacks }

// asks reports whether the result of a method must come from another machine: the method has failed
// because a list is not on this one.
func (q *Query) asks(err error) bool { return q.remote != nil && errors.Is(err, segment.ErrLight) }

// check makes the shard fail unless a reply fits its call.
func (q *Query) check(fits bool) bool {
	if !fits && q.remote.failed == nil && !q.clock.Over() {
		q.remote.failed = errReply
	}
	return fits
}

// own returns the indices of the pages in the shard, and their places.
func (q *Query) own(pages []scoring.Candidate) (at []int, places []place) {
	for _, i := range q.arena.inDiskOrder(pages, q.snap.Base) {
		at, places = append(at, i), append(places, placeOf(pages[i]))
	}
	return at, places
}

// pagesPerCall bounds the pages of a call.
const pagesPerCall = 10_000

// eachCall calls ask with the pages in the shard, at most pagesPerCall at once, while it returns true.
func (q *Query) eachCall(pages []scoring.Candidate, ask func(at []int, places []place) bool) {
	at, places := q.own(pages)
	for len(places) > 0 {
		n := min(len(places), pagesPerCall)
		if !ask(at[:n], places[:n]) {
			return
		}
		at, places = at[n:], places[n:]
	}
}

// askForms returns the forms of a term by part, or nil after a failure. Parts remember complete ones.
func (q *Query) askForms(key snapshot.FormsKey) []snapshot.Forms {
	reply := q.send(&Call{Forms: &key})
	if !q.check(len(reply.Forms) == len(q.snap.Parts) && !slices.ContainsFunc(reply.Forms, badForms)) {
		return nil
	}
	for i, part := range q.snap.Parts {
		slices.Sort(reply.Forms[i].Words)
		if !reply.Over && len(reply.Damage) == 0 {
			part.RememberForms(key, reply.Forms[i])
		}
	}
	return reply.Forms
}

// badForms reports whether no segment has such forms.
func badForms(of snapshot.Forms) bool {
	return of.DF < 0 || len(of.Words) > maxForms || len(of.Languages) > snapshot.MaxLanguages
}

// maxForms bounds the forms of a term in a segment: inflections and other spellings.
const maxForms = 4 * snapshot.MaxForms
