// Package snapshot opens the segments and ranks of a data folder as snapshots, which do not change
// while queries read them.
package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/disk/translations"
	"anatomy/searcher/internal/memo"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// ErrNotIndexed is the error for a document that is not in the index.
var ErrNotIndexed = errors.New("not in the index")

// A Snapshot is one generation of the index of a shard with one rank vector. It is immutable. Its
// segments are closed when it has been replaced and the last view that holds it has been released.
type Snapshot struct {
	Base       vocab.DocID // added to the shard's DocIDs
	folder     string      // ID of the data folder
	Absent     bool        // there is no data folder
	life       int         // see Store.life
	Generation uint64
	segments   []string
	Ranks      map[string]string // files of rank vectors by name
	rankFile   string            // file of Vector, or ""
	State      string            // see stateOf
	Parts      []*Part           // oldest first
	ends       int64             // Unix seconds: when the next of its pages expires
	ended      int               // number of expired pages
	Docs       int               // live documents
	Words      uint64            // total of all bodies
	Texts      uint64            // live documents with a body
	Vector     *rankvector.Vector
	Versions   *translations.Table // nil for none
}

// A Part is a segment within a snapshot.
type Part struct {
	*handle
	retrieval.Part
}

// A handle is an open segment, shared by the snapshots that hold it.
type handle struct {
	key  handleKey
	seg  *segment.Segment
	refs int // guarded by Store.mu

	static   retrieval.StaticPoints // see Snapshot.CachedStaticPoints
	staticOf staticInputs           // inputs of static

	forms memo.Memo[FormsKey, Forms]

	languageOnce sync.Once
	ofLanguage   map[segment.Language]int // see Languages

	labelsOnce sync.Once
	hostLabels []HostLabel // see HostLabels
}

// A handleKey identifies a segment. Names of segments are unique within a data folder, but a folder
// may be deleted and created again.
type handleKey struct {
	life int
	name string
}

type staticInputs struct {
	vector  *rankvector.Vector
	ranked  int
	weights *scoring.Weights
}

// A FormsKey identifies the forms of a word in a language, with other spellings, separated by
// spaces, up to Last, or all if that is "".
type FormsKey struct {
	Word, Lang, Spellings, Last string

	Compounds bool `json:",omitzero"` // in place of other forms, compounds that begin with the word
	Languages bool `json:",omitzero"` // in place of forms, the languages of the documents with the word
}

// NoForms is the language of a word that only has other spellings.
const NoForms = "-"

// Forms are the forms of a term in some segments.
type Forms struct {
	Words []string // without the term itself
	DF    int      // number of documents that contain the term or one of these

	Languages map[string]int `json:",omitzero"` // of documents with the term the numbers by language, if asked for and few
}

// A HostLabel is a word of a host's name: for org.example.python-doc, "python" and "doc".
type HostLabel struct {
	Word string
	Host string
}

// CachedStaticPoints returns the static points of a part by the snapshot's ranks. It computes them
// once per segment, vector, number of ranks and weights. It is not safe for concurrent use.
func (snap *Snapshot) CachedStaticPoints(
	p *Part, w *scoring.Weights, ranked int,
) retrieval.StaticPoints {
	inputs := staticInputs{snap.Vector, ranked, w}
	if h := p.handle; !h.static.Computed() || h.staticOf != inputs {
		h.static, h.staticOf = snap.StaticPoints(p, w, ranked), inputs
	}
	return p.handle.static
}

// WithStatic returns a snapshot of the same segments with other static points. It is valid while
// snap is held.
func (snap *Snapshot) WithStatic(static func(*Part) retrieval.StaticPoints) *Snapshot {
	other := *snap
	other.Parts = nil
	for _, p := range snap.Parts {
		copied := *p
		copied.Static = static(p)
		other.Parts = append(other.Parts, &copied)
	}
	return &other
}

// StaticPoints returns the query-independent points of the documents of a part, minus the minimum
// that the weights allow.
func (snap *Snapshot) StaticPoints(
	p *Part, w *scoring.Weights, ranked int,
) retrieval.StaticPoints {
	seg := p.Segment
	points := make([]uint32, seg.Docs())
	least, span := w.StaticRange()
	for ord := range vocab.Ordinal(seg.Docs()) {
		rank := w.PageRank(snap.RankOf(seg.DocID(ord)), ranked)
		points[ord] = uint32(min(w.StaticPoints(rank, seg.Depth(ord), seg.Crawled(ord))-least, span))
	}
	return retrieval.NewStaticPoints(points)
}

