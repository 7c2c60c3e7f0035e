package snapshot

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/disk/translations"
	"anatomy/searcher/internal/retrieval"
	"anatomy/vocab"
)

// A Store holds the current snapshot of a shard, and opens the next one when the data folder has
// changed.
//
// A snapshot has one reference from the store while it is current, and one from each view that
// holds it. A handle has one from each snapshot that holds it. Both counts are guarded by mu.
type Store struct {
	dir    string // data folder
	shard  int
	cache  *segment.Cache
	damage *damage.Log
	now    func() time.Time

	// Used only by Refresh:
	life      int // how often the data folder was replaced, or segments became light or whole
	versions  translations.Cache
	manifests datadir.ManifestReader

	mu      sync.Mutex // guards what follows, and all references
	current *Snapshot  // replaced only by Refresh
	refs    map[*Snapshot]int
	handles map[handleKey]*handle
	lastErr error // of the last refresh
}

// NewStore returns the store of a data folder, without a snapshot until the first Refresh. damage
// receives the damage found.
func NewStore(
	dir string, shard int, cache *segment.Cache, damage *damage.Log, now func() time.Time,
) *Store {
	return &Store{
		dir: dir, shard: shard, cache: cache, damage: damage, now: now,
		manifests: datadir.ManifestReader{Dir: dir},
		refs:      map[*Snapshot]int{}, handles: map[handleKey]*handle{},
	}
}

// Open returns the number of open segments.
func (s *Store) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.handles)
}

// Acquire returns the current snapshot. The caller releases it.
func (s *Store) Acquire() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refs[s.current]++
	return s.current
}

// Hold acquires a snapshot that the caller has acquired before.
func (s *Store) Hold(snap *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refs[snap]++
}

// Release releases a snapshot. Its segments are closed if no other snapshot holds them.
func (s *Store) Release(snap *Snapshot) {
	s.mu.Lock()
	var closing []*handle
	if s.refs[snap]--; s.refs[snap] == 0 {
		delete(s.refs, snap)
		closing = s.dropHandles(snap.Parts)
	}
	s.mu.Unlock()
	for _, h := range closing {
		h.seg.Close() // read-only, so an error loses nothing
	}
}

// Close releases the current snapshot.
func (s *Store) Close() {
	if s.current != nil {
		s.Release(s.current)
	}
}

// Failed returns the error of the last Refresh.
func (s *Store) Failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastErr
}

// WithRanks returns a snapshot of the same segments with the ranks of a named vector, or without
// ranks, as of a missing shard. It shares the vector with old, nil for none, if it has the same one. It
// is valid while snap is held.
func (s *Store) WithRanks(snap *Snapshot, name string, old *Snapshot) (*Snapshot, error) {
	other := *snap
	other.rankFile = snap.Ranks[name]
	other.State = stateOf(&other)
	if other.Vector = nil; name == rankvector.None || snap.Absent {
		return &other, nil
	}
	if old != nil && old.life == snap.life && old.rankFile == other.rankFile {
		other.Vector = old.Vector
		return &other, nil
	}
	var err error
	other.Vector, err = rankvector.Read(datadir.Rank(s.dir, other.rankFile))
	return &other, err
}

// WithVector returns a snapshot of the same segments with ranks that are not in a file. name is
// that of the vector. It is valid while snap is held.
func (snap *Snapshot) WithVector(v *rankvector.Vector, name string) *Snapshot {
	other := *snap
	other.rankFile = name
	other.State, other.Vector = stateOf(&other), v
	return &other
}

// dropHandles releases one reference to each handle of parts, and returns the handles without
// references.
func (s *Store) dropHandles(parts []*Part) (unused []*handle) {
	for _, p := range parts {
		if p.refs--; p.refs == 0 {
			delete(s.handles, p.key)
			unused = append(unused, p.handle)
		}
	}
	return unused
}

// replaceWait bounds the wait for a folder whose files are being replaced.
const replaceWait = 3 * time.Second

