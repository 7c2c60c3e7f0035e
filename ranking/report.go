package ranking

import (
	"cmp"
	"math"
	"slices"
	"time"

	"anatomy/disk/rankvector"
	"anatomy/pagerank"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Report describes a computation. Its JSON is that of "anatomy pagerank --json".
type Report struct {
	Vector *rankvector.Vector `json:"-"`

	Name         string    `json:"name"`   // name of the vector
	Method       string    `json:"method"` // vouched, pages, hosts or harmonic
	Computed     time.Time `json:"computed"`
	Damping      float64   `json:"damping"`
	Tolerance    float64   `json:"tolerance"`
	Personalized string    `json:"personalized,omitempty"` // see Options.Title; "" if not personalised
	Missing      []string  `json:"missing,omitempty"`      // teleport targets without a page

	Pages    int     `json:"pages"` // nodes: documents with a rank
	Links    uint64  `json:"links"`
	Dangled  int     `json:"dangling"` // nodes without out-links
	Teleport int     `json:"teleport"` // size of the teleport set; 0 for all nodes
	Unlinked int     `json:"unlinked"` // fetched sites whose ranks vouchers lower: no other site links to them
	Seconds  float64 `json:"seconds"`

	Residuals []float64    `json:"residuals"` // L1 change by iteration
	Half      int          `json:"half"`      // number of top pages that have half of all rank
	Levels    []Level      `json:"levels"`    // ascending
	Hosts     []HostRank   `json:"hosts"`     // hosts with the largest shares
	HostCount int          `json:"host_count"`
	Top       []RankedPage `json:"top"` // the top pages, with their URLs

	Compared bool         `json:"compared"` // there was a previous vector; the fields below compare the two
	Moved    float64      `json:"moved"`    // share of all rank that moved: half the L1 distance
	Gainers  []RankedPage `json:"gainers"`
	Losers   []RankedPage `json:"losers"`
}

// A RankedPage is a document with its share of rank.
type RankedPage struct {
	Doc    vocab.DocID `json:"doc"`
	URL    string      `json:"url"`
	Rank   float64     `json:"rank"`
	Before float64     `json:"before"` // 0 without a previous vector
}

// A Level is the pages with ranks in [From, 2·From), in multiples of the mean.
type Level struct {
	From  float64 `json:"from"`
	Pages int     `json:"pages"`
	Share float64 `json:"share"` // share of all rank
}

// A HostRank is a host with the sum of its pages' ranks.
type HostRank struct {
	Host   string  `json:"host"`
	Pages  int     `json:"pages"`
	Share  float64 `json:"share"`
	Before float64 `json:"before"`
}

// Lengths of the lists in a report.
const (
	topPages = 10
	topHosts = 20
)

// noticeable is the minimum factor by which a listed page has gained or lost. Smaller changes are
// within the tolerance of the iteration.
const noticeable = 1.001

// minLevel is the exponent of the lowest level, which has all ranks below 2^-19 of the mean.
const minLevel = -20

// ReportGraph returns the report of ranks of an edge list, which o.Keep has kept in result. Doc and URL
// of its pages are the node and its name; hosts are those of names that are URLs.
func ReportGraph(result *pagerank.Result, o pagerank.Options, residuals []float64, began time.Time) *Report {
	v := &rankvector.Vector{
		Damping: o.Damping, Tolerance: o.Tolerance, Computed: time.Now().UTC().Truncate(time.Second),
		Ranks: make([]float32, len(result.Ranks)),
	}
	for node, rank := range result.Ranks {
		v.Ranks[node] = max(float32(rank), math.SmallestNonzeroFloat32)
	}
	r := &Report{
		Vector: v, Pages: len(v.Ranks), Links: uint64(result.Links), Dangled: result.Dangling,
		Teleport: len(o.Personalize), Residuals: residuals,
	}
	r.compareRanks(nil)
	for _, list := range [][]RankedPage{r.Top, r.Gainers, r.Losers} {
		for i := range list {
			list[i].URL = result.Name(int(list[i].Doc))
		}
	}
	hosts := hostShares{}
	for node, rank := range v.Ranks {
		hosts.add(result.Name(node), float64(rank), 0)
	}
	r.addHosts(hosts)
	r.Seconds = time.Since(began).Seconds()
	return r
}

// compare fills in the report from its vector and the previous one, which may be nil.
func (r *Report) compare(set *links, before *rankvector.Vector) error {
	r.compareRanks(before)
	return r.name(set, before)
}

// compareRanks is compare without the names of pages and hosts.
func (r *Report) compareRanks(before *rankvector.Vector) {
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
		slices.SortFunc(all, func(a, b RankedPage) int {
			return cmp.Or(better(a, b), cmp.Compare(a.Doc, b.Doc))
		})
		best := slices.Clone(all[:min(topPages, len(all))])
		return slices.DeleteFunc(best, func(p RankedPage) bool { return !keep(p) })
	}
	byRank := func(a, b RankedPage) int { return cmp.Compare(b.Rank, a.Rank) }
	r.Top = take(byRank, func(RankedPage) bool { return true })
	sum := 0.0
	r.Half = slices.IndexFunc(all, func(p RankedPage) bool { sum += p.Rank; return sum >= 0.5 }) + 1
	if r.Compared {
		gain := func(a, b RankedPage) int { return cmp.Compare(b.Rank-b.Before, a.Rank-a.Before) }
		r.Gainers = take(gain, func(p RankedPage) bool { return p.Rank > p.Before*noticeable })
		loss := func(a, b RankedPage) int { return gain(b, a) }
		r.Losers = take(loss, func(p RankedPage) bool { return p.Rank*noticeable < p.Before })
	}
}

