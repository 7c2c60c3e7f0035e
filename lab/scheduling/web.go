package main

import (
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
	pages   []page // the first is where the crawl begins; where makeWeb made them, those of a server stand together, its home page first
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

// The servers are like those of CJS where it says: 24 % take one request a connection, 66 % take
// 100; of the others it does not, and they take 2 to 99 here. Ours are: sizes by a power of the rank,
// times log-normal, both drawn apart from each other.
const (
	sizeExponent = 0.4 // the largest of 500 servers has 1.5 % of the pages
	medianAnswer = 100 * time.Millisecond
	sigmaAnswer  = 0.7
	medianOpen   = 40 * time.Millisecond
	sigmaOpen    = 0.8
	branching    = 8  // pages that a page is the only sure way to
	otherLinks   = 12 // besides, on average
	homeShare    = 0.7
	outShare     = 0.2 // of the other links; Mercator saw 18.5 % leave the host
)

// makeWeb makes a web of which every page is reached from the first.
func makeWeb(servers, pages int, seed uint64) (*web, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &web{servers: make([]server, servers), pages: make([]page, 0, pages)}
	rank := r.Perm(servers) // of their popularity, drawn apart from their size
	rank[slices.Index(rank, 0)], rank[0] = rank[0], 0
	byRank := make([]int, servers)
	for s, k := range rank {
		byRank[k] = s
	}
	for s, n := range sizes(servers, pages) {
		w.servers[s] = makeServer(r)
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

// makeServer draws how fast a server is.
func makeServer(r *rand.Rand) server {
	return server{connect: logNormal(r, medianOpen, sigmaOpen), answer: logNormal(r, medianAnswer, sigmaAnswer), perConnection: perConnection(r)}
}

// furnish gives a page its links.
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
func sizes(servers, pages int) []int {
	total := 0.0
	for i := range servers {
		total += math.Pow(float64(i+1), -sizeExponent)
	}
	all := make([]int, servers)
	left := pages
	for i := range all {
		all[i] = max(1, int(float64(pages)*math.Pow(float64(i+1), -sizeExponent)/total))
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

// logUniform gives a number below n, small ones most.
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
