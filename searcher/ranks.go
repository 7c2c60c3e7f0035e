package searcher

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
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
// from the next one, see store.readAgain.
func (e *UnknownRankError) Unwrap() error { return fs.ErrNotExist }

// maxNamed bounds the vectors held besides the one in force: each takes 8 bytes per document.
const maxNamed = 8

// namedRanks is a snapshot with the ranks of another vector.
type namedRanks struct {
	base *snapshot // holds the segments open
	snap *snapshot
}

// ranked returns the snapshot with the ranks of a named vector. It is valid as long as base is
// held.
func (s *store) ranked(base *snapshot, name string) (*snapshot, error) {
	if name == "" || name == rankvector.Default && base.vector != nil {
		return base, nil
	}
	file := base.ranks[name]
	if file == "" {
		return nil, unknownRank(base, name)
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	old := s.named[name]
	if old != nil && old.base == base {
		return old.snap, nil
	}
	vector, err := rankvector.Read(datadir.Rank(s.dir, file))
	if err != nil {
		return nil, fmt.Errorf("searcher: %w", err)
	}
	if old == nil && len(s.named) >= maxNamed {
		clear(s.named)
	}
	snap := s.withRanks(base, vector, file)
	s.named[name] = &namedRanks{base, snap}
	return snap, nil
}

// withRanks returns a snapshot of the same segments with other ranks.
func (s *store) withRanks(base *snapshot, vector *rankvector.Vector, file string) *snapshot {
	ranks := &snapshot{vector: vector}
	snap := base.withStatic(func(seg *segment.Segment) retrieval.StaticPoints {
		return ranks.staticPoints(seg, s.weights)
	})
	snap.vector, snap.rankFile = vector, file
	snap.state = stateOf(snap)
	snap.serial = s.serials.Add(1)
	return snap
}

// forgetRanks drops the snapshots made of one that is no longer in force.
func (s *store) forgetRanks(base *snapshot) {
	s.naming.Lock()
	defer s.naming.Unlock()
	maps.DeleteFunc(s.named, func(_ string, n *namedRanks) bool { return n.base == base })
}

func unknownRank(base *snapshot, name string) error {
	return &UnknownRankError{name, slices.Sorted(maps.Keys(base.ranks))}
}
