// Command spam puts link farms into the graph of a crawl and prints how far each lifts its target:
// for PageRank as published, for the ranks that searches use (pagerank.Vouchers), and for TrustRank
// (Gyöngyi and others, VLDB 2004).
//
//	anatomy crawl --data small http://www.docs.test/ …
//	go run ./lab/spam --data small
//
// A farm is a site of its own whose pages link to its target, which links back to them. Some pages
// of other sites may link to the target. A lift is the target's rank divided by that of a page that
// nothing links to; under TrustRank, which gives that page nothing, divided by the mean rank. A place is
// one more than the number of honest pages with a higher rank.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"
	"sort"

	"anatomy/disk/linkdb"
	"anatomy/pagerank"
	"anatomy/vocab"
	"anatomy/weburl"
)

func main() {
	data := flag.String("data", "anatomy-data", "read the links of the data folder `DIR`")
	seed := flag.Uint64("seed", 1, "of the pages that link to a farm")
	flag.Parse()
	if err := run(*data, *seed); err != nil {
		log.Fatal("spam: ", err)
	}
}

func run(data string, seed uint64) error {
	w, err := readWeb(data)
	if err != nil {
		return err
	}
	honest, err := w.rank()
	if err != nil {
		return err
	}
	fmt.Printf("%d pages on %d sites; Kendall's tau to published ranks: weighed %.3f, TrustRank %.3f\n\n",
		len(w.site), w.sites, pagerank.Kendall(honest.published, honest.weighed),
		pagerank.Kendall(honest.published, honest.trusted))
	fmt.Println("  farm  links  from  | published       | weighed         | TrustRank")
	fmt.Println(" pages         sites |    lift   place |    lift   place |  of mean  place")
	for _, pages := range []int{1, 10, 100, 1_000, 10_000} {
		for _, from := range []struct{ links, sites int }{{0, 0}, {1, 1}, {10, 1}, {10, 10}} {
			if from.sites >= w.sites {
				continue
			}
			f := w.withFarm(pages, from.links, from.sites, rand.New(rand.NewPCG(seed, uint64(pages))))
			r, err := f.rank()
			if err != nil {
				return err
			}
			target, alone := len(w.site), len(w.site)+1
			lift := func(ranks []float32) float64 { return float64(ranks[target] / ranks[alone]) }
			place := func(ranks []float32) (n int) {
				for _, rank := range ranks[:len(w.site)] {
					if rank > ranks[target] {
						n++
					}
				}
				return n + 1
			}
			fmt.Printf("%6d %6d %6d | %7.2f %7d | %7.2f %7d | %8.3f %6d\n", pages, from.links, from.sites,
				lift(r.published), place(r.published), lift(r.weighed), place(r.weighed),
				r.trusted[target]*float32(len(r.trusted)), place(r.trusted))
		}
	}
	return nil
}

// A web is the graph of a crawl, with the site of each page.
type web struct {
	site  []uint32 // by page
	sites int
	out   [][]uint32 // by page, nil if it was not fetched
	seeds []uint32   // pages to trust: those from which most pages are reached
}

// readWeb reads the links of a data folder.
func readWeb(dir string) (*web, error) {
	set, err := linkdb.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	w, nodes, sites := &web{}, map[vocab.DocID]uint32{}, map[string]uint32{}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		u, err := weburl.Parse(name.URL)
		if err != nil || !set.IsCanonical(name.Doc) {
			continue
		}
		site, known := sites[u.Site()]
		if !known {
			site = uint32(len(sites))
			sites[u.Site()] = site
		}
		nodes[name.Doc] = uint32(len(w.site))
		w.site = append(w.site, site)
	}
	w.sites, w.out = len(sites), make([][]uint32, len(w.site))
	for source, err := range set.Links() {
		if err != nil {
			return nil, err
		}
		from, known := nodes[source.Doc]
		if !known {
			continue
		}
		w.out[from] = []uint32{}
		for _, t := range source.Targets {
			if to, known := nodes[t.Doc]; known && t.Flags&vocab.NoFollow == 0 {
				w.out[from] = append(w.out[from], to)
			}
		}
	}
	w.seeds, err = w.trusted(20)
	return w, err
}

// withFarm returns the web with a target, a page that nothing links to, and the pages of a farm. Some
// fetched pages of so many other sites link to the target.
func (w *web) withFarm(pages, links, sites int, r *rand.Rand) *web {
	f := &web{site: slices.Clone(w.site), out: slices.Clone(w.out), sites: w.sites + 2, seeds: w.seeds}
	target := uint32(len(w.site))
	farm, alone := uint32(w.sites), uint32(w.sites+1)
	f.site = append(f.site, farm, alone)
	f.out = append(f.out, []uint32{}, nil)
	for range pages {
		p := uint32(len(f.site))
		f.site, f.out = append(f.site, farm), append(f.out, []uint32{target})
		f.out[target] = append(f.out[target], p)
	}
	var linkers []uint32 // sites
	for _, p := range r.Perm(len(w.site)) {
		site := w.site[p]
		if w.out[p] == nil || !slices.Contains(linkers, site) && len(linkers) == sites {
			continue
		}
		if links == 0 {
			break
		}
		if !slices.Contains(linkers, site) {
			linkers = append(linkers, site)
		} else if links <= sites-len(linkers) {
			continue // the links that are left are for further sites
		}
		f.out[p] = append(slices.Clone(f.out[p]), target)
		links--
	}
	return f
}

// ranks are the ranks of the pages of a web.
type ranks struct{ published, weighed, trusted []float32 }

func (w *web) rank() (r ranks, err error) {
	if r.published, err = w.compute(nil, false); err != nil {
		return r, err
	}
	teleport := map[uint32]float64{}
	for _, p := range w.seeds {
		teleport[p] = 1
	}
	if r.trusted, err = w.compute(teleport, false); err != nil {
		return r, err
	}
	v := pagerank.NewVouchers(w.site, w.sites)
	for p, targets := range w.out {
		if targets != nil {
			v.Add(uint32(p), targets)
		}
	}
	r.weighed = slices.Clone(r.published)
	v.Weigh(r.weighed)
	return r, nil
}

// compute returns PageRank of the web, or of the web with all links reversed.
func (w *web) compute(teleport map[uint32]float64, reversed bool) ([]float32, error) {
	b := &pagerank.Builder{}
	b.Grow(len(w.site))
	for p, targets := range w.out {
		if !reversed {
			b.Add(uint32(p), targets)
			continue
		}
		for _, to := range targets {
			b.Add(to, []uint32{uint32(p)})
		}
	}
	g, err := b.Graph()
	if err != nil {
		return nil, err
	}
	r, err := pagerank.Compute(context.Background(), g, pagerank.Options{Personalize: teleport})
	if err != nil {
		return nil, err
	}
	found := make([]float32, len(r.Ranks))
	for i, rank := range r.Ranks {
		found[i] = float32(rank)
	}
	return found, nil
}

// trusted returns the n pages from which the most are reached: the highest by inverse PageRank.
func (w *web) trusted(n int) ([]uint32, error) {
	inverse, err := w.compute(nil, true)
	if err != nil {
		return nil, err
	}
	order := make([]uint32, len(inverse))
	for i := range order {
		order[i] = uint32(i)
	}
	sort.SliceStable(order, func(i, j int) bool { return inverse[order[i]] > inverse[order[j]] })
	return order[:min(n, len(order))], nil
}
