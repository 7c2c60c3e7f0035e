package searcher

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
)

// An UnknownRankError says that a request names a rank vector that is not there.
type UnknownRankError struct {
	Name  string
	Known []string // those that are there
}

func (e *UnknownRankError) Error() string {
	known := "none is computed yet"
	if len(e.Known) > 0 {
		known = "there are " + strings.Join(e.Known, ", ")
	}
	return fmt.Sprintf("there is no rank vector %.100q; %s", e.Name, known)
}

// maxNamed bounds the vectors that are held ready beside the one in force: each takes 8 bytes a document.
const maxNamed = 8

// namedRanks are a snapshot with the ranks of another vector.
type namedRanks struct {
	base  *snapshot // which holds the segments open
	stamp stamp     // of the vector's file
	snap  *snapshot
}

// ranked gives the snapshot with the ranks of the vector of a name. It is good for as long as base is held.
func (s *Searcher) ranked(base *snapshot, name string) (*snapshot, error) {
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
	s.ranking.Lock()
	defer s.ranking.Unlock()
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
	snap := base.withRanks(vector, stamp, &s.o.Weights)
	snap.serial = s.snapshots.Add(1)
	s.named[name] = &namedRanks{base, stamp, snap}
	return snap, nil
}

// forget lets go of what was made of a snapshot that is not in force any more.
func (s *Searcher) forget(base *snapshot) {
	s.ranking.Lock()
	defer s.ranking.Unlock()
	maps.DeleteFunc(s.named, func(_ string, n *namedRanks) bool { return n.base == base })
}

func (s *Searcher) unknownRank(name string) error {
	known, err := rankvector.Names(filepath.Dir(datadir.Rank(s.dir)))
	if err != nil {
		return fmt.Errorf("searcher: %w", err)
	}
	return &UnknownRankError{name, known}
}

// withRanks is the snapshot with other ranks, of segments that snap holds open.
func (snap *snapshot) withRanks(vector *rankvector.Vector, stamp stamp, w *Weights) *snapshot {
	other := &snapshot{generation: snap.generation, segments: snap.segments, rankStamp: stamp, state: stateOf(snap.generation, snap.segments, stamp), docs: snap.docs, average: snap.average, vector: vector, homes: &sync.Map{}}
	for _, p := range snap.parts {
		other.parts = append(other.parts, &part{handle: p.handle, dead: p.dead, static: other.statics(p.seg, w)})
	}
	return other
}

// rankUsed is what a response says of the ranks.
func (snap *snapshot) rankUsed(name string) RankUsed {
	if snap.vector == nil {
		return RankUsed{}
	}
	if name == "" {
		name = rankvector.Default
	}
	return RankUsed{name, snap.vector.Computed, snap.vector.Personalized}
}