// distribute fills in Levels.
func (r *Report) distribute(all []RankedPage) {
	levels := map[int]*Level{}
	for _, p := range all {
		i := max(minLevel, int(math.Floor(math.Log2(p.Rank*float64(r.Pages)))))
		if levels[i] == nil {
			levels[i] = &Level{From: math.Exp2(float64(i))}
		}
		levels[i].Pages++
		levels[i].Share += p.Rank
	}
	for _, l := range levels {
		r.Levels = append(r.Levels, *l)
	}
	slices.SortFunc(r.Levels, func(a, b Level) int { return cmp.Compare(a.From, b.From) })
}

// name fills in the URLs and Hosts.
func (r *Report) name(set *links, before *rankvector.Vector) error {
	wanted := map[vocab.DocID][]*RankedPage{}
	for _, list := range [][]RankedPage{r.Top, r.Gainers, r.Losers} {
		for i := range list {
			wanted[list[i].Doc] = append(wanted[list[i].Doc], &list[i])
		}
	}
	hosts := hostShares{}
	for name, err := range set.Names() {
		if err != nil {
			return err
		}
		for _, p := range wanted[name.Doc] {
			p.Doc, p.URL = set.outer(name.Doc), name.URL
		}
		hosts.add(name.URL, r.Vector.Rank(name.Doc), before.Rank(name.Doc))
	}
	r.addHosts(hosts)
	return nil
}

// hostShares are the hosts of the pages so far.
type hostShares map[string]*HostRank

// add adds the rank of a page now and before. What is not a URL or has neither is left out.
func (hosts hostShares) add(url string, now, then float64) {
	u, err := weburl.Parse(url)
	if now == 0 && then == 0 || err != nil {
		return
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

// addHosts fills in Hosts.
func (r *Report) addHosts(hosts hostShares) {
	for _, h := range hosts {
		r.Hosts = append(r.Hosts, *h)
	}
	slices.SortFunc(r.Hosts, func(a, b HostRank) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Host, b.Host))
	})
	r.HostCount = len(r.Hosts)
	r.Hosts = r.Hosts[:min(topHosts, len(r.Hosts))]
}
