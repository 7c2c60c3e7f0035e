package pagerank

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// A linkList holds links in the order in which they came: 4 bytes each, and 8 for each change of source.
type linkList struct {
	runs    []run
	targets []uint32
}

// A run is links of one source that follow each other.
type run struct{ source, links uint32 }

func (l *linkList) add(source, target uint32) {
	if n := len(l.runs); n == 0 || l.runs[n-1].source != source || l.runs[n-1].links == math.MaxUint32 {
		l.runs = append(l.runs, run{source: source})
	}
	l.runs[len(l.runs)-1].links++
	l.targets = append(l.targets, target)
}

// What a graph takes in memory while it is built and ranked, at the most: the list of links and
// the sources, then these with their places and the copies of what sources give.
const (
	bytesPerLink = 12
	bytesPerNode = 48
)

// A linkStore keeps links in memory until they outgrow a budget, and on disk from there.
type linkStore struct {
	memory    int64  // bytes; 0: no bound
	dir       string // of the files
	selfLinks bool   // there may be some
	held      []*linkList
	links     int
	disk      *linkFile // nil while all are held
}

// fits says whether the graph of the links so far is to be built and ranked in memory.
func (s *linkStore) fits(nodes int) bool {
	return s.memory == 0 || int64(s.links)*bytesPerLink+int64(nodes)*bytesPerNode <= s.memory
}

func (s *linkStore) add(l *linkList) error {
	s.links += len(l.targets)
	s.held = append(s.held, l)
	if s.disk == nil && s.fits(0) {
		return nil
	}
	return s.spill()
}

// spill moves what is held to the disk.
func (s *linkStore) spill() (err error) {
	if s.disk == nil {
		if s.disk, err = newLinkFile(s.dir); err != nil {
			return err
		}
	}
	for _, l := range s.held {
		if err := s.disk.add(l); err != nil {
			return err
		}
	}
	s.held = nil
	return nil
}

// graph makes the graph in memory of links that fit there.
func (s *linkStore) graph(nodes int, seen *idSet, workers int) *Graph {
	if seen != nil {
		share(workers, len(s.held), func(_, i int) { s.held[i].rename(seen) })
	}
	held := s.held
	s.held = nil
	g := newGraph(nodes, held, workers)
	g.selfLinks = s.selfLinks
	return g
}

func (s *linkStore) close() {
	if s.disk != nil {
		s.disk.file.Close()
	}
	*s = linkStore{memory: s.memory, dir: s.dir}
}

// A linkFile is links as they came, 8 bytes each: source, target.
type linkFile struct {
	file *os.File
	out  *bufio.Writer
}

func newLinkFile(dir string) (*linkFile, error) {
	f, err := scratch(dir)
	if err != nil {
		return nil, err
	}
	return &linkFile{file: f, out: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (f *linkFile) add(l *linkList) error {
	targets := l.targets
	for _, run := range l.runs {
		for _, t := range targets[:run.links] {
			pair := binary.NativeEndian.AppendUint32(f.out.AvailableBuffer(), run.source)
			if _, err := f.out.Write(binary.NativeEndian.AppendUint32(pair, t)); err != nil {
				return fmt.Errorf("pagerank: write links: %w", err)
			}
		}
		targets = targets[run.links:]
	}
	return nil
}

// scratch makes a file that is gone when it is closed, and when the program is killed, where the
// system lets a file be removed that is open.
func scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "pagerank-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("pagerank: room for a graph that is larger than memory: %w", err)
	}
	_ = os.Remove(f.Name()) // where this fails the file is left to the cleaning of the folder
	return f, nil
}
