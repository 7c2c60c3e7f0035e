package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"anatomy/pagerank"
	"anatomy/weburl"
)

// A web is servers with pages that link to one another.
type web struct {
	servers []server
	pages   []page // the crawl begins at the first; those of a server made by makeWeb are adjacent, its home page first
}

type server struct {
	connect, answer time.Duration // means
	perConnection   int           // requests until it closes the connection
	first, n        int           // of its pages; first is for makeWeb
}

type page struct {
	server int
	url    weburl.URL
	links  []int // distinct
}

// A setting is the distribution of the sizes and speeds of servers, which CJS does not state. It
// states that 24 % take one request a connection and 66 % take 100; the others take 2 to 99 here.
// Sizes are a power of the rank of a server, times are log-normal.
type setting struct {
	sizes   float64       // exponent: the server of rank k has a share of k^-sizes of the pages
	spread  float64       // sigma of the times of servers' answers, their median is medianAnswer
	opening time.Duration // median of the times of connecting
	fast    bool          // the larger a server, the faster; else size and speed are drawn apart
	popular bool          // the larger a server, the more links lead to it; else as with fast
}

// shortOpening is the median time of opening a connection, if that is not varied.
const shortOpening = 40 * time.Millisecond

// paper is the setting in which most of the paper's figures come out: see --sweep.
var paper = setting{sizes: .6, spread: 1, opening: shortOpening, fast: true}

// String describes the web: how long its pages occupy connections, and those of its slowest server
// its one connection.
func (w *web) String() string {
	work, longest := w.work()
	return fmt.Sprintf("%d servers, %d pages; all work %.0f s, the longest of a server %.0f s",
		len(w.servers), len(w.pages), work.Seconds(), longest.Seconds())
}

// work returns how long the pages of all servers, and of the slowest one, occupy connections.
func (w *web) work() (all, longest time.Duration) {
	for i := range w.servers {
		s := &w.servers[i]
		t := time.Duration(s.n) * s.perPage()
		all += t
		longest = max(longest, t)
	}
	return all, longest
}

const (
	medianAnswer = 100 * time.Millisecond
	sigmaOpen    = 0.8
	branching    = 8  // pages that a page is the only sure way to
	otherLinks   = 12 // besides, on average
	homeShare    = 0.7
	outShare     = 0.2 // of the other links; Mercator saw 18.5 % leave the host
)

// makeWeb makes a web of which every page is reached from the first.
func (set setting) makeWeb(servers, pages int, seed uint64) (*web, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &web{servers: make([]server, servers), pages: make([]page, 0, pages)}
	rank := r.Perm(servers) // of their popularity
	rank[slices.Index(rank, 0)], rank[0] = rank[0], 0
	if set.popular {
		slices.Sort(rank)
	}
	byRank := make([]int, servers)
	for s, k := range rank {
		byRank[k] = s
	}
	speeds := set.makeServers(r, servers)
	for s, n := range sizes(servers, pages, set.sizes) {
		w.servers[s] = speeds[s]
		w.servers[s].first, w.servers[s].n = len(w.pages), n
		for i := range n {
			u, err := weburl.Parse(fmt.Sprintf("http://server%d.test/%d", s, i))
			if err != nil {
				return nil, err
			}
			w.pages = append(w.pages, page{server: s, url: u})
		}
	}
	for k, s := range byRank[1:] { // a way to each home page from a more popular server
		from := w.servers[byRank[r.IntN(k+1)]]
		w.link(from.first+logUniform(r, from.n), w.servers[s].first)
	}
	for id := range w.pages {
		w.furnish(r, id, byRank)
	}
	return w, nil
}

// makeServers draws how fast servers are, the largest first.
func (set setting) makeServers(r *rand.Rand, n int) []server {
	all := make([]server, n)
	for i := range all {
		all[i] = server{
			connect:       logNormal(r, set.opening, sigmaOpen),
			answer:        logNormal(r, medianAnswer, set.spread),
			perConnection: perConnection(r),
		}
	}
	if set.fast {
		slices.SortFunc(all, func(a, b server) int { return cmp.Compare(a.perPage(), b.perPage()) })
	}
	return all
}

// perPage returns the time that a page of the server occupies a connection.
func (s *server) perPage() time.Duration {
	return s.answer + 2*s.connect/time.Duration(s.perConnection)
}

// furnish adds the links of a page.
func (w *web) furnish(r *rand.Rand, id int, byRank []int) {
	own := w.servers[w.pages[id].server]
	for child := (id-own.first)*branching + 1; child <= (id-own.first+1)*branching && child < own.n; child++ {
		w.link(id, own.first+child)
	}
	if r.Float64() < homeShare {
		w.link(id, own.first)
	}
	for range r.IntN(2*otherLinks + 1) {
		if r.Float64() >= outShare {
			w.link(id, own.first+logUniform(r, own.n))
			continue
		}
		to := w.servers[byRank[logUniform(r, len(byRank))]]
		if r.IntN(2) == 0 {
			w.link(id, to.first)
		} else {
			w.link(id, to.first+logUniform(r, to.n))
		}
	}
}

func (w *web) link(from, to int) {
	if p := &w.pages[from]; from != to && !slices.Contains(p.links, to) {
		p.links = append(p.links, to)
	}
}

// sizes divides the pages among the servers; each has one at least.
func sizes(servers, pages int, exponent float64) []int {
	total := 0.0
	for i := range servers {
		total += math.Pow(float64(i+1), -exponent)
	}
	all := make([]int, servers)
	left := pages
	for i := range all {
		all[i] = max(1, int(float64(pages)*math.Pow(float64(i+1), -exponent)/total))
		left -= all[i]
	}
	all[0] += left
	return all
}

func perConnection(r *rand.Rand) int {
	switch p := r.Float64(); {
	case p < 0.24:
		return 1
	case p < 0.90:
		return 100
	}
	return 2 + r.IntN(98)
}

func logNormal(r *rand.Rand, median time.Duration, sigma float64) time.Duration {
	return time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
}

// logUniform returns a number below n; small ones are most frequent.
func logUniform(r *rand.Rand, n int) int {
	return min(n-1, int(math.Pow(float64(n+1), r.Float64()))-1)
}

// pageRanks are the qualities of the first experiment, 1 on average.
func (w *web) pageRanks() ([]float64, error) {
	var b pagerank.Builder
	b.Grow(len(w.pages))
	var targets []uint32
	for id, p := range w.pages {
		targets = targets[:0]
		for _, to := range p.links {
			targets = append(targets, uint32(to))
		}
		b.Add(uint32(id), targets)
	}
	g, err := b.Graph()
	if err != nil {
		return nil, err
	}
	result, err := pagerank.Compute(context.Background(), g, pagerank.Options{})
	if err != nil {
		return nil, err
	}
	quality := make([]float64, len(w.pages))
	for id := range quality {
		quality[id] = float64(result.Ranks[id]) * float64(len(w.pages))
	}
	return quality, nil
}

// zipf are those of the second: by Zipf's law with exponent 1, given to pages at random.
func (w *web) zipf(seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	harmonic := 0.0
	for i := range w.pages {
		harmonic += 1 / float64(i+1)
	}
	quality := make([]float64, len(w.pages))
	for i, id := range r.Perm(len(w.pages)) {
		quality[id] = float64(len(w.pages)) / harmonic / float64(i+1)
	}
	return quality
}
