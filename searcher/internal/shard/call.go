package shard

import (
	"context"
	"errors"
	"time"

	"anatomy/searcher/internal/facets"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// A machine may have a light copy of a shard, without posting lists and texts. It then sends the
// calls that read these to a machine that has the shard whole. A call is JSON, and has all that its
// answer depends on: no machine keeps anything between two calls of a query.

// A Caller sends a call about a shard to a machine that has it whole, and returns the reply.
type Caller = func(ctx context.Context, shard int, call []byte) (reply []byte, err error)

// A Variant is the part of a request that changes weights and static points.
type Variant struct {
	Weights   string     // see scoring.Weights.Sum
	NoOwn     bool       `json:",omitzero"` // see scoring.Weights.ForSearch
	NoAnchors bool       `json:",omitzero"`
	Prose     bool       `json:",omitzero"` // the query is prose
	ByDate    bool       `json:",omitzero"` // static points are dates
	Of        Statistics // over all shards
}

// A Remote makes the calls about light shards.
type Remote struct {
	Call    Caller // nil if no other machine can be asked
	Variant Variant
}

// ErrAlone is the error of a call without a Caller.
var ErrAlone = errors.New("this machine has no posting lists of the shard, and is connected to no other")

// A Call asks for the result of one method of Query. Exactly one of its pointers after Terms is set.
type Call struct {
	Key     snapshot.Key
	Variant Variant
	Within  time.Duration   `json:",omitzero"` // 0 for no deadline
	Terms   *scoring.Inputs `json:",omitzero"` // of Open
	Sites   []string        `json:",omitzero"` // of OpenSites

	Forms   *snapshot.FormsKey `json:",omitzero"`
	Collect *collectCall       `json:",omitzero"`
	Match   *matchCall         `json:",omitzero"`
	Count   *countCall         `json:",omitzero"`
	Score   *scoreCall         `json:",omitzero"`
	Held    *heldCall          `json:",omitzero"`
	Present *presentCall       `json:",omitzero"`
	Explain *explainCall       `json:",omitzero"`
	Tally   *tallyCall         `json:",omitzero"`
	Options *optionsCall       `json:",omitzero"`
}

// finishes reports whether a call is about pages that are already found: these steps ignore the
// deadline on one machine, too.
func (c *Call) finishes() bool {
	return c.Score != nil || c.Held != nil || c.Present != nil || c.Explain != nil
}

type collectCall struct {
	Root       *query.Node
	K, CountTo int
}

type matchCall struct {
	Root *query.Node
	Page place
}

type countCall struct {
	Root   *query.Node
	Enough int
}

type scoreCall struct {
	Exact exactCall
	Pages []place
}

type heldCall struct {
	Choices []Choice
	Pages   []place
}

type presentCall struct {
	Root    *query.Node
	Exact   exactCall
	Explain bool
	Pages   []place
}

type explainCall struct {
	Exact exactCall
	Page  place
	URL   string
}

type tallyCall struct {
	Root   *query.Node
	Kinds  []facets.Kind
	Labels []*query.Node `json:",omitzero"` // filters of labels that have sites
}

type optionsCall struct {
	Pages []place
	Words []string
}

// An exactCall is an ExactRequest without the terms and statistics, which are elsewhere in a Call.
type exactCall struct {
	Homes     []Home              `json:",omitzero"`
	Nearer    map[vocab.DocID]int `json:",omitzero"`
	Preferred []Preference        `json:",omitzero"`
	Languages []string            `json:",omitzero"`
	Rank      string              `json:",omitzero"`

	OfCollection bool `json:",omitzero"`
}

// A place is a page by its part and its ordinal.
type place [2]uint32

func placeOf(c scoring.Candidate) place { return place{uint32(c.Part), uint32(c.Ord)} }

// A Reply has the result of the method that the call asked for.
type Reply struct {
	Over   bool     `json:",omitzero"` // time was up
	Damage []string `json:",omitzero"` // unreadable parts

	Forms   []snapshot.Forms `json:",omitzero"` // by part
	Places  []place          `json:",omitzero"` // of Collect
	First   []uint32         `json:",omitzero"` // of Collect: scores by page
	N       int              `json:",omitzero"` // of Collect: matches; of Count
	Yes     bool             `json:",omitzero"` // of Collect: N is exact; of Match
	Scores  []scoring.Score  `json:",omitzero"`
	Held    []uint64         `json:",omitzero"`
	Pages   []presentedPage  `json:",omitzero"`
	Explain *Explanation     `json:",omitzero"`
	Tally   *facets.Sum      `json:",omitzero"`
	Have    []int            `json:",omitzero"` // of Options
	Show    []int            `json:",omitzero"` // of Options
}

type presentedPage struct {
	Passage     presentation.Passage
	Explanation *Explanation `json:",omitzero"`
	Unread      bool         `json:",omitzero"`
}

func (r *ExactRequest) call() exactCall {
	return exactCall{r.Homes, r.Nearer, r.Preferred, r.Languages, r.Rank, r.OfCollection}
}

// nodeFor returns a query for the shard of a base, without documents of other shards.
func nodeFor(n *query.Node, base vocab.DocID) *query.Node {
	if n == nil || len(n.Docs) == 0 && len(n.Kids) == 0 {
		return n
	}
	copied := *n
	copied.Docs, copied.Kids = nil, nil
	for _, doc := range n.Docs {
		if isOf(doc, base) {
			copied.Docs = append(copied.Docs, doc)
		}
	}
	for _, kid := range n.Kids {
		copied.Kids = append(copied.Kids, nodeFor(kid, base))
	}
	return &copied
}

// has reports whether a snapshot has the pages of places.
func has(snap *snapshot.Snapshot, places []place) bool {
	for _, at := range places {
		if int64(at[0]) >= int64(len(snap.Parts)) || int64(at[1]) >= int64(snap.Parts[at[0]].Segment.Docs()) {
			return false
		}
	}
	return true
}

// candidateAt returns a page that a snapshot has.
func candidateAt(snap *snapshot.Snapshot, at place, first uint32) scoring.Candidate {
	part, ord := int(at[0]), vocab.Ordinal(at[1])
	return scoring.Candidate{First: first, Doc: snap.Parts[part].DocIDOf(ord), Part: part, Ord: ord}
}
