// Package shard answers the calls of a query in one shard: the data of a collection, or of a part of
// it, in one data folder. Package searcher decides what depends on several shards.
package shard

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
}

// maxHostLabels bounds the words of host names that are examined for a query.
const maxHostLabels = 1000

// New returns a query in the shard of a snapshot, without open lists.
func New(snap *snapshot.Snapshot, w *scoring.Weights, clock *retrieval.Clock, a *Arena) Query {
	return Query{snap: snap, weights: w, clock: clock, arena: a}
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
// have it again, or if there was an error before.
func (q *Query) Unreadable(part *snapshot.Part, err, before error) error {
	if errors.Is(err, fs.ErrNotExist) || before != nil {
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
	for _, part := range q.snap.Parts {
		of, err := part.FormsOf(key, q.clock)
		if err != nil {
			q.Unreadable(part, err, nil)
		}
		all.Words = snapshot.Union(all.Words, of.Words)
		if len(of.Words) == 0 {
			if of.DF, err = part.Segment.DF(segment.Full, []byte(key.Word)); err != nil {
				q.Unreadable(part, err, nil)
			}
		}
		all.DF += of.DF
	}
	return all
}

// Open opens the posting lists of the words of a query, keeping those that are open, and determines
// their document frequencies, see DF. Dead documents count. For silent words it opens the short lists of
// titles, URLs and links, where they only count as parts of names.
func (q *Query) Open(t *scoring.Terms) (err error) {
	words := t.Words
	before, lists := q.words, q.lists
	q.words, q.lists = words, q.arena.parts.Alloc(len(q.snap.Parts))
	for i := range q.lists {
		q.lists[i] = q.arena.lists.Alloc(len(words))
	}
	q.df = q.arena.counts.Alloc(len(words))
	for k, word := range words {
		known, kind := slices.Index(before, word), segment.Full
		if t.IsSilent(k) {
			kind = segment.Short
		}
		for i, part := range q.snap.Parts {
			var list *segment.PostingIterator
			var failed error
			if known >= 0 {
				list = lists[i][known]
			} else if list, failed = q.arena.retrieval.Open(part.Segment, kind, word); failed != nil {
				err = q.Unreadable(part, failed, err)
			}
			if q.lists[i][k] = list; list != nil {
				q.df[k] += list.DF()
			}
		}
	}
	return err
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

// A HostDoc is a document with its host, in the form of URL keys.
type HostDoc struct {
	Doc  vocab.DocID
	Host string
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
