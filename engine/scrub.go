package engine

import (
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A crawl that never ends is never stopped for a check, and disks corrupt data over time. So it
// reads its repository again when there is nothing to fetch: 4 MB every ten seconds are at most 35
// GB a day, at some hundredths of a processor. After the end of the repository it reads the index,
// and rests before the next pass: a small repository would be read every minute.
const (
	scrubBytes = 4 << 20
	scrubEvery = 10 * time.Second
	scrubRest  = 6 * time.Hour
)

// A scrubber reads the repository again to detect damage. One goroutine calls scrub.
type scrubber struct {
	*stages
	every time.Duration
	rest  time.Duration // between two passes
	next  vocab.Address // where to continue
	last  time.Time     // time of the last read
	ended time.Time     // end of the last pass
	index []string      // files of the index to read before the repository is read again

	mu     sync.Mutex // guards what follows
	bytes  int64      // bytes read by this run
	rounds int64      // complete passes
}

// scrub reads a part of the repository or, after its end, a segment or link run, if it is due and
// nothing is to be fetched.
func (s *scrubber) scrub() error {
	if !s.watches() || time.Since(s.last) < s.every {
		return nil
	}
	if st := s.urls.Stats(); st.Queued > 0 || st.InFlight > 0 {
		return nil
	}
	if len(s.index) > 0 {
		s.scrubIndex()
		return nil
	}
	if s.next == 0 && time.Since(s.ended) < s.rest {
		return nil
	}
	next, read, err := s.repo.Scrub(s.next, scrubBytes, func(problem error) {
		s.damage.Add(damage.Repository, problem)
	})
	s.next, s.last = next, time.Now()
	if next == 0 {
		m := s.builder.Manifest()
		if s.index = append(slices.Clone(m.Segments), m.Links...); len(s.index) == 0 {
			s.ended = s.last
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes += read; next == 0 {
		s.rounds++
	}
	return err
}

// scrubIndex reads the next segment or link run. It skips one that a merge has deleted meanwhile.
func (s *scrubber) scrubIndex() {
	name := s.index[0]
	if s.index = s.index[1:]; len(s.index) == 0 {
		s.ended = time.Now()
	}
	m := s.builder.Manifest()
	var err error
	structure := damage.Index
	switch {
	case slices.Contains(m.Segments, name):
		err = segment.Check(datadir.Segment(s.dir, name))
	case slices.Contains(m.Links, name):
		structure = damage.Links
		_, err = linkdb.Check(datadir.Links(s.dir, name))
	}
	s.last = time.Now()
	if !errors.Is(err, fs.ErrNotExist) {
		s.damage.Add(structure, err)
	}
}

// counts returns the bytes read by this run, and the number of complete passes over the repository.
func (s *scrubber) counts() (bytes, rounds int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, s.rounds
}