// Refresh opens the current state of the data folder, and reports whether it has changed. After an
// error the current snapshot stays. It is not safe for concurrent use.
func (s *Store) Refresh() (changed bool, err error) {
	for range 5 { // a merge may remove segments after the manifest was read and before they are opened
		changed, err = s.replace()
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.As(err, new(*datadir.MismatchError)) { // while a copy of another folder replaces it
		datadir.WaitForManifest(s.dir, replaceWait)
		changed, err = s.replace()
	}
	s.mu.Lock()
	s.lastErr = err
	s.mu.Unlock()
	s.reportDamage(err)
	return changed, err
}

// reportDamage adds an error of a refresh to s.damage if it means that a structure is damaged.
func (s *Store) reportDamage(err error) {
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

var errRank = errors.New("the ranks cannot be read")

func (s *Store) replace() (changed bool, err error) {
	manifest, err := s.manifests.Read()
	absent := errors.Is(err, datadir.ErrNone)
	if absent {
		manifest, err = datadir.Manifest{}, nil
	}
	if err != nil {
		return false, err
	}
	old := s.current // only replace writes it
	now := s.now().Unix()
	switched := old != nil && s.isSwitched(old)
	if old != nil && !switched && now < old.ends && old.Absent == absent && old.folder == manifest.Folder && old.Generation == manifest.Generation &&
		slices.Equal(old.segments, manifest.Segments) && maps.Equal(old.Ranks, manifest.Ranks) {
		return false, nil
	}
	if switched || old != nil && (manifest.Generation < old.Generation || manifest.Folder != old.folder) {
		s.life++
	}
	snap, err := s.load(manifest, old, now)
	if err != nil {
		return false, err
	}
	snap.Absent = absent
	s.mu.Lock()
	s.current = snap
	s.mu.Unlock()
	if old != nil {
		s.Release(old)
	}
	return true, nil
}

// At returns the snapshot with a key, whether or not it is the current one, if its files exist. The
// caller releases it. It must not run during Refresh.
func (s *Store) At(k Key) (*Snapshot, error) {
	current := s.Acquire()
	if current.Key().Equal(k) {
		return current, nil
	}
	s.Release(current)
	if err := k.check(); err != nil {
		return nil, err
	}
	m, err := s.manifests.Read()
	if err != nil {
		return nil, err
	}
	if m.Folder != k.Folder {
		return nil, fmt.Errorf("the shard is of folder %s, not %.100q", m.Folder, k.Folder)
	}
	m.Segments, m.Ranks = k.Segments, map[string]string{rankvector.Default: k.Rank}
	if k.Rank == "" {
		m.Ranks = nil
	}
	snap, err := s.load(m, nil, s.now().Unix())
	if err == nil && snap.ended != k.Ended {
		s.Release(snap)
		return nil, fmt.Errorf("%d pages of the shard have expired, and %d on the other machine", snap.ended, k.Ended)
	}
	return snap, err
}

// check fails unless the names of a key, which another machine sent, are those of files in the folder.
func (k Key) check() error {
	names := append(slices.Clip(k.Segments), k.Rank)
	for _, name := range names {
		if len(name) > 200 || name != "" && !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\") {
			return fmt.Errorf("%.100q is not the name of a file", name)
		}
	}
	return nil
}

// isSwitched reports whether a segment of a snapshot has become whole, or light. While a whole one is open,
// the files that a light one lacks take space.
func (s *Store) isSwitched(snap *Snapshot) bool {
	mayLack := datadir.IsLight(s.dir)
	return slices.ContainsFunc(snap.Parts, func(p *Part) bool {
		isLight := p.Segment.Light()
		if !isLight && !mayLack {
			return false
		}
		_, err := os.Stat(filepath.Join(datadir.Segment(s.dir, p.Name), segment.PostingsName))
		return isLight == (err == nil)
	})
}

// load opens a generation as of a time. It reuses the open segments of old.
func (s *Store) load(m datadir.Manifest, old *Snapshot, now int64) (snap *Snapshot, err error) {
	snap = &Snapshot{
		Base: vocab.Outer(s.shard, 0), folder: m.Folder, life: s.life, Generation: m.Generation,
		segments: m.Segments, Ranks: m.Ranks, rankFile: m.Ranks[rankvector.Default],
	}
	s.mu.Lock()
	s.refs[snap] = 1
	s.mu.Unlock()
	if old != nil && old.life == snap.life && old.rankFile == snap.rankFile {
		snap.Vector = old.Vector
	} else if snap.Vector, err = rankvector.ReadNamed(s.dir, m, rankvector.Default); err != nil {
		s.Release(snap)
		return nil, fmt.Errorf("%w: %w", errRank, err)
	}
	if snap.Versions, err = s.versions.Read(s.dir); err != nil {
		s.damage.Add(damage.Index, err) // without a table, results have all languages
	}
	for _, name := range m.Segments {
		h, err := s.open(name)
		if err != nil {
			s.Release(snap)
			return nil, err
		}
		p := retrieval.Part{Segment: h.seg, Name: name, Base: snap.Base}
		snap.Parts = append(snap.Parts, &Part{handle: h, Part: p})
	}
	findDead(snap)
	endPages(snap, now)
	snap.State = stateOf(snap)
	return snap, nil
}

func (s *Store) open(name string) (*handle, error) {
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

// findDead finds, from the newest segment back, the documents of each segment that are superseded
// or deleted, and counts the live ones. Their average length is that of a single segment with all
// of them.
func findDead(snap *Snapshot) {
	known := retrieval.DocSet{}
	for i, p := range slices.Backward(snap.Parts) {
		for ord := range vocab.Ordinal(p.Segment.Docs()) {
			doc := p.Segment.DocID(ord)
			if len(snap.Parts) == 1 || !known.Has(doc) {
				if n := p.Segment.Words(ord); n > 0 {
					snap.Words, snap.Texts = snap.Words+uint64(n), snap.Texts+1
				}
				if i > 0 {
					known.Add(doc)
				}
				continue
			}
			if p.Dead == nil {
				p.Dead = retrieval.NewBitmap(p.Segment.Docs())
			}
			p.Dead.Add(ord)
			snap.Docs--
		}
		snap.Docs += p.Segment.Docs()
		for _, doc := range p.Segment.Tombstones() {
			known.Add(doc)
		}
	}
}

// endPages removes the live documents that expired by now according to their publishers.
func endPages(snap *Snapshot, now int64) {
	snap.ends = math.MaxInt64
	for _, p := range snap.Parts {
		for ord, end := range p.Segment.Ends() {
			switch {
			case p.Dead.Has(ord):
			case end > now:
				snap.ends = min(snap.ends, end)
			default:
				if p.Dead == nil {
					p.Dead = retrieval.NewBitmap(p.Segment.Docs())
				}
				p.Dead.Add(ord)
				snap.ended++
				snap.Docs--
				if n := p.Segment.Words(ord); n > 0 {
					snap.Words, snap.Texts = snap.Words-uint64(n), snap.Texts-1
				}
			}
		}
	}
}

// stateOf identifies the index and the ranks of a snapshot.
func stateOf(snap *Snapshot) string {
	text := fmt.Sprint(snap.folder, snap.segments, snap.rankFile)
	if snap.ended > 0 {
		text += fmt.Sprint(" -", snap.ended)
	}
	return fmt.Sprintf("%x-%08x", snap.Generation, crc32.ChecksumIEEE([]byte(text)))
}
