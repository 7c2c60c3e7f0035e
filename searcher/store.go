package searcher

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/memo"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A store holds the snapshot in force, and opens the next one when the data folder has changed.
//
// A snapshot has one reference from the store while it is in force, and one from each query that
// reads it. A handle has one from each snapshot that holds it. Both counts are guarded by mu.
type store struct {
	dir      string
	weights  *scoring.Weights
	cache    *segment.Cache
	damage   *damage.Log
	onChange func() // called after a snapshot was replaced

	serials atomic.Uint64 // of snapshots made so far

	refreshing sync.Mutex // one refresh at a time
	life       int        // how often the data folder was made anew; guarded by refreshing

	mu      sync.Mutex // guards what follows, and all references
	current *snapshot  // replaced by refresh alone
	handles map[handleKey]*handle
	lastErr error // of refresh

	naming sync.Mutex
	named  map[string]*namedRanks // guarded by naming
}

// acquire returns the snapshot in force, to be released.
func (s *store) acquire() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.refs++
	return s.current
}

func (s *store) release(snap *snapshot) {
	s.mu.Lock()
	var closing []*handle
	if snap.refs--; snap.refs == 0 {
		closing = s.dropHandles(snap.parts)
	}
	s.mu.Unlock()
	for _, h := range closing {
		h.seg.Close() // read-only: an error would lose nothing
	}
}

// dropHandles takes one reference off the handles of parts, and returns those without any.
func (s *store) dropHandles(parts []*part) (unused []*handle) {
	for _, p := range parts {
		if p.refs--; p.refs == 0 {
			delete(s.handles, p.key)
			unused = append(unused, p.handle)
		}
	}
	return unused
}

// maxRetries is how often a query is retried whose files vanished.
const maxRetries = 5

// read is readAgain, and reports an error that says that a segment is damaged.
func (s *store) read(fn func(*snapshot) error) error {
	err := s.readAgain(fn)
	s.noteSegment(err)
	return err
}

// readAgain calls fn with the snapshot in force, and again with a newer one while files vanish
// because a merge in another process replaced their segment. Another query may have taken over the
// newer one.
func (s *store) readAgain(fn func(*snapshot) error) error {
	for tries := 0; ; tries++ {
		snap, err := s.readOnce(fn)
		if !errors.Is(err, fs.ErrNotExist) || tries == maxRetries {
			return err
		}
		if _, failed := s.refresh(); failed != nil || s.inForce(snap) {
			return err
		}
	}
}

// readOnce calls fn with the snapshot in force, which it returns.
func (s *store) readOnce(fn func(*snapshot) error) (*snapshot, error) {
	snap := s.acquire()
	defer s.release(snap)
	return snap, segment.Guard(func() error { return fn(snap) })
}

func (s *store) inForce(snap *snapshot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == snap
}

// refresh takes over what the data folder holds now, and reports whether that was new. On an error
// the snapshot in force stays.
func (s *store) refresh() (changed bool, err error) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	for range 5 { // a merge may remove segments between the reading of the manifest and their opening
		changed, err = s.replace()
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	s.mu.Lock()
	s.lastErr = err
	s.mu.Unlock()
	s.note(err)
	return changed, err
}

// note reports an error of a refresh that says that a structure is damaged.
func (s *store) note(err error) {
	var structure string
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return
	case errors.As(err, new(*datadir.DamageError)), errors.As(err, new(*datadir.MismatchError)):
		structure = damage.Manifest
	case errors.Is(err, errRank):
		structure = damage.Rank
	default:
		structure = damage.Index
	}
	s.damage.Add(structure, err)
}

// noteSegment reports an error that says that a segment is damaged. It reports the segment's own
// error, which is the same whatever the query was.
func (s *store) noteSegment(err error) {
	var of *segment.DamageError
	if errors.As(err, &of) && !errors.Is(err, fs.ErrNotExist) {
		s.damage.Add(damage.Index, of)
	}
}

// damaged reports that a part of the index cannot be read, and that resp lacks its pages.
func (s *store) damaged(resp *Response, err error) {
	if s.noteSegment(err); !errors.As(err, new(*segment.DamageError)) {
		s.damage.Add(damage.Index, err)
	}
	resp.Partial, resp.Damaged, resp.Exact = true, true, false
	resp.Why = "Part of the index is damaged, so pages may be missing."
}

