package pagerank

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A siteWeb is a graph whose nodes are pages of sites.
type siteWeb struct {
	site  []uint32 // by node
	out   [][]uint32
	sites uint32
}

func (w *siteWeb) page(site uint32) uint32 {
	w.site, w.out = append(w.site, site), append(w.out, nil)
	w.sites = max(w.sites, site+1)
	return uint32(len(w.site) - 1)
}

func (w *siteWeb) link(from, to uint32) { w.out[from] = append(w.out[from], to) }

// honest returns a web of n sites of up to 200 pages, most of whose links are within their site. The
// first pages of the sites link to one another.
func honest(r *rand.Rand, n int) *siteWeb {
	w := &siteWeb{}
	var homes []uint32
	for site := range uint32(n) {
		home := w.page(site)
		for range 1 + r.IntN(200) {
			p := w.page(site)
			w.link(p, home)
			w.link(home, p)
			for range r.IntN(5) {
				w.link(p, home+uint32(r.IntN(int(p-home))))
			}
		}
		homes = append(homes, home)
	}
	for i, home := range homes {
		w.link(home, homes[(i+1)%n])
		for range 1 + r.IntN(3) {
			w.link(home, homes[(i+1+r.IntN(n-1))%n])
		}
	}
	return w
}

// ranks returns the ranks of the pages as published, and weighed.
func (w *siteWeb) ranks(t *testing.T) (plain, weighed []float32, unlinked int) {
	b := &Builder{}
	b.Grow(len(w.site))
	v := NewVouchers(w.site, int(w.sites))
	for p, targets := range w.out {
		b.Add(uint32(p), targets)
		if len(targets) > 0 {
			v.Add(uint32(p), targets)
		}
	}
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compute(t.Context(), g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range r.Ranks {
		plain = append(plain, float32(rank))
	}
	weighed = slices.Clone(plain)
	return plain, weighed, v.Weigh(weighed)
}

// TestFarms gives a page of an honest web's new site the links of up to 10,000 pages there. Without a
// link from another site it ranks as a page that nothing links to; each further site lifts it.
func TestFarms(t *testing.T) {
	for _, pages := range []int{1, 10, 100, 1000, 10_000} {
		lifted := 0.0
		for linkers := range 4 {
			w := honest(rand.New(rand.NewPCG(1, uint64(pages))), 20)
			alone := w.page(w.sites)
			farm := w.sites
			target := w.page(farm)
			for range pages {
				p := w.page(farm)
				w.link(p, target)
				w.link(target, p)
			}
			for i := range linkers {
				w.link(uint32(slices.Index(w.site, uint32(i))+1), target)
			}
			plain, weighed, unlinked := w.ranks(t)
			lift := float64(weighed[target] / weighed[alone])
			if linkers == 0 && (lift > 1.05 || lift < 1) || linkers > 0 && lift <= lifted {
				t.Errorf("%d pages, links from %d sites: %.3f times the rank of a page without links, after %.3f",
					pages, linkers, lift, lifted)
			}
			if was := float64(plain[target] / plain[alone]); pages >= 100 && lift > 1.05 && lift > 4*math.Pow(was/4, .61) {
				t.Errorf("%d pages, links from %d sites: %.0f times, as published %.0f times", pages, linkers, lift, was)
			}
			if want := 1 - min(linkers, 1); unlinked != want {
				t.Errorf("%d sites without links from others, want %d", unlinked, want)
			}
			lifted = lift
		}
	}
}

// TestWeigh: weighed ranks sum to 1, and have the order of before within each site.
func TestWeigh(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := honest(r, 2+r.IntN(30))
		for range r.IntN(3) { // sites that only link to others
			p := w.page(w.sites)
			w.link(p, uint32(r.IntN(int(p))))
		}
		plain, weighed, _ := w.ranks(t)
		all := 0.0
		for _, rank := range weighed {
			all += float64(rank)
		}
		if math.Abs(all-1) > 1e-5 {
			t.Errorf("seed %d: the ranks sum to %v", seed, all)
		}
		order := make([]int, len(plain))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(w.site[a], w.site[b]), cmp.Compare(plain[a], plain[b]))
		})
		for i, p := range order[1:] {
			before := order[i]
			if w.site[p] == w.site[before] && weighed[p] < weighed[before]*(1-1e-6) {
				t.Errorf("seed %d: page %d ranks %g before and %g after, page %d %g and %g",
					seed, before, plain[before], weighed[before], p, plain[p], weighed[p])
			}
		}
	}
}

// TestWeighedOrder: on honest webs whose sites are linked to by one to twenty others, all pairs of pages
// keep their order but for a twentieth (Kendall's tau at least .9).
func TestWeighedOrder(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 4))
		w := honest(r, 21)
		for linked := range uint32(21) { // by more sites, the higher its number
			for from := range linked {
				w.link(uint32(slices.Index(w.site, from)), uint32(slices.Index(w.site, linked)))
			}
		}
		plain, weighed, _ := w.ranks(t)
		if tau := Kendall(plain, weighed); tau < .9 {
			t.Errorf("seed %d: Kendall's tau to the ranks as published is %.3f", seed, tau)
		}
	}
}

// TestSitesAlone: the ranks of one site, and of sites that do not know one another, stay as published.
func TestSitesAlone(t *testing.T) {
	w := honest(rand.New(rand.NewPCG(3, 3)), 2)
	for p, targets := range w.out {
		w.out[p] = slices.DeleteFunc(targets, func(to uint32) bool { return w.site[to] != w.site[p] })
	}
	never := w.page(w.sites) // known from a link, not fetched
	w.link(0, never)
	if plain, weighed, unlinked := w.ranks(t); !slices.Equal(plain, weighed) || unlinked > 0 {
		t.Errorf("%d sites were lowered", unlinked)
	}
}

// TestPageWithoutLinks: ranks are the same whether pages without links are added or not. A crawl does
// not know them as sources, a recrawl of pages that have lost their links does.
func TestPageWithoutLinks(t *testing.T) {
	weighed := func(empty bool) []float32 {
		v := NewVouchers([]uint32{0, 0, 1}, 2)
		v.Add(0, []uint32{1, 2})
		if empty {
			v.Add(1, nil)
			v.Add(2, nil)
		}
		ranks := []float32{.2, .3, .5}
		v.Weigh(ranks)
		return ranks
	}
	if got, want := weighed(true), weighed(false); !slices.Equal(got, want) {
		t.Errorf("with pages without links %v, else %v", got, want)
	}
}
