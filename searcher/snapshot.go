package searcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A snapshot is one generation of the index with one rank vector. It never changes. Its segments
// are closed when it was replaced and the last query that uses it has ended.
type snapshot struct {
	serial     uint64 // no other snapshot of the Searcher has it
	generation uint64
	segments   []string
	rankStamp  stamp
	state      string  // see stateOf
	parts      []*part // oldest first
	docs       int     // live ones
	average    int64   // words of a page's text, where it has any
	vector     *rankvector.Vector
	homes      *sync.Map // home pages by host, see homeOf; of this rank vector
	dating     sync.Once
	dated      *snapshot // see byDate
	refs       int       // guarded by Searcher.mu
}

// A part is a segment as a snapshot sees it.
type part struct {
	*handle
	dead   bitmap // documents that a later segment holds or removed; nil for none
	static statics
}

// A handle is an open segment, shared by the snapshots that hold it.
type handle struct {
	key  handleKey
	name string
	seg  *segment.Segment
	refs int // guarded by Searcher.mu

	static   statics            // see part; guarded by Searcher.refreshing
	staticOf *rankvector.Vector // what static was made of

	families families

	naming sync.Once
	names  []namePart // see namesOf
}

// Names of segments are not used twice in the life of a data folder, but folders are removed and
// made anew.
type handleKey struct {
	life int
	name string
}

// A stamp tells one version of a file from the next; the zero stamp is that of no file.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.ModTime(), info.Size()}, nil
}

// A bitmap is a set of ordinals; nil is the empty one.
type bitmap []uint64

func (b bitmap) has(i vocab.Ordinal) bool { return b != nil && b[i>>6]>>(i&63)&1 != 0 }

// urlKey is the sort key of a document's URL.
func (h *handle) urlKey(ord vocab.Ordinal) (string, error) {
	info, err := h.seg.Record(ord)
	if err != nil {
		return "", err
	}
	u, err := weburl.Parse(info.URL)
	if err != nil {
		return "", fmt.Errorf("segment %s: document %d: %w", h.name, ord, err)
	}
	return u.Key(), nil
}

// acquire gives the snapshot in force, to be released.
func (s *Searcher) acquire() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.refs++
	return s.current
}

func (s *Searcher) release(snap *snapshot) {
	s.mu.Lock()
	var closing []*handle
	if snap.refs--; snap.refs == 0 {
		closing = s.drop(snap.parts)
	}
	s.mu.Unlock()
	for _, h := range closing {
		h.seg.Close() // read-only: an error would lose nothing
	}
}

// drop takes one use off the segments of parts, and gives those that nobody uses now.
func (s *Searcher) drop(parts []*part) (unused []*handle) {
	for _, p := range parts {
		if p.refs--; p.refs == 0 {
			delete(s.handles, p.key)
			unused = append(unused, p.handle)
		}
	}
	return unused
}

// Refresh takes over what the data folder holds now, and says whether that was anything new.
// Queries under way end with what they began with. On an error the searcher stays as it was.
func (s *Searcher) Refresh() (changed bool, err error) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	for range 5 { // a merge may remove segments between the reading of the manifest and their opening
		changed, err = s.refresh()
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	s.mu.Lock()
	s.lastErr = err
	s.mu.Unlock()
	return changed, err
}

func (s *Searcher) refresh() (changed bool, err error) {
	manifest, err := datadir.Read(s.dir)
	if errors.Is(err, datadir.ErrNone) {
		manifest, err = datadir.Manifest{}, nil
	}
	if err != nil {
		return false, fmt.Errorf("searcher: %w", err)
	}
	rank, err := stampOf(datadir.Rank(s.dir))
	if err != nil {
		return false, fmt.Errorf("searcher: %w", err)
	}
	old := s.current // only Refresh replaces it
	if old != nil && old.generation == manifest.Generation && slices.Equal(old.segments, manifest.Segments) && old.rankStamp == rank {
		return false, nil
	}
	if old != nil && manifest.Generation < old.generation {
		s.life++
	}
	snap, err := s.load(manifest, rank, old)
	if err != nil {
		return false, fmt.Errorf("searcher: %w", err)
	}
	s.mu.Lock()
	s.current = snap
	s.mu.Unlock()
	s.answers.clear()
	if old != nil {
		s.forget(old)
		s.release(old)
	}
	select {
	case s.news <- struct{}{}:
	default: // there is one already
	}
	return true, nil
}

