package engine

import (
	"cmp"
	"math"
	"slices"
	"time"

	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A RankReport says what a computation of PageRank found. Its form in JSON is that of
// "anatomy pagerank --json".
type RankReport struct {
	Vector *rankvector.Vector `json:"-"`

	Name         string    `json:"name"`   // of the vector
	Method       string    `json:"method"` // pages, hosts or harmonic
	Computed     time.Time `json:"computed"`
	Damping      float64   `json:"damping"`
	Tolerance    float64   `json:"tolerance"`
	Personalized string    `json:"personalized,omitempty"` // "" for all pages alike
	Missing      []string  `json:"missing,omitempty"`      // places of the personalisation that nothing known is in

	Pages    int     `json:"pages"` // nodes: documents that are no alias of another and are not gone
	Links    uint64  `json:"links"`
	Dangled  int     `json:"dangling"` // nodes without links
	Teleport int     `json:"teleport"` // nodes that teleportation goes to; 0: all
	Seconds  float64 `json:"seconds"`

	Residuals []float64    `json:"residuals"` // L1 change, by iteration
	Half      int          `json:"half"`      // so many pages, the highest, hold half of all rank
	Levels    []RankLevel  `json:"levels"`    // ascending
	Hosts     []HostRank   `json:"hosts"`     // those with the largest shares
	HostCount int          `json:"host_count"`
	Top       []RankedPage `json:"top"` // the highest, with their URLs

	Compared bool         `json:"compared"` // there was a vector before: the rest is against it
	Moved    float64      `json:"moved"`    // share of all rank that is elsewhere now: half the L1 distance
	Gainers  []RankedPage `json:"gainers"`
	Losers   []RankedPage `json:"losers"`
}

// A RankedPage is a document with its share of rank.
type RankedPage struct {
	Doc    vocab.DocID `json:"doc"`
	URL    string      `json:"url"`
	Rank   float64     `json:"rank"`
	Before float64     `json:"before"` // 0 where there was no vector before
}

// A RankLevel is the pages with ranks from From up to twice that, in multiples of the mean.
type RankLevel struct {
	From  float64 `json:"from"`
	Pages int     `json:"pages"`
	Share float64 `json:"share"` // of all rank
}

// A HostRank is a host with the rank of its pages.
type HostRank struct {
	Host   string  `json:"host"`
	Pages  int     `json:"pages"`
	Share  float64 `json:"share"`
	Before float64 `json:"before"`
}

// How much a report names.
const (
	topPages = 10
	topHosts = 20
)

// noticeable is by which factor a page gained or lost that a report names: less is what the tolerance leaves.
const noticeable = 1.001

// minLevel bounds the levels: from 2^-20 of the mean down all is one.
const minLevel = -20

// compare fills the report from its vector and the one before, with the URLs of the documents.
func (r *RankReport) compare(set *linkdb.Set, before *rankvector.Vector) error {
	v := r.Vector
	r.Computed, r.Damping, r.Tolerance, r.Personalized = v.Computed, v.Damping, v.Tolerance, v.Personalized
	r.Compared = before != nil
	var all []RankedPage
	for doc, rank := range v.Ranks {
		p := RankedPage{Doc: vocab.DocID(doc), Rank: float64(rank)}
		if before != nil && doc < len(before.Ranks) {
			p.Before = float64(before.Ranks[doc])
		}
		r.Moved += math.Abs(p.Rank-p.Before) / 2
		if rank > 0 {
			all = append(all, p)
		}
	}
	if !r.Compared {
		r.Moved = 0
	}
	r.distribute(all)
	take := func(better func(a, b RankedPage) int, keep func(RankedPage) bool) []RankedPage {
		slices.SortFunc(all, func(a, b RankedPage) int { return cmp.Or(better(a, b), cmp.Compare(a.Doc, b.Doc)) })
		best := slices.Clone(all[:min(topPages, len(all))])
		return slices.DeleteFunc(best, func(p RankedPage) bool { return !keep(p) })
	}
	r.Top = take(func(a, b RankedPage) int { return cmp.Compare(b.Rank, a.Rank) }, func(RankedPage) bool { return true })
	if half := 0.0; true {
		r.Half = slices.IndexFunc(all, func(p RankedPage) bool { half += p.Rank; return half >= 0.5 }) + 1
	}
	if r.Compared {
		gain := func(a, b RankedPage) int { return cmp.Compare(b.Rank-b.Before, a.Rank-a.Before) }
		r.Gainers = take(gain, func(p RankedPage) bool { return p.Rank > p.Before*noticeable })
		r.Losers = take(func(a, b RankedPage) int { return gain(b, a) }, func(p RankedPage) bool { return p.Rank*noticeable < p.Before })
	}
	return r.name(set, before)
}

// distribute fills Levels.
func (r *RankReport) distribute(all []RankedPage) {
	levels := map[int]*RankLevel{}
	for _, p := range all {
		i := max(minLevel, int(math.Floor(math.Log2(p.Rank*float64(r.Pages)))))
		if levels[i] == nil {
			levels[i] = &RankLevel{From: math.Exp2(float64(i))}
		}
		levels[i].Pages++
		levels[i].Share += p.Rank
	}
	for _, l := range levels {
		r.Levels = append(r.Levels, *l)
	}
	slices.SortFunc(r.Levels, func(a, b RankLevel) int { return cmp.Compare(a.From, b.From) })
}

// name fills in the URLs, and Hosts.
func (r *RankReport) name(set *linkdb.Set, before *rankvector.Vector) error {
	wanted := map[vocab.DocID][]*RankedPage{}
	for _, list := range [][]RankedPage{r.Top, r.Gainers, r.Losers} {
		for i := range list {
			wanted[list[i].Doc] = append(wanted[list[i].Doc], &list[i])
		}
	}
	hosts := map[string]*HostRank{}
	for name, err := range set.Names() {
		if err != nil {
			return err
		}
		for _, p := range wanted[name.Doc] {
			p.URL = name.URL
		}
		now, then := rankOf(r.Vector, name.Doc), rankOf(before, name.Doc)
		u, err := weburl.Parse(name.URL)
		if now == 0 && then == 0 || err != nil {
			continue
		}
		h := hosts[u.Host()]
		if h == nil {
			h = &HostRank{Host: u.Host()}
			hosts[h.Host] = h
		}
		h.Share += now
		h.Before += then
		if now > 0 {
			h.Pages++
		}
	}
	for _, h := range hosts {
		r.Hosts = append(r.Hosts, *h)
	}
	slices.SortFunc(r.Hosts, func(a, b HostRank) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Host, b.Host)) })
	r.HostCount = len(r.Hosts)
	r.Hosts = r.Hosts[:min(topHosts, len(r.Hosts))]
	return nil
}

func rankOf(v *rankvector.Vector, doc vocab.DocID) float64 {
	if v == nil || doc >= vocab.DocID(len(v.Ranks)) {
		return 0
	}
	return float64(v.Ranks[doc])
}
