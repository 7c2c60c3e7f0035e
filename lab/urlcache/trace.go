package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"anatomy/vocab"
)

// The synthetic stream has the figures of the stream of BNW03: 62.6 links a page with a median of
// 23 (log-normal, σ = √2), a third of them repeated on the page, 80 % within the site, and a crawl
// that reads 500 sites at once.
//
// The other parameters are ours. A link that is not repeated on its page is new with a chance of
// newShare. Else, within the site, it is of the navigation (the first pages of the site, the first
// most), of the neighbourhood (a page found lately) or of any age. Out of the site it leads to a
// site by popularity (log-uniform, the heaviest of tails: density 1/rank), mostly to its first
// pages. A page that asks for more than that has a long list, of all its site and of new pages.
const (
	medianLinks  = 23
	sigmaLinks   = math.Sqrt2
	maxLinks     = 2000
	repeatShare  = 0.32
	localShare   = 0.80
	newShare     = 0.08 // of the links that are not repeated, and more on long pages
	newSiteShare = 0.15 // of the new links out of the site
	navShare     = 0.65 // of the known links within the site
	nearShare    = 0.25
	navPages     = 30
	nearPages    = 30
	sitesAtOnce  = 500 // the threads of Mercator, each of which reads one site
	visitPages   = 100 // read of a site before another takes its turn
	maxTries     = 8   // for a URL that is not on the page yet
)

// A site has the pages that were found; the first are its navigation.
type site struct{ pages int }

// A summary describes a stream; within and different count the links of a page once.
type summary struct {
	pages, sites, all, different, within int
}

func (s summary) String() string {
	return fmt.Sprintf("%d pages of %d sites, %.1f links a page, %.1f of them distinct, %.1f %% within the site", s.pages, s.sites, s.links(), s.distinct(), s.local())
}

func (s summary) links() float64    { return float64(s.all) / float64(s.pages) }
func (s summary) distinct() float64 { return float64(s.different) / float64(s.pages) }
func (s summary) local() float64    { return 100 * float64(s.within) / float64(s.different) }

type generator struct {
	rand  *rand.Rand
	sites []site
	open  []int // the sites that are read at once
	away  bool  // only links out of the site are part of the stream
	turn  int   // pages read, if sites take turns
	sum   summary
}

// synthesize returns a stream of links. With away it has only links out of a site, which a machine
// with whole sites sends to other machines. With inTurn each of the atOnce sites is read before one
// is read again, as Mercator's delays of ten times a download have it; else any of them is next.
func synthesize(links int, seed uint64, away bool, atOnce int, inTurn bool) ([]vocab.Fingerprint, summary) {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0)), away: away}
	for range 2 * atOnce {
		g.sites = append(g.sites, site{pages: navPages})
	}
	for i := range atOnce {
		g.open = append(g.open, i)
	}
	stream := make([]vocab.Fingerprint, 0, links+maxLinks)
	for len(stream) < links {
		at := g.turn % len(g.open)
		if g.turn++; !inTurn {
			at = g.rand.IntN(len(g.open))
		}
		stream = g.page(stream, g.open[at])
		if g.rand.IntN(visitPages) == 0 {
			g.open[at] = g.rand.IntN(len(g.sites))
		}
	}
	g.sum.sites = len(g.sites)
	return stream[:links], g.sum
}

// page appends the links of one page of a site.
func (g *generator) page(stream []vocab.Fingerprint, of int) []vocab.Fingerprint {
	n := min(maxLinks, int(medianLinks*math.Exp(sigmaLinks*g.rand.NormFloat64())))
	links := make([]link, 0, n)
	on := map[vocab.Fingerprint]bool{}
	for range n {
		if len(links) > 0 && g.rand.Float64() < repeatShare {
			links = append(links, links[g.rand.IntN(len(links))])
			continue
		}
		local := g.rand.Float64() < localShare
		fresh := g.rand.Float64() < newShare
		fp := g.link(of, local, fresh)
		for tries := 0; on[fp] && tries < maxTries; tries++ {
			fp = g.link(of, local, fresh)
		}
		if on[fp] { // a long list: any page of the site, or a new one
			fp, local = fingerprint(of, g.rand.IntN(g.sites[of].pages)), true
			if on[fp] {
				fp = g.grow(of)
			}
		}
		links = append(links, link{fp, local})
		if !on[fp] {
			on[fp] = true
			g.sum.different++
			if local {
				g.sum.within++
			}
		}
	}
	for _, l := range links {
		if !g.away || !l.local {
			stream = append(stream, l.to)
		}
	}
	g.sum.pages++
	g.sum.all += n
	return stream
}

// A link of a page leads to a URL, within its site or out of it.
type link struct {
	to    vocab.Fingerprint
	local bool
}

func (g *generator) link(of int, local, fresh bool) vocab.Fingerprint {
	switch {
	case local && fresh:
		return g.grow(of)
	case local:
		return fingerprint(of, g.known(g.sites[of].pages))
	case fresh && g.rand.Float64() < newSiteShare:
		g.sites = append(g.sites, site{pages: navPages})
		return g.grow(len(g.sites) - 1)
	}
	to := logUniform(g.rand, len(g.sites))
	if fresh {
		return g.grow(to)
	}
	return fingerprint(to, logUniform(g.rand, g.sites[to].pages))
}

func (g *generator) grow(of int) vocab.Fingerprint {
	g.sites[of].pages++
	return fingerprint(of, g.sites[of].pages-1)
}

// known chooses one of the known pages of a site.
func (g *generator) known(pages int) int {
	switch p := g.rand.Float64(); {
	case p < navShare:
		return logUniform(g.rand, min(pages, navPages))
	case p < navShare+nearShare:
		return pages - 1 - g.rand.IntN(min(pages, nearPages))
	}
	return logUniform(g.rand, pages)
}

// logUniform returns a number below n; small ones are most frequent.
func logUniform(r *rand.Rand, n int) int {
	return int(math.Pow(float64(n), r.Float64())+0.5) % n
}

// fingerprint mixes site and page (the finalizer of SplitMix64).
func fingerprint(site, page int) vocab.Fingerprint {
	z := uint64(site)<<32 + uint64(page) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return vocab.Fingerprint(z ^ z>>31)
}
