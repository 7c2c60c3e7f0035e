package searcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/memo"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// ErrNotIndexed says that the index does not have a document.
var ErrNotIndexed = errors.New("searcher: not in the index")

// A snapshot is one generation of the index with one rank vector. It never changes. Its segments
// are closed when it has been replaced and the last query that reads it has ended.
type snapshot struct {
	serial     uint64 // no other snapshot of the Searcher has it
	folder     string // ID of the data folder
	life       int    // see store.life
	generation uint64
	segments   []string
	ranks      map[string]string // files of rank vectors by name
	rankFile   string            // of vector; "" for none
	state      string            // see stateOf
	parts      []*part           // oldest first
	docs       int               // live ones
	average    int64             // words of a body, of pages that have one
	vector     *rankvector.Vector
	homes      *memo.Memo[string, scoring.Candidate] // home pages by host, see homeOf; Doc is 0 for none
	dateOnce   sync.Once
	dated      *snapshot // see byDate
	refs       int       // guarded by store.mu
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

	static   retrieval.StaticPoints // see part; guarded by store.refreshing
	staticOf *rankvector.Vector     // the vector that static was computed from

	forms memo.Memo[formsKey, forms]

	languageMu sync.Mutex
	lang       string // of most of its pages; "" until it is needed

	labelsOnce sync.Once
	hostLabels []hostLabel // see labelsOf
}

// A handleKey names a segment. Names of segments are used once in the life of a data folder, but
// folders are removed and made anew.
type handleKey struct {
	life int
	name string
}

type formsKey struct{ word, lang string }

// The forms of a term in one segment.
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
func (snap *snapshot) withStatic(static func(*segment.Segment) retrieval.StaticPoints) *snapshot {
	other := &snapshot{
		folder: snap.folder, life: snap.life, generation: snap.generation,
		segments: snap.segments, ranks: snap.ranks, rankFile: snap.rankFile,
		docs: snap.docs, average: snap.average, vector: snap.vector, homes: &memo.Memo[string, scoring.Candidate]{},
	}
	for _, p := range snap.parts {
		copied := *p
		copied.Static = static(p.seg)
		other.parts = append(other.parts, &copied)
	}
	return other
}

// byDate returns the snapshot with the dates of documents as static points.
func (snap *snapshot) byDate() *snapshot {
	snap.dateOnce.Do(func() {
		snap.dated = snap.withStatic(func(seg *segment.Segment) retrieval.StaticPoints {
			days := make([]uint32, seg.Docs())
			for ord := range days {
				days[ord] = uint32(seg.Date(vocab.Ordinal(ord)))
			}
			return retrieval.NewStaticPoints(days)
		})
	})
	return snap.dated
}

// staticPoints returns the query-independent points of the documents of a segment, counted from the
// least that the weights allow.
func (snap *snapshot) staticPoints(seg *segment.Segment, w *scoring.Weights) retrieval.StaticPoints {
	points := make([]uint32, seg.Docs())
	least, span := w.StaticRange()
	for ord := range vocab.Ordinal(seg.Docs()) {
		rank := w.PageRank(snap.rankOf(seg.DocID(ord)), snap.ranked())
		points[ord] = uint32(min(w.StaticPoints(rank, seg.Depth(ord), seg.Crawled(ord))-least, span))
	}
	return retrieval.NewStaticPoints(points)
}

// rankOf returns a document's share of all rank, 0 if it is unknown.
func (snap *snapshot) rankOf(doc vocab.DocID) float64 {
	if snap.vector == nil || uint64(doc) >= uint64(len(snap.vector.Ranks)) {
		return 0
	}
	return float64(snap.vector.Ranks[doc])
}

// ranked returns the number of documents of the rank vector.
func (snap *snapshot) ranked() int {
	if snap.vector == nil {
		return 0
	}
	return len(snap.vector.Ranks) - 1
}

// rankUsed describes the rank vector, which the request names.
func (snap *snapshot) rankUsed(name string) RankUsed {
	if snap.vector == nil {
		return RankUsed{}
	}
	if name == "" {
		name = rankvector.Default
	}
	return RankUsed{name, snap.vector.Computed, snap.vector.Personalized}
}

// locate returns where a live document is.
func (snap *snapshot) locate(doc vocab.DocID) (p *part, ord vocab.Ordinal, err error) {
	for _, p := range slices.Backward(snap.parts) {
		if ord, ok := p.seg.Ordinal(doc); ok && !p.Dead.Has(ord) {
			return p, ord, nil
		}
	}
	return nil, 0, fmt.Errorf("searcher: document %d: %w", doc, ErrNotIndexed)
}

// find returns where the live document of a URL is.
func (snap *snapshot) find(u *weburl.URL) (part int, ord vocab.Ordinal, err error) {
	key := u.Key()
	for i, p := range slices.Backward(snap.parts) {
		from, to, err := p.seg.Range(key, key+"\x00")
		if err != nil {
			return 0, 0, err
		}
		for ord := from; ord < to; ord++ {
			if !p.Dead.Has(ord) {
				return i, ord, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("%w: %s", ErrNotIndexed, u)
}

// count counts the pages that match a query, up to enough. It returns fewer if the time runs out or
// a posting list cannot be read.
func (snap *snapshot) count(root *query.Node, clock *retrieval.Clock, enough int) (n int) {
	if root == nil || !root.Positive() {
		return 0
	}
	var a retrieval.Arena
	for _, p := range snap.parts {
		if n += a.Walk(&p.Part, retrieval.Terms{}, nil, clock).Count(root, enough-n); n == enough {
			break
		}
	}
	return n
}

// Host returns the host of a candidate.
func (snap *snapshot) Host(c scoring.Candidate) string { return snap.parts[c.Part].seg.Host(c.Ord) }

// Sketch returns the sketch of a candidate.
func (snap *snapshot) Sketch(c scoring.Candidate) vocab.Sketch {
	return snap.parts[c.Part].seg.Sketch(c.Ord)
}

// languageSample is the number of pages that the language of a segment is found from.
const languageSample = 64

// language returns the language of most pages of the segment.
func (h *handle) language() (string, error) {
	h.languageMu.Lock()
	defer h.languageMu.Unlock()
	if h.lang != "" || h.seg.Docs() == 0 {
		return h.lang, nil
	}
	count := map[string]int{}
	for i := range min(languageSample, h.seg.Docs()) {
		info, err := h.seg.Record(vocab.Ordinal(i * h.seg.Docs() / min(languageSample, h.seg.Docs())))
		if err != nil {
			return "", err
		}
		count[info.Lang]++
	}
	best := "en"
	for lang, n := range count {
		if lang != "" && (n > count[best] || n == count[best] && lang < best) {
			best = lang
		}
	}
	h.lang = best
	return best, nil
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
		slices.SortFunc(h.hostLabels, func(a, b hostLabel) int {
			if a.word != b.word {
				return strings.Compare(a.word, b.word)
			}
			return strings.Compare(a.host, b.host)
		})
	})
	return h.hostLabels
}
