package searcher

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"anatomy/disk/rankvector"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/snapshot"
)

// An UnknownRankError says that a request names a rank vector that does not exist.
type UnknownRankError struct {
	Name  string
	Known []string // those that exist
}

func (e *UnknownRankError) Error() string {
	known := "none is computed yet"
	if len(e.Known) > 0 {
		known = "there are " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("there is no rank vector %.100q; %s", e.Name, known)
}

// Unwrap returns fs.ErrNotExist, so that a query whose vector is newer than the snapshot is answered
// from the next one, see Searcher.readAgain.
func (e *UnknownRankError) Unwrap() error { return fs.ErrNotExist }

// maxNamed bounds the vectors held besides the one in force: each takes 8 bytes per document.
const maxNamed = 8

// A namedView is a view with the ranks of another vector.
type namedView struct {
	base *view // holds the segments open
	view *view
}

// ranked returns the view with the ranks of a named vector. It is valid as long as base is held.
func (s *Searcher) ranked(base *view, name string) (*view, error) {
	if name == "" || name == rankvector.Default && base.ranked > 0 {
		return base, nil
	}
	if name != rankvector.None && !base.hasRank(name) {
		return nil, unknownRank(base, name)
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	old := s.named[name]
	if old != nil && old.base == base {
		return old.view, nil
	}
	v, err := s.withRanks(base, name)
	if err != nil {
		return nil, fmt.Errorf("searcher: %w", err)
	}
	if old == nil && len(s.named) >= maxNamed {
		clear(s.named)
	}
	s.named[name] = &namedView{base, v}
	return v, nil
}

// withRanks returns a view of the same segments with the ranks of a named vector, or without ranks.
func (s *Searcher) withRanks(base *view, name string) (*view, error) {
	var shards []*snapshot.Snapshot
	for i, snap := range base.shards {
		other, err := s.stores[i].WithRanks(snap, name)
		if err != nil {
			return nil, err
		}
		shards = append(shards, other)
	}
	return newView(s.serials.Add(1), shards, func(
		snap *snapshot.Snapshot, p *snapshot.Part, of statistics,
	) retrieval.StaticPoints {
		return snap.StaticPoints(p, &s.o.Weights, of.ranked)
	}), nil
}

// forgetRanks drops the views made of one that is no longer in force.
func (s *Searcher) forgetRanks(base *view) {
	s.naming.Lock()
	defer s.naming.Unlock()
	maps.DeleteFunc(s.named, func(_ string, n *namedView) bool { return n.base == base })
}

// hasRank reports whether all shards have a rank vector of a name.
func (v *view) hasRank(name string) bool {
	return !slices.ContainsFunc(v.shards, func(snap *snapshot.Snapshot) bool { return snap.Ranks[name] == "" })
}

func unknownRank(base *view, name string) error {
	return &UnknownRankError{name, slices.Sorted(maps.Keys(base.shards[0].Ranks))}
}
