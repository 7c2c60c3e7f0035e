package searcher

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"strings"
	"sync"

	"anatomy/disk/segment"
	"anatomy/disk/translations"
	"anatomy/searcher/internal/memo"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A view is the state that a query reads: a snapshot of each shard, and the statistics over all of
// them. It is immutable. Its snapshots are released when it has been replaced and the last query
// that reads it has ended.
type view struct {
	serial  uint64 // unique among the views of the Searcher
	state   string // identifies all snapshots, see snapshot.Snapshot.State
	bases   []*snapshot.Snapshot
	shards  []*snapshot.Snapshot // copies of bases with static points
	weights *scoring.Weights     // before those of a request, see weightsFor
	rank    string               // name of the rank vector, see withDefaultRank; "" if a request names it
	ranking string               // Options.Ranking
	missing []int                // numbers of the shards that have no data folder here; nil for a single shard
	remote  shard.Remote         // for light shards

	// versions has the versions of pages, with DocIDs of the collection, if its shards were split from a data
	// folder. Otherwise it is nil, and each snapshot has those of its own pages.
	versions *translations.Table

	shard.Statistics
	services     bool                                  // documents define web services
	homes        *memo.Memo[string, scoring.Candidate] // home pages by host, see homeOf; Doc is 0 for none
	languageOnce sync.Once
	mainLanguage string // see languages
	compounds    bool
	dateOnce     sync.Once
	dated        *view // see byDate
	refs         int   // guarded by Searcher.mu
}

func shardOf(doc vocab.DocID) int {
	shard, _ := doc.Shard()
	return shard
}

// newView returns a view of snapshots, which have their ranks. static returns the static points of
// a part, given the statistics.
func newView(
	serial uint64, w *scoring.Weights, call shard.Caller, versions *translations.Table, bases []*snapshot.Snapshot, static func(*snapshot.Snapshot, *snapshot.Part, shard.Statistics) retrieval.StaticPoints,
) *view {
	v := &view{serial: serial, weights: w, versions: versions, bases: bases, homes: &memo.Memo[string, scoring.Candidate]{}, refs: 1}
	var words, texts uint64
	for _, snap := range bases {
		words, texts = words+snap.Words, texts+snap.Texts
		v.Docs, v.Ranked = v.Docs+snap.Docs, v.Ranked+snap.Ranked()
	}
	for _, snap := range bases {
		v.services = v.services || slices.ContainsFunc(snap.Parts, func(p *snapshot.Part) bool { return len(p.Segment.Services()) > 0 })
	}
	v.Average = int64(words / max(texts, 1))
	for i, snap := range bases {
		if snap.Absent && len(bases) > 1 {
			v.missing = append(v.missing, i)
		}
	}
	var states []string
	generation := uint64(0)
	for _, snap := range bases {
		states, generation = append(states, snap.State), generation+snap.Generation
		v.shards = append(v.shards, snap.WithStatic(func(p *snapshot.Part) retrieval.StaticPoints {
			return static(snap, p, v.Statistics)
		}))
	}
	if v.state = states[0]; len(states) > 1 {
		v.state = fmt.Sprintf("%x-%08x", generation, crc32.ChecksumIEEE([]byte(strings.Join(states, " "))))
	}
	sum := w.Sum()
	v.remote = shard.Remote{Call: call, Variant: shard.Variant{Weights: sum, Of: v.Statistics}}
	v.state += sum
	return v
}

// weightsFor returns the weights for a request.
func (v *view) weightsFor(req *Request) *scoring.Weights {
	own, all := req.without()
	return v.weights.ForSearch(own, all, strings.HasPrefix(req.Rank, NearPrefix))
}

// markMissing marks resp as incomplete if shards are missing, or were lost during the query because
// no machine that has them whole could be asked.
func (v *view) markMissing(resp *Response, lost []int) {
	missing := slices.Concat(v.missing, lost)
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if len(missing) == 0 {
		return
	}
	resp.Missing, resp.Partial = missing, true
	resp.Exact, resp.HiddenExact, resp.NoPages = false, false, false
	for i := range resp.Facets {
		resp.Facets[i].Exact = false
	}
	resp.Why = strings.TrimSpace(fmt.Sprintf("%s Not available now, so pages may be missing: %d of %s.",
		resp.Why, len(missing), countOf(len(v.shards), "shard")))
}

