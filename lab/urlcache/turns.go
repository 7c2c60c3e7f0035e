package main

import (
	"errors"
	"math/rand/v2"
	"slices"

	"anatomy/vocab"
)

// Mercator's proportions: the share of links that stay on their host, and of those that repeat one of
// their page.
const (
	stayShare    = .815
	repeatedLink = 1 - 42.74/62.55
)

// inTurns returns a stream of real pages with the locality of Mercator's: so many sites take turns page
// by page, each is read to its end, and another follows. A crawl has fewer hosts than Mercator's threads,
// so hosts are read several times. Each time is a site of its own, whose links to itself lead to URLs of
// its own. A link to another host leads to one of the sites that this host was, by popularity
// (log-uniform, as in the synthetic stream). Manuals repeat more links of a page than Mercator's pages,
// so repeated links are left out at random until their share is Mercator's.
//
// Of two crawls each has as many of the sites that take turns as it needs for stayShare of the links to
// stay on their host.
func inTurns(crawls []*crawled, links int, seed uint64, away bool, atOnce int) ([]vocab.Fingerprint, summary, error) {
	t := turns{rand: rand.New(rand.NewPCG(seed, 0)), away: away}
	for _, c := range crawls {
		w := &turnsWeb{crawled: c, times: make([]int, len(c.sites)), shares: c.shares()}
		for host, pages := range c.sites {
			if len(pages) > 0 {
				w.read = append(w.read, host)
			}
		}
		if len(w.read) == 0 {
			return nil, summary{}, errors.New("a crawl has no page")
		}
		t.webs = append(t.webs, w)
	}
	share := 1.0
	if len(crawls) > 1 {
		var err error
		if share, err = mixture(t.webs[0].shares, t.webs[1].shares); err != nil {
			return nil, summary{}, err
		}
	}
	open := make([]reading, atOnce)
	for i := range open {
		web := t.webs[0]
		if float64(i) >= share*float64(atOnce) {
			web = t.webs[1]
		}
		// A random page, so that the sites do not end together, and each page is as likely as later.
		at := t.rand.IntN(len(web.pages))
		open[i] = t.begin(web, web.pages[at].host)
		open[i].next = slices.Index(web.sites[open[i].host], at)
	}
	for i := 0; len(t.stream) < links && t.sum.pages < links; i = (i + 1) % atOnce {
		t.turn(&open[i])
	}
	return t.stream[:min(links, len(t.stream))], t.sum, nil
}

// Shares are what of a crawl's links is kept, and stays on its host.
type shares struct {
	repeated float64 // of the repeated links that is kept
	links    float64 // a page, of which so many stay
	stay     float64
}

func (c *crawled) shares() shares {
	var first, repeated, stay, stayRepeated float64
	for i := range c.pages {
		p := &c.pages[i]
		for k, again := range p.repeats() {
			n, s := &first, &stay
			if again {
				n, s = &repeated, &stayRepeated
			}
			*n++
			if p.links[k].host == p.host {
				*s++
			}
		}
	}
	kept := 1.0
	if most := first * repeatedLink / (1 - repeatedLink); repeated > most {
		kept = most / repeated
	}
	pages := float64(len(c.pages))
	return shares{kept, (first + kept*repeated) / pages, (stay + kept*stayRepeated) / pages}
}

// repeats reports of each link whether one before it on the page has its URL.
func (p *crawledPage) repeats() []bool {
	all := make([]bool, len(p.links))
	on := map[vocab.Fingerprint]bool{}
	for i, l := range p.links {
		all[i] = on[l.to]
		on[l.to] = true
	}
	return all
}

// mixture returns the share of pages of the first crawl with which stayShare of all links stay.
func mixture(a, b shares) (float64, error) {
	x, y := a.stay-stayShare*a.links, b.stay-stayShare*b.links // more than stayShare, a page
	if x*y >= 0 {
		return 0, errors.New("of one crawl more than 81.5 % of the links must stay on their host, of the other less")
	}
	return y / (y - x), nil
}

// turns makes a stream.
type turns struct {
	rand   *rand.Rand
	webs   []*turnsWeb
	away   bool
	stream []vocab.Fingerprint
	sum    summary
}

// A turnsWeb is a crawl whose hosts are read several times.
type turnsWeb struct {
	*crawled
	shares
	read  []int // hosts with pages
	times []int // that each host was begun
	begun int   // all of them
}

// A reading is a site that takes its turns: a host, read for the nth time.
type reading struct {
	web        *turnsWeb
	host, time int
	next       int // of its pages
}

func (t *turns) begin(web *turnsWeb, host int) reading {
	r := reading{web: web, host: host, time: web.times[host]}
	web.times[host]++
	web.begun++
	t.sum.sites++
	return r
}

// turn reads a page.
func (t *turns) turn(r *reading) {
	pages := r.web.sites[r.host]
	p := t.thinned(r.web, &r.web.pages[pages[r.next]])
	t.sum.count(p)
	for _, l := range p.links {
		if l.host == r.host {
			if !t.away {
				t.stream = append(t.stream, ofTime(l.to, r.time))
			}
			continue
		}
		times := r.web.times[l.host]
		if times == 0 { // a host that the crawl did not read
			times = r.web.begun/len(r.web.read) + 1
		}
		t.stream = append(t.stream, ofTime(l.to, logUniform(t.rand, times)))
	}
	if r.next++; r.next == len(pages) {
		*r = t.begin(r.web, r.web.read[t.rand.IntN(len(r.web.read))])
	}
}

// thinned returns a page with a share of its repeated links.
func (t *turns) thinned(web *turnsWeb, p *crawledPage) *crawledPage {
	kept := &crawledPage{host: p.host}
	for i, again := range p.repeats() {
		if !again || t.rand.Float64() < web.repeated {
			kept.links = append(kept.links, p.links[i])
		}
	}
	return kept
}

// ofTime returns the URL of a site when its host is read for the nth time.
func ofTime(to vocab.Fingerprint, n int) vocab.Fingerprint { return to ^ fingerprint(n, 0) }
