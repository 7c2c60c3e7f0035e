package searcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/rankvector"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An UnknownRankError is the error for a request that names a rank vector that does not exist.
type UnknownRankError struct {
	Name  string
	Known []string // existing vectors
}

func (e *UnknownRankError) Error() string {
	if url, near := strings.CutPrefix(e.Name, NearPrefix); near {
		return fmt.Sprintf("there is no page %.200q in the index to rank others from", url)
	}
	known := "none is computed yet"
	if len(e.Known) > 0 {
		known = "there are " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("there is no rank vector %.100q; %s", e.Name, known)
}

// Unwrap returns fs.ErrNotExist, so that a query whose vector is newer than the snapshot is retried
// with the next one, see Searcher.readAgain.
func (e *UnknownRankError) Unwrap() error { return fs.ErrNotExist }

// maxNamed bounds the vectors in memory besides the current one: each takes 8 bytes per document.
const maxNamed = 8

// A namedView is a view with the ranks of another vector.
type namedView struct {
	base *view // keeps the segments open
	view *view
}

// ranked returns the view with the ranks of a named vector. It is valid as long as base is held.
func ranked(ctx context.Context, s *Searcher, base *view, name string) (*view, error) {
	if name == "" || name == base.rank && base.Ranked > 0 {
		return base, nil
	}
	near := strings.HasPrefix(name, NearPrefix)
	if !near && name != rankvector.None && !haveRank(base.shards, name) {
		return nil, unknownRank(base, name)
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	old := s.named[name]
	if old != nil && old.base == base {
		return old.view, nil
	}
	var v *view
	var err error
	if near {
		s.naming.Unlock() // it may take seconds, and the other vectors need not wait
		v, err = nearView(ctx, s, base, name)
		s.naming.Lock()
	} else {
		v, err = withRanks(s, base, name)
	}
	if err != nil {
		return nil, err
	}
	if s.named[name] == nil && len(s.named) >= maxNamed {
		clear(s.named)
	}
	s.named[name] = &namedView{base, v}
	return v, nil
}

// withRanks returns a view of the same segments with the ranks of a named vector, or without ranks.
func withRanks(s *Searcher, base *view, name string) (*view, error) {
	var shards []*snapshot.Snapshot
	for i, snap := range base.shards {
		other, err := s.stores[i].WithRanks(snap, name, nil)
		if err != nil {
			return nil, err
		}
		shards = append(shards, other)
	}
	return viewOf(s.serials.Add(1), base, shards, base.weights), nil
}

// viewOf returns a view like base of snapshots with ranks of their own, which w is for.
func viewOf(serial uint64, base *view, shards []*snapshot.Snapshot, w *scoring.Weights) *view {
	return newView(serial, base.weights, base.remote.Call, base.versions, shards, func(
		snap *snapshot.Snapshot, p *snapshot.Part, of shard.Statistics,
	) retrieval.StaticPoints {
		return snap.StaticPoints(p, w, of.Ranked)
	})
}

// nearView returns a view of the same segments with ranks near a page, given the name of the vector.
// Distant pages get the smallest positive rank, so that the number of ranked pages stays the same.
func nearView(ctx context.Context, s *Searcher, base *view, name string) (*view, error) {
	url := strings.TrimPrefix(name, NearPrefix)
	u, err := weburl.ParseTyped(url)
	if err != nil || s.o.Links == nil {
		return nil, &UnknownRankError{Name: name}
	}
	start, err := findPage(base, s.o.Links, &u)
	if errors.Is(err, ErrNotIndexed) {
		return nil, &UnknownRankError{Name: name}
	}
	if err != nil {
		return nil, err
	}
	var vectors []*rankvector.Vector
	for _, snap := range base.shards {
		v := &rankvector.Vector{Computed: time.Now().UTC(), Personalized: u.String()}
		if snap.Vector != nil {
			v.Ranks = slices.Clone(snap.Vector.Ranks)
		}
		for doc, rank := range v.Ranks {
			v.Ranks[doc] = min(rank, math.SmallestNonzeroFloat32)
		}
		vectors = append(vectors, v)
	}
	err = s.o.Links.Near(ctx, start.Doc, func(doc vocab.DocID, rank float64) {
		shard, inner := doc.Shard()
		v := vectors[min(shard, len(vectors)-1)]
		if missing := int(inner) + 1 - len(v.Ranks); missing > 0 {
			v.Ranks = append(v.Ranks, make([]float32, missing)...)
		}
		v.Ranks[inner] = float32(rank)
	})
	var shards []*snapshot.Snapshot
	for i, snap := range base.shards {
		shards = append(shards, snap.WithVector(vectors[i], name))
	}
	return viewOf(s.serials.Add(1), base, shards, base.weightsFor(&Request{Rank: name})), err
}

// forgetRanks drops the views made from one that is no longer current.
func forgetRanks(s *Searcher, base *view) {
	s.naming.Lock()
	defer s.naming.Unlock()
	maps.DeleteFunc(s.named, func(_ string, n *namedView) bool { return n.base == base })
}

// haveRank reports whether all shards that are not missing have a rank vector of a name.
func haveRank(shards []*snapshot.Snapshot, name string) (yes bool) {
	for _, snap := range shards {
		if yes = yes || !snap.Absent; !snap.Absent && snap.Ranks[name] == "" {
			return false
		}
	}
	return yes
}

// withDefaultRank returns the snapshots of all shards with the ranks of a named vector, and its name.
// If a shard that is not missing lacks it, or it cannot be read, the vector is rankvector.Default. old is
// the view before, or nil.
func withDefaultRank(s *Searcher, shards []*snapshot.Snapshot, old *view, name string) ([]*snapshot.Snapshot, string) {
	if name == rankvector.Default || !haveRank(shards, name) {
		return shards, rankvector.Default
	}
	var all []*snapshot.Snapshot
	for i, snap := range shards {
		var before *snapshot.Snapshot
		if old != nil {
			before = old.shards[i]
		}
		other, err := s.stores[i].WithRanks(snap, name, before)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // else it was replaced: the next Refresh reads the new one
				s.o.Damage.Add(damage.Rank, err)
			}
			return shards, rankvector.Default
		}
		all = append(all, other)
	}
	return all, name
}

// reportRank calls Options.OnNoRank if a view lacks the vector of a name, once until one has it.
func reportRank(s *Searcher, v *view, name string) {
	switch {
	case name == rankvector.Default || haveRank(v.shards, name):
		s.unknownRank = ""
	case s.o.OnNoRank != nil && s.unknownRank != name && v.Docs > 0:
		s.unknownRank = name
		s.o.OnNoRank(unknownRank(v, name))
	}
}

func unknownRank(base *view, name string) *UnknownRankError {
	var known []string
	for _, snap := range base.shards {
		if known = slices.Sorted(maps.Keys(snap.Ranks)); !snap.Absent {
			break
		}
	}
	return &UnknownRankError{name, known}
}
