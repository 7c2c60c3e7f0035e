package pagerank

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
)

// Memory of a graph while it is built and ranked, at most: the links twice, as a list and as
// sources; later sources, slots and copied contributions.
const (
	bytesPerLink = 12
	bytesPerNode = 48
)

// A linkStore keeps links in memory until they exceed a budget, and from then on disk.
type linkStore struct {
	memory    int64  // budget in bytes; 0: none
	dir       string // for scratch files
	selfLinks bool   // links may lead from a node to itself
	held      []*linkList
	links     int
	disk      *linkFile // nil while all links are in held
}

// fits reports whether the graph of the links so far fits the budget.
func (s *linkStore) fits(nodes int) bool {
	return s.memory == 0 || int64(s.links)*bytesPerLink+int64(nodes)*bytesPerNode <= s.memory
}

// checkFits fails with [ErrTooLarge] if the graph and more bytes for each link and node exceed the budget.
func (s *linkStore) checkFits(nodes int, perLink, perNode int64) error {
	need := int64(s.links)*(bytesPerLink+perLink) + int64(nodes)*(bytesPerNode+perNode)
	if s.memory > 0 && need > s.memory {
		return fmt.Errorf("the method takes %d bytes for %d nodes: %w of %d bytes", need, nodes, ErrTooLarge, s.memory)
	}
	return nil
}

func (s *linkStore) add(l *linkList) error {
	s.links += len(l.targets)
	s.held = append(s.held, l)
	if s.disk == nil && s.fits(0) {
		return nil
	}
	return s.spill()
}

// spill moves the links in memory to disk.
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

// graph builds the graph of links that are all in memory.
func (s *linkStore) graph(nodes int, seen *idSet, workers int) *Graph {
	if seen != nil {
		parallel(workers, len(s.held), func(_, i int) { s.held[i].rename(seen) })
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

// A linkFile is a scratch file of links in the order in which they came: source and target, 4 bytes
// each.
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
				return fmt.Errorf("write links: %w", err)
			}
		}
		targets = targets[run.links:]
	}
	return nil
}