// load opens a generation. Segments that are open already are not opened again.
func (s *Searcher) load(m datadir.Manifest, rank stamp, old *snapshot) (snap *snapshot, err error) {
	snap = &snapshot{serial: s.snapshots.Add(1), generation: m.Generation, segments: m.Segments, rankStamp: rank, state: stateOf(m.Generation, m.Segments, rank), homes: &sync.Map{}, refs: 1}
	if old != nil && old.rankStamp == rank {
		snap.vector = old.vector
	} else if rank != (stamp{}) {
		if snap.vector, err = rankvector.Read(datadir.Rank(s.dir)); err != nil {
			return nil, err
		}
	}
	for _, name := range m.Segments {
		h, err := s.open(name)
		if err != nil {
			s.release(snap)
			return nil, err
		}
		snap.parts = append(snap.parts, &part{handle: h})
	}
	snap.bury()
	snap.rank(&s.o.Weights)
	return snap, nil
}

func (s *Searcher) open(name string) (*handle, error) {
	key := handleKey{s.life, name}
	s.mu.Lock()
	h := s.handles[key]
	if h != nil {
		h.refs++
	}
	s.mu.Unlock()
	if h != nil {
		return h, nil
	}
	seg, err := segment.Open(datadir.Segment(s.dir, name), s.cache)
	if err != nil {
		return nil, err
	}
	h = &handle{key: key, name: name, seg: seg, refs: 1}
	s.mu.Lock()
	s.handles[key] = h
	s.mu.Unlock()
	return h, nil
}

// bury finds, from the newest segment back, which documents of each are dead, and counts the rest.
func (snap *snapshot) bury() {
	known := docSet{}
	var words, texts uint64
	for i, p := range slices.Backward(snap.parts) {
		words += p.seg.TotalWords()
		for ord := range vocab.Ordinal(p.seg.Docs()) {
			if p.seg.Words(ord) > 0 {
				texts++
			}
			if len(snap.parts) == 1 {
				continue
			}
			doc := p.seg.Doc(ord)
			if !known.has(doc) {
				if i > 0 {
					known.add(doc)
				}
				continue
			}
			if p.dead == nil {
				p.dead = make(bitmap, (p.seg.Docs()+63)/64)
			}
			p.dead[ord>>6] |= 1 << (ord & 63)
			snap.docs--
		}
		snap.docs += p.seg.Docs()
		for _, doc := range p.seg.Removed() {
			known.add(doc)
		}
	}
	snap.average = int64(words / max(texts, 1))
}

// rank gives each document the points that it has whatever the query.
func (snap *snapshot) rank(w *Weights) {
	for _, p := range snap.parts {
		if p.handle.static.points == nil || p.staticOf != snap.vector {
			p.handle.static, p.staticOf = snap.statics(p.seg, w), snap.vector
		}
		p.static = p.handle.static
	}
}

func (snap *snapshot) statics(seg *segment.Segment, w *Weights) statics {
	points := make([]uint32, seg.Docs())
	least, span := w.staticRange()
	for ord := range vocab.Ordinal(seg.Docs()) {
		rank := w.PageRank(snap.rankOf(seg.Doc(ord)), snap.ranked())
		points[ord] = uint32(min(w.ofPage(rank, seg.Depth(ord), seg.Crawled(ord))-least, span))
	}
	return newStatics(points)
}

// rankOf is a document's share of all rank, 0 where it is not known.
func (snap *snapshot) rankOf(doc vocab.DocID) float64 {
	if snap.vector == nil || uint64(doc) >= uint64(len(snap.vector.Ranks)) {
		return 0
	}
	return float64(snap.vector.Ranks[doc])
}

// ranked is how many documents the rank vector is over.
func (snap *snapshot) ranked() int {
	if snap.vector == nil {
		return 0
	}
	return len(snap.vector.Ranks) - 1
}

// A docSet is a set of DocIDs, in pages, so that a damaged DocID costs one page and no more.
type docSet map[vocab.DocID]*[512]uint64

const docSetPage = 512 * 64

func (d docSet) has(doc vocab.DocID) bool {
	page := d[doc/docSetPage]
	return page != nil && page[doc%docSetPage/64]>>(doc%64)&1 != 0
}

func (d docSet) add(doc vocab.DocID) {
	page := d[doc/docSetPage]
	if page == nil {
		page = new([512]uint64)
		d[doc/docSetPage] = page
	}
	page[doc%docSetPage/64] |= 1 << (doc % 64)
}

// Run looks for news in the data folder every Options.Poll, and learns spellings and completions
// from them, until ctx ends. What keeps it from taking them over is in Stats.
func (s *Searcher) Run(ctx context.Context) error {
	ticker := time.NewTicker(s.o.Poll)
	defer ticker.Stop()
	var learner sync.WaitGroup
	learner.Go(func() { s.keepLearning(ctx) })
	s.follow(ctx, ticker.C)
	learner.Wait()
	return nil
}

func (s *Searcher) follow(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			s.Refresh()
		}
	}
}