// byDate returns the view with the dates of documents as static points.
func (v *view) byDate() *view {
	v.dateOnce.Do(func() {
		v.dated = newView(v.serial, v.weights, v.remote.Call, v.versions, v.shards, func(_ *snapshot.Snapshot, p *snapshot.Part, _ shard.Statistics) retrieval.StaticPoints {
			return dates(p)
		})
	})
	return v.dated
}

// parts returns the segments of all shards.
func (v *view) parts() iter.Seq[*snapshot.Part] {
	return func(yield func(*snapshot.Part) bool) {
		for _, snap := range v.shards {
			for _, p := range snap.Parts {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// shard returns the snapshot that has a document, or nil if there is no such shard.
func (v *view) shard(doc vocab.DocID) *snapshot.Snapshot {
	if i := shardOf(doc); i < len(v.shards) {
		return v.shards[i]
	}
	return nil
}

func (v *view) part(c scoring.Candidate) *snapshot.Part {
	return v.shardOf(c).Parts[c.Part]
}

// rankOf returns a document's share of the sum of all ranks, or 0 if unknown.
func (v *view) rankOf(doc vocab.DocID) float64 {
	if snap := v.shard(doc); snap != nil {
		return snap.RankOf(doc - snap.Base)
	}
	return 0
}

// rankUsed describes the rank vector of the view, or of a view with the name in the request.
func (v *view) rankUsed(name string) RankUsed {
	for _, snap := range v.shards {
		if snap.Vector != nil {
			return RankUsed{cmp.Or(name, v.rank), snap.Vector.Computed, snap.Vector.Personalized}
		}
	}
	return RankUsed{}
}

// locate returns the part and ordinal of a live document.
func (v *view) locate(doc vocab.DocID) (p *snapshot.Part, ord vocab.Ordinal, err error) {
	if snap := v.shard(doc); snap != nil {
		return snap.Locate(doc)
	}
	return nil, 0, fmt.Errorf("document %d: %w", doc, ErrNotIndexed)
}

// find returns the live document of a URL.
func (v *view) find(u *weburl.URL) (c scoring.Candidate, err error) {
	for _, snap := range v.shards {
		if c, found, err := snap.Find(u.Key()); found || err != nil {
			return c, err
		}
	}
	return c, fmt.Errorf("%w: %s", ErrNotIndexed, u)
}

// count counts the pages that match a query, up to enough. It returns fewer if time runs out or a
// posting list cannot be read.
func (v *view) count(root *query.Node, clock *retrieval.Clock, enough int) (n int) {
	if root == nil || !root.Positive() {
		return 0
	}
	var a shard.Arena
	for _, snap := range v.shards {
		q := shard.New(snap, v.weights, clock, &a, v.remote)
		if n += q.Count(root, enough-n); n == enough {
			break
		}
	}
	return n
}

// languages returns the language of most pages, and whether pages are in another one that writes compounds as one
// word.
func (v *view) languages() (lang string, compounds bool) {
	v.languageOnce.Do(func() { v.mainLanguage, v.compounds = snapshot.MainLanguage(v.parts()) })
	return v.mainLanguage, v.compounds
}

// Host returns the host of a candidate as in weburl's keys.
func (v *view) Host(c scoring.Candidate) string { return v.part(c).Segment.Host(c.Ord) }

// Sketch returns the sketch of a candidate.
func (v *view) Sketch(c scoring.Candidate) vocab.Sketch { return v.part(c).Segment.Sketch(c.Ord) }

// Site returns the site of a candidate.
func (v *view) Site(c scoring.Candidate) string {
	name, _, _ := strings.Cut(v.Host(c), ".:")
	return weburl.SiteOf(weburl.HostOfKey(name))
}

// Rank returns the PageRank of a candidate.
func (v *view) Rank(c scoring.Candidate) float64 { return v.rankOf(c.Doc) }

// HomeRank returns the PageRank of the home page of a candidate's host, 0 if it has none.
func (v *view) HomeRank(c scoring.Candidate) float64 { return v.rankOf(homeOf(v, v.Host(c)).Doc) }

// Service reports whether a candidate defines a web service.
func (v *view) Service(c scoring.Candidate) bool { return v.part(c).Segment.Medium(c.Ord).Service() }

// title returns the lengths and checksums of a candidate's title.
func (v *view) title(c scoring.Candidate) segment.Title { return v.part(c).Segment.Title(c.Ord) }