var errRank = errors.New("the ranks cannot be read")

func (s *store) replace() (changed bool, err error) {
	manifest, err := datadir.ReadManifest(s.dir)
	if errors.Is(err, datadir.ErrNone) {
		manifest, err = datadir.Manifest{}, nil
	}
	if err != nil {
		return false, fmt.Errorf("searcher: %w", err)
	}
	old := s.current // only replace writes it
	if old != nil && old.folder == manifest.Folder && old.generation == manifest.Generation &&
		slices.Equal(old.segments, manifest.Segments) && maps.Equal(old.ranks, manifest.Ranks) {
		return false, nil
	}
	if old != nil && (manifest.Generation < old.generation || manifest.Folder != old.folder) {
		s.life++
	}
	snap, err := s.load(manifest, old)
	if err != nil {
		return false, fmt.Errorf("searcher: %w", err)
	}
	s.mu.Lock()
	s.current = snap
	s.mu.Unlock()
	s.onChange()
	if old != nil {
		s.forgetRanks(old)
		s.release(old)
	}
	return true, nil
}

// load opens a generation. It opens no segment that is open already.
func (s *store) load(m datadir.Manifest, old *snapshot) (snap *snapshot, err error) {
	snap = &snapshot{
		serial: s.serials.Add(1), folder: m.Folder, life: s.life, generation: m.Generation,
		segments: m.Segments, ranks: m.Ranks, rankFile: m.Ranks[rankvector.Default],
		homes: &memo.Memo[string, scoring.Candidate]{}, refs: 1,
	}
	snap.state = stateOf(snap)
	if old != nil && old.life == snap.life && old.rankFile == snap.rankFile {
		snap.vector = old.vector
	} else if snap.vector, err = rankvector.ReadNamed(s.dir, m, rankvector.Default); err != nil {
		return nil, fmt.Errorf("%w: %w", errRank, err)
	}
	for _, name := range m.Segments {
		h, err := s.open(name)
		if err != nil {
			s.release(snap)
			return nil, err
		}
		snap.parts = append(snap.parts, &part{handle: h, Part: retrieval.Part{Segment: h.seg, Name: name}})
	}
	findDead(snap)
	for _, p := range snap.parts {
		if !p.handle.static.Computed() || p.staticOf != snap.vector {
			p.handle.static, p.staticOf = snap.staticPoints(p.seg, s.weights), snap.vector
		}
		p.Static = p.handle.static
	}
	return snap, nil
}

func (s *store) open(name string) (*handle, error) {
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
	h = &handle{key: key, seg: seg, refs: 1}
	s.mu.Lock()
	s.handles[key] = h
	s.mu.Unlock()
	return h, nil
}

// findDead finds, from the newest segment back, which documents of each are replaced or deleted,
// and counts the live ones. Their average length is that of one segment with all of them.
func findDead(snap *snapshot) {
	known := docSet{}
	var words, texts uint64
	for i, p := range slices.Backward(snap.parts) {
		for ord := range vocab.Ordinal(p.seg.Docs()) {
			doc := p.seg.DocID(ord)
			if len(snap.parts) == 1 || !known.has(doc) {
				if n := p.seg.Words(ord); n > 0 {
					words, texts = words+uint64(n), texts+1
				}
				if i > 0 {
					known.add(doc)
				}
				continue
			}
			if p.Dead == nil {
				p.Dead = retrieval.NewBitmap(p.seg.Docs())
			}
			p.Dead.Add(ord)
			snap.docs--
		}
		snap.docs += p.seg.Docs()
		for _, doc := range p.seg.Tombstones() {
			known.add(doc)
		}
	}
	snap.average = int64(words / max(texts, 1))
}

// A docSet is a set of DocIDs, in pages, so that a damaged DocID costs no more than one page.
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

// stateOf names the index and the ranks that a snapshot is made of.
func stateOf(snap *snapshot) string {
	text := fmt.Sprint(snap.folder, snap.segments, snap.rankFile)
	return fmt.Sprintf("%x-%08x", snap.generation, crc32.ChecksumIEEE([]byte(text)))
}