// RankOf returns the rank of a document of the shard as a share of all rank, or 0 if unknown.
func (snap *Snapshot) RankOf(doc vocab.DocID) float64 {
	if snap.Vector == nil || uint64(doc) >= uint64(len(snap.Vector.Ranks)) {
		return 0
	}
	return float64(snap.Vector.Ranks[doc])
}

// Ranked returns the number of pages that the vector ranks.
func (snap *Snapshot) Ranked() int {
	if snap.Vector == nil {
		return 0
	}
	return snap.Vector.Pages()
}

// A Key identifies the segments and the ranks of a snapshot within the shard, on every machine that
// has them.
type Key struct {
	Folder   string // ID of the data folder
	Segments []string
	Rank     string `json:",omitzero"` // file of the rank vector; "" for none
	Ended    int    `json:",omitzero"` // number of expired pages
}

// Key returns the key of the snapshot.
func (snap *Snapshot) Key() Key { return Key{snap.folder, snap.segments, snap.rankFile, snap.ended} }

// Equal reports whether two keys are equal.
func (k Key) Equal(other Key) bool {
	return k.Folder == other.Folder && k.Rank == other.Rank && k.Ended == other.Ended && slices.Equal(k.Segments, other.Segments)
}

// Light reports whether this machine lacks posting lists and texts of the snapshot.
func (snap *Snapshot) Light() bool {
	return slices.ContainsFunc(snap.Parts, func(p *Part) bool { return p.Segment.Light() })
}

// Locate returns the part and ordinal of a live document.
func (snap *Snapshot) Locate(doc vocab.DocID) (p *Part, ord vocab.Ordinal, err error) {
	for _, p := range slices.Backward(snap.Parts) {
		if ord, ok := p.Segment.Ordinal(doc - snap.Base); ok && !p.Dead.Has(ord) {
			return p, ord, nil
		}
	}
	return nil, 0, fmt.Errorf("document %d: %w", doc, ErrNotIndexed)
}

// Find returns the live document with the key of a URL.
func (snap *Snapshot) Find(key string) (c scoring.Candidate, found bool, err error) {
	for i, p := range slices.Backward(snap.Parts) {
		from, to, err := p.Segment.Range(key, key+"\x00")
		if err != nil {
			return c, false, err
		}
		for ord := from; ord < to; ord++ {
			if !p.Dead.Has(ord) {
				return scoring.Candidate{Doc: p.DocIDOf(ord), Part: i, Ord: ord}, true, nil
			}
		}
	}
	return c, false, nil
}

// DocIDOf returns the DocID of a document in the collection.
func (p *Part) DocIDOf(ord vocab.Ordinal) vocab.DocID { return p.Base + p.Segment.DocID(ord) }

// Record returns the record of a document in the segment, without its text.
func (p *Part) Record(ord vocab.Ordinal) (vocab.DocInfo, error) {
	info, err := p.Segment.Record(ord)
	info.Doc += p.Base
	return info, err
}

// Languages returns the number of documents of each language. The first call counts them.
func (h *handle) Languages() map[segment.Language]int {
	h.languageOnce.Do(func() {
		h.ofLanguage = map[segment.Language]int{}
		for ord := range vocab.Ordinal(h.seg.Docs()) {
			h.ofLanguage[h.seg.Language(ord)]++
		}
	})
	return h.ofLanguage
}

// HostLabels returns the words of the names of all hosts, sorted. The first call finds them.
func (h *handle) HostLabels() []HostLabel {
	h.labelsOnce.Do(func() {
		for host := range h.seg.Hosts() {
			for label := range strings.SplitSeq(host, ".") {
				for word := range strings.SplitSeq(label, "-") {
					h.hostLabels = append(h.hostLabels, HostLabel{word, host})
				}
			}
		}
		slices.SortFunc(h.hostLabels, HostLabel.Compare)
	})
	return h.hostLabels
}

func (l HostLabel) Compare(other HostLabel) int {
	if l.Word != other.Word {
		return strings.Compare(l.Word, other.Word)
	}
	return strings.Compare(l.Host, other.Host)
}
