package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
)

// holdings caches the last measurement, because each one opens every segment.
type holdings struct {
	mu   sync.Mutex
	last *Holdings
	at   time.Time
}

// holdingsFor is the time for which a measurement is cached.
const holdingsFor = 10 * time.Second

// Holdings returns the content and size of the data folder, measured at most every ten seconds.
func (s *Site) Holdings(context.Context) (*Holdings, error) {
	s.holdings.mu.Lock()
	defer s.holdings.mu.Unlock()
	if s.holdings.last != nil && time.Since(s.holdings.at) < holdingsFor {
		return s.holdings.last, nil
	}
	h, err := measure(s.dir, s.Searcher.Stats().Rank)
	if errors.Is(err, fs.ErrNotExist) && s.holdings.last != nil {
		return s.holdings.last, nil // a merge deleted a segment meanwhile
	}
	if err == nil {
		s.holdings.last, s.holdings.at = h, time.Now()
	}
	return h, err
}

func measure(dir, usedRank string) (*Holdings, error) {
	i, err := ReadInventory(dir)
	if err != nil {
		return nil, err
	}
	h := &Holdings{Pages: i.Pages, Uncrawled: i.Uncrawled, Words: int64(i.Words), Postings: int64(i.Postings), Links: int64(i.Links)}
	for _, r := range i.Rows {
		if r.Name != "total" {
			h.Disk = append(h.Disk, DiskHolding{Name: r.Name, Bytes: r.Bytes})
		}
	}
	if free, err := datadir.FreeSpace(dir); err == nil {
		h.Free = free
	}
	dirs, err := allShards(dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		some, err := segmentHoldings(dir)
		if err != nil {
			return nil, err
		}
		h.Segments = append(h.Segments, some...)
	}
	h.Ranks, err = rankHoldings(dirs[0], usedRank)
	return h, err
}

func segmentHoldings(dir string) (all []SegmentHolding, err error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range m.Segments {
		path := datadir.Segment(dir, name)
		s, err := segment.Open(path, nil)
		if err != nil {
			return nil, err
		}
		h := SegmentHolding{Name: name, Documents: s.Docs()}
		if h.Bytes, err = datadir.FolderSize(path); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// rankHoldings returns the rank vectors, the used one first.
func rankHoldings(dir, used string) (all []RankHolding, err error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range m.RankNames() {
		v, err := rankvector.ReadFolder(dir, name)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue // removed meanwhile
		}
		h := RankHolding{Name: name, Computed: v.Computed, Used: name == used,
			About: fmt.Sprintf("damping %g, %d iterations, residual %.2g", v.Damping, v.Iterations, v.Residual)}
		if v.Personalized != "" {
			h.About += ", to " + v.Personalized
		}
		all = append(all, h)
	}
	slices.SortStableFunc(all, func(a, b RankHolding) int {
		switch {
		case a.Used:
			return -1
		case b.Used:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all, nil
}
