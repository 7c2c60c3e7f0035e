package index

import (
	"fmt"
	"slices"
	"sync"

	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/sorter"
	"anatomy/vocab"
)

// A size counts the documents of a segment.
type size struct {
	docs, pages int
	length      length
}

func sizeOf(s *segment.Segment) size {
	n := size{docs: s.Docs()}
	for ord := range vocab.Ordinal(s.Docs()) {
		if s.Crawled(ord) {
			n.pages++
		}
		n.length.add(s.Words(ord))
	}
	return n
}

// A number identifies the files of one batch or merge.
type number uint64

func (n number) segment() string { return fmt.Sprintf("%06d", uint64(n)) }
func (n number) links() string   { return fmt.Sprintf("%06d.links", uint64(n)) }

// A publisher owns the manifest. While it is held back, changes stay in memory, and the manifest on
// disk keeps naming the previous index.
type publisher struct {
	writer    *datadir.Writer
	published func(datadir.Manifest) // called with mu locked; may be nil

	mu       sync.Mutex // guards what follows
	manifest datadir.Manifest
	held     bool
	sizes    map[string]size // by name of the segment
}

// current returns the manifest that the next change applies to.
func (p *publisher) current() datadir.Manifest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.manifest
}

// isHeldBack reports whether the manifest is held back.
func (p *publisher) isHeldBack() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// holdBack holds the manifest back and empties it, for an index that is being rebuilt.
func (p *publisher) holdBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = true
	p.manifest.Segments, p.manifest.Links = nil, nil
	p.manifest.Indexed, p.manifest.Known, p.manifest.Merged = 0, 0, false
}

// release publishes the manifest that was held back.
func (p *publisher) release() error {
	p.mu.Lock()
	p.held = false
	p.mu.Unlock()
	return p.change(func(*datadir.Manifest) {})
}

// change applies a change to the manifest and publishes it.
func (p *publisher) change(change func(*datadir.Manifest)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.manifest
	m.Segments, m.Links = slices.Clone(m.Segments), slices.Clone(m.Links)
	change(&m)
	if p.held {
		p.manifest = m
		return nil
	}
	m, err := p.writer.Publish(m)
	if err != nil {
		return err
	}
	p.manifest = m
	if p.published != nil {
		p.published(m)
	}
	return nil
}

// reserve returns the next number. It is used up even if the work fails: a file name is never
// reused.
func (p *publisher) reserve() number {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.manifest.Next
	p.manifest.Next++
	return number(n)
}

// average returns the average length for the impacts of a new segment, and sets it in the next
// manifest. more is the length of documents that are not in a segment yet, and whole reports
// whether the segment is the entire index. While the manifest is held back the segments are only a
// part of the collection, and the average is not updated.
func (p *publisher) average(more length, whole bool) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held && !whole && p.manifest.Average > 0 {
		return float64(p.manifest.Average)
	}
	all := more
	for _, name := range p.manifest.Segments {
		all = all.plus(p.sizes[name].length)
	}
	p.manifest.Average = nextAverage(p.manifest.Average, all)
	return float64(p.manifest.Average)
}

// setSize records the size of a segment.
func (p *publisher) setSize(name string, n size) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sizes[name] = n
}

// built records the size of a segment written by the sorter.
func (p *publisher) built(n number, stats sorter.Stats) {
	docs := stats.Segment.Docs
	p.setSize(n.segment(), size{
		docs: docs, pages: docs - stats.Uncrawled,
		length: length{words: stats.Segment.Words, texts: stats.Segment.Texts},
	})
}

// searchable returns the number of current segments and their size.
func (p *publisher) searchable() (segments int, all size) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range p.manifest.Segments {
		all.docs += p.sizes[name].docs
		all.pages += p.sizes[name].pages
	}
	return len(p.manifest.Segments), all
}
