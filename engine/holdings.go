package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/web"
)

// holdings keep the last measurement, which opens every segment, for a while.
type holdings struct {
	mu   sync.Mutex
	last *web.Holdings
	at   time.Time
}

// holdingsFor is how long a measurement stands.
const holdingsFor = 10 * time.Second

// Holdings measures the data folder, at most every ten seconds.
func (s *Site) Holdings(context.Context) (*web.Holdings, error) {
	s.holdings.mu.Lock()
	defer s.holdings.mu.Unlock()
	if s.holdings.last != nil && time.Since(s.holdings.at) < holdingsFor {
		return s.holdings.last, nil
	}
	h, err := measure(s.dir)
	if errors.Is(err, fs.ErrNotExist) && s.holdings.last != nil {
		return s.holdings.last, nil // a merge took a segment away while we looked
	}
	if err == nil {
		s.holdings.last, s.holdings.at = h, time.Now()
	}
	return h, err
}

func measure(dir string) (*web.Holdings, error) {
	i, err := TakeInventory(dir)
	if err != nil {
		return nil, err
	}
	h := &web.Holdings{Pages: i.Pages, Uncrawled: i.Uncrawled, Words: int64(i.Words), Postings: int64(i.Postings), Links: int64(i.Links)}
	for _, r := range i.Rows {
		if r.Name != "total" {
			h.Disk = append(h.Disk, web.DiskHolding{Name: r.Name, Bytes: r.Bytes})
		}
	}
	if free, err := freeSpace(dir); err == nil {
		h.Free = free
	}
	if h.Segments, err = segmentHoldings(dir); err != nil {
		return nil, err
	}
	h.Ranks, err = rankHoldings(dir)
	return h, err
}

func segmentHoldings(dir string) (all []web.SegmentHolding, err error) {
	m, err := datadir.Read(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range m.Segments {
		path := datadir.Segment(dir, name)
		s, err := segment.Open(path, nil)
		if err != nil {
			return nil, err
		}
		h := web.SegmentHolding{Name: name, Documents: s.Docs()}
		if h.Bytes, err = folderSize(path); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// rankHoldings lists the vectors, that of the searcher first.
func rankHoldings(dir string) (all []web.RankHolding, err error) {
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(datadir.Rank(dir)), "*.rank"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		v, err := readVector(path)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue // replaced while we looked
		}
		h := web.RankHolding{Name: strings.TrimSuffix(filepath.Base(path), ".rank"), Computed: v.Computed, Used: path == datadir.Rank(dir),
			About: fmt.Sprintf("damping %g, %d iterations, residual %.2g", v.Damping, v.Iterations, v.Residual)}
		if v.Personalized != "" {
			h.About += ", to " + v.Personalized
		}
		all = append(all, h)
	}
	slices.SortStableFunc(all, func(a, b web.RankHolding) int {
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
