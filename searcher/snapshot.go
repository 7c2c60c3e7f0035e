package searcher

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

// ErrNotIndexed says that the index does not have a document.
var ErrNotIndexed = errors.New("searcher: not in the index")

// A snapshot is one generation of the index of a shard, which is a data folder, with one rank
// vector. It never changes. Its segments are closed when it has been replaced and the last view that
// holds it has been released.
type snapshot struct {
	base       vocab.DocID // of the shard, see baseOf
	folder     string      // ID of the data folder
	life       int         // see store.life
	generation uint64
	segments   []string
	ranks      map[string]string // files of rank vectors by name
	rankFile   string            // of vector; "" for none
	state      string            // see stateOf
	parts      []*part           // oldest first
	ends       int64             // Unix seconds: when the next of its pages leaves the results
	ended      int               // pages that are none any more
	docs       int               // live ones
	words      uint64            // of all bodies
	texts      uint64            // documents with a body
	vector     *rankvector.Vector
	versions   *translations.Table // nil for none
}

// A part is a segment as a snapshot sees it.
type part struct {
	*handle
	retrieval.Part
}

// A handle is an open segment, shared by the snapshots that hold it.
type handle struct {
	key  handleKey
	seg  *segment.Segment
	refs int // guarded by store.mu

	static   retrieval.StaticPoints // see Searcher.newView; guarded by Searcher.refreshing
	staticOf staticInputs           // that static was computed from

	forms memo.Memo[formsKey, forms]

	languageOnce sync.Once
	ofLanguage   map[segment.Language]int // see languages

	labelsOnce sync.Once
	hostLabels []hostLabel // see labelsOf
}

// A handleKey names a segment. Names of segments are used once in the life of a data folder, but
// folders are removed and made anew.
type handleKey struct {
	life int
	name string
}

type staticInputs struct {
	vector *rankvector.Vector
	ranked int
}

// A formsKey names the forms of a word in a language with another spelling, "" for none, as far as the
// last one, "" for all.
type formsKey struct{ word, lang, spelling, last string }

// The forms of a term in some segments.
type forms struct {
	words []string // without the term itself
	df    int      // documents that hold one of these or the term
}

// A hostLabel is a word of a host's name: of "python-doc" in org.example.python-doc, "python" and
// "doc".
type hostLabel struct {
	word string
	host string
}

// withStatic returns a snapshot of the same segments with other static points. It is valid as long
// as snap is held.
func (snap *snapshot) withStatic(static func(*part) retrieval.StaticPoints) *snapshot {
	other := *snap
	other.parts = nil
	for _, p := range snap.parts {
		copied := *p
		copied.Static = static(p)
		other.parts = append(other.parts, &copied)
	}
	return &other
}

// staticPoints returns the query-independent points of the documents of a segment, counted from the
// least that the weights allow.
func (snap *snapshot) staticPoints(
	seg *segment.Segment, w *scoring.Weights, ranked int,
) retrieval.StaticPoints {
	points := make([]uint32, seg.Docs())
	least, span := w.StaticRange()
	for ord := range vocab.Ordinal(seg.Docs()) {
		rank := w.PageRank(snap.rankOf(seg.DocID(ord)), ranked)
		points[ord] = uint32(min(w.StaticPoints(rank, seg.Depth(ord), seg.Crawled(ord))-least, span))
	}
	return retrieval.NewStaticPoints(points)
}

// rankOf returns the share of all rank of a document of the shard, 0 if it is unknown.
func (snap *snapshot) rankOf(doc vocab.DocID) float64 {
	if snap.vector == nil || uint64(doc) >= uint64(len(snap.vector.Ranks)) {
		return 0
	}
	return float64(snap.vector.Ranks[doc])
}

// ranked returns the number of pages that the vector ranks.
func (snap *snapshot) ranked() int {
	if snap.vector == nil {
		return 0
	}
	return snap.vector.Pages()
}

// locate returns where a live document is.
func (snap *snapshot) locate(doc vocab.DocID) (p *part, ord vocab.Ordinal, err error) {
	for _, p := range slices.Backward(snap.parts) {
		if ord, ok := p.seg.Ordinal(doc - snap.base); ok && !p.Dead.Has(ord) {
			return p, ord, nil
		}
	}
	return nil, 0, fmt.Errorf("searcher: document %d: %w", doc, ErrNotIndexed)
}

// find returns the live document with the key of a URL.
func (snap *snapshot) find(key string) (c scoring.Candidate, found bool, err error) {
	for i, p := range slices.Backward(snap.parts) {
		from, to, err := p.seg.Range(key, key+"\x00")
		if err != nil {
			return c, false, err
		}
		for ord := from; ord < to; ord++ {
			if !p.Dead.Has(ord) {
				return scoring.Candidate{Doc: p.docID(ord), Part: i, Ord: ord}, true, nil
			}
		}
	}
	return c, false, nil
}

// docID returns the DocID of a document outside the shard.
func (p *part) docID(ord vocab.Ordinal) vocab.DocID { return p.Base + p.seg.DocID(ord) }

// record returns what the segment keeps of a document, without its text.
func (p *part) record(ord vocab.Ordinal) (vocab.DocInfo, error) {
	info, err := p.seg.Record(ord)
	info.Doc += p.Base
	return info, err
}

// languages returns the number of documents of each language. The first call counts them.
func (h *handle) languages() map[segment.Language]int {
	h.languageOnce.Do(func() {
		h.ofLanguage = map[segment.Language]int{}
		for ord := range vocab.Ordinal(h.seg.Docs()) {
			h.ofLanguage[h.seg.Language(ord)]++
		}
	})
	return h.ofLanguage
}

// labelsOf returns the words of the names of all hosts, sorted. The first call finds them.
func (h *handle) labelsOf() []hostLabel {
	h.labelsOnce.Do(func() {
		for host := range h.seg.Hosts() {
			for label := range strings.SplitSeq(host, ".") {
				for word := range strings.SplitSeq(label, "-") {
					h.hostLabels = append(h.hostLabels, hostLabel{word, host})
				}
			}
		}
		slices.SortFunc(h.hostLabels, hostLabel.compare)
	})
	return h.hostLabels
}

func (l hostLabel) compare(other hostLabel) int {
	if l.word != other.word {
		return strings.Compare(l.word, other.word)
	}
	return strings.Compare(l.host, other.host)
}
