package pagerank

import (
	"math"
	"slices"
)

// Vouchers count, for each site, the other sites that link to it. A page is cheap and a site is not,
// so the links within a site lift its pages by as much as other sites vouch for it: see
// [Vouchers.Weigh]. The paper's PageRank counts all links alike (BP98 §2.1): if 10,000 pages of a site
// link to one and that links to them, it is lifted over 30,000 times.
type Vouchers struct {
	siteOf []uint32 // by page
	sites  []siteLinks
}

// maxVouchers bounds the number of sites that are counted for one site.
const maxVouchers = 20

// leastShare is the share of a site that no other links to. It keeps the order of its pages, and lifts
// none above 1.05 times the least rank if up to 80,000 pages link to it and it to them.
const leastShare = 1.0 / 256

// Of the lift of a page, its rank divided by the least rank, freeLift counts in full if any other site
// links to its site: half of the pages of a web are lifted less, and a farm has more. Beyond that half
// of the logarithm counts if halfVouchers sites link to it.
const (
	freeLift     = 4
	halfVouchers = 2
)

// siteLinks has the sites that link to a site, and whether the site itself has links.
type siteLinks struct {
	linkers []uint32 // other sites that link to it, ascending; at most maxVouchers
	fetched bool     // a page of it was fetched and has links
}

// NewVouchers returns vouchers for the sites of pages. SiteOf has the site of each page, numbered from
// 0 to sites-1.
func NewVouchers(siteOf []uint32, sites int) *Vouchers {
	return &Vouchers{siteOf, make([]siteLinks, sites)}
}

// Add adds a fetched page and the pages that it links to. A page without links changes nothing: only a
// link database that knew links of it before has it.
func (v *Vouchers) Add(page uint32, targets []uint32) {
	from := v.siteOf[page]
	if len(targets) > 0 {
		v.sites[from].fetched = true
	}
	for _, target := range targets {
		site := v.siteOf[target]
		s := &v.sites[site]
		if site == from || len(s.linkers) == maxVouchers {
			continue
		}
		if at, known := slices.BinarySearch(s.linkers, from); !known {
			s.linkers = slices.Insert(s.linkers, at, from)
		}
	}
}

// Linkers returns the number of other sites that link to the site of a page, at most 20.
func (v *Vouchers) Linkers(page uint32) int { return len(v.sites[v.siteOf[page]].linkers) }

// comparable reports whether there is anything to compare: a fetched site that another links to. In a
// crawl of one site, or of sites that do not know one another, none is less vouched for than others.
func (v *Vouchers) comparable() bool {
	return slices.ContainsFunc(v.sites, func(s siteLinks) bool { return s.fetched && len(s.linkers) > 0 })
}

// lift returns the part that counts of a page's lift x, its rank divided by the least rank of all, if n
// other sites link to its site: the logarithm above that of [freeLift] counts n/(n+[halfVouchers]).
func (s siteLinks) lift(x float64) float64 {
	n := float64(len(s.linkers))
	switch {
	case n == 0:
		return math.Pow(x, leastShare)
	case x <= freeLift:
		return x
	}
	return freeLift * math.Pow(x/freeLift, n/(n+halfVouchers))
}

// Weigh lowers the ranks of pages by how few other sites link to their site, see siteLinks.lift. The
// least rank is that of a page without links to it. Then it scales the ranks to sum to 1. The order of
// the pages of a site does not change. If no fetched site is linked to from another, the ranks stay as
// they are. It returns the number of fetched sites that no other links to, 0 if the ranks stay.
func (v *Vouchers) Weigh(ranks []float32) (unlinked int) {
	if len(ranks) == 0 || !v.comparable() {
		return 0
	}
	least := float64(slices.Min(ranks))
	all := 0.0
	for i, r := range ranks {
		lifted := least * v.sites[v.siteOf[i]].lift(float64(r)/least)
		ranks[i] = float32(lifted)
		all += lifted
	}
	for i := range ranks {
		ranks[i] = float32(float64(ranks[i]) / all)
	}
	for _, s := range v.sites {
		if s.fetched && len(s.linkers) == 0 {
			unlinked++
		}
	}
	return unlinked
}
