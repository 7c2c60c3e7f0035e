package searcher

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
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

// maxNamed bounds the vectors held besides the one in force: each takes 8 bytes per document.
const maxNamed = 8

// namedRanks is a snapshot with the ranks of another vector.
type namedRanks struct {
	base  *snapshot // holds the segments open
	stamp stamp     // of the vector's file
	snap  *snapshot
}

// ranked returns the snapshot with the ranks of a named vector. It is valid as long as base is
// held.
func (s *store) ranked(base *snapshot, name string) (*snapshot, error) {
	if name == "" || name == rankvector.Default && base.vector != nil {
		return base, nil
	}
	if rankvector.CheckName(name) != nil {
		return nil, s.unknownRank(name)
	}
	path := datadir.RankNamed(s.dir, name)
	stamp, err := stampOf(path)
	if err != nil {
		return nil, fmt.Errorf("searcher: %w", err)
	}
	s.naming.Lock()
	defer s.naming.Unlock()
	old := s.named[name]
	if old != nil && old.base == base && old.stamp == stamp {
		return old.snap, nil
	}
	vector, err := rankvector.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		delete(s.named, name)
		return nil, s.unknownRank(name)
	}
	if err != nil {
		return nil, fmt.Errorf("searcher: %w", err)
	}
	if old == nil && len(s.named) >= maxNamed {
		clear(s.named)
	}
	snap := s.withRanks(base, vector, stamp)
	s.named[name] = &namedRanks{base, stamp, snap}
	return snap, nil
}

// withRanks returns a snapshot of the same segments with other ranks.
func (s *store) withRanks(base *snapshot, vector *rankvector.Vector, stamp stamp) *snapshot {
	ranks := &snapshot{vector: vector}
	snap := base.withStatic(func(seg *segment.Segment) retrieval.StaticPoints {
		return ranks.staticPoints(seg, s.weights)
	})
	snap.vector, snap.rankStamp = vector, stamp
	snap.state = stateOf(base.generation, base.segments, stamp)
	snap.serial = s.serials.Add(1)
	return snap
}

// forgetRanks drops the snapshots made of one that is no longer in force.
func (s *store) forgetRanks(base *snapshot) {
	s.naming.Lock()
	defer s.naming.Unlock()
	maps.DeleteFunc(s.named, func(_ string, n *namedRanks) bool { return n.base == base })
}

func (s *store) unknownRank(name string) error {
	known, err := rankvector.Names(filepath.Dir(datadir.Rank(s.dir)))
	if err != nil {
		return fmt.Errorf("searcher: %w", err)
	}
	return &UnknownRankError{name, known}
}
