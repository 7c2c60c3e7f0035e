package parallel

import (
	"context"
	"slices"

	"anatomy/disk/translations"
	"anatomy/indexer/structure"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Page is one page of a site.
type Page struct {
	Doc   vocab.DocID
	URL   weburl.URL
	Lang  string // as declared or by its script, BCP 47; "" if unknown
	Links []vocab.DocID
	*structure.Page
}

// A page is a Page during the search for versions.
type page struct {
	*Page
	lang     string // label: by URL, else declared, else by its words
	key      string // URL without its language
	slot     slot
	group    int // index in finder.groups, -1 for none
	evidence translations.Evidence
	sure     int      // percent
	features []uint64 // in this round, see finder.featuresOf
}

// A finder groups the pages of one site.
type finder struct {
	pages  []*page // ascending by Doc
	byDoc  map[vocab.DocID]*page
	groups [][]*page
	vector *vectors

	// owners has pairs of sites of which one links to the other, in the order of the link.
	owners map[[2]string]bool

	ctx  context.Context
	work int // what comparisons may still cost, see maxWork
}

// maxWork bounds the comparisons of one site, counted in features of pages: about 20 s. On a larger
// site, the versions found by then are returned.
const maxWork = 400_000_000

// spend subtracts the cost of a comparison from the budget, and reports whether the budget allows
// it.
func (f *finder) spend(features int) bool {
	f.work -= features
	return f.work >= 0 && f.ctx.Err() == nil
}

// sameOwner reports whether two pages are on one site, or on sites that link to each other. Anybody
// can register a site whose name is another's name with a language.
func (f *finder) sameOwner(a, b *page) bool {
	x, y := a.URL.Site(), b.URL.Site()
	return x == y || f.owners[[2]string{x, y}] && f.owners[[2]string{y, x}]
}

// setOwners records which sites link to each other.
func (f *finder) setOwners() {
	f.owners = map[[2]string]bool{}
	for _, p := range f.pages {
		for _, doc := range p.Links {
			if to := f.byDoc[doc]; to != nil && to.URL.Host() != p.URL.Host() {
				f.owners[[2]string{p.URL.Site(), to.URL.Site()}] = true
			}
		}
	}
}

// leastKeys is the minimum number of pairs for a method of pairing to count on a site.
const leastKeys = 3

// leastPages is how many pages of a language a site has at least that may be in it.
const leastPages = 3

// languages returns the number of pages by language.
func (f *finder) languages() map[string]int {
	n := map[string]int{}
	for _, p := range f.pages {
		if p.lang != "" {
			n[p.lang]++
		}
	}
	return n
}

// join makes two pages versions of each other, with the other pages of their groups, and reports
// whether they are versions now. A group has one page per language.
func (f *finder) join(a, b *page, evidence translations.Evidence, sure int) bool {
	if a == b || a.lang == "" || b.lang == "" || a.lang == b.lang {
		return false
	}
	if a.group >= 0 && a.group == b.group {
		a.evidence |= evidence
		b.evidence |= evidence
		a.sure, b.sure = max(a.sure, min(sure, 99)), max(b.sure, min(sure, 99))
		return true
	}
	x, y := f.groupOf(a), f.groupOf(b)
	if len(x)+len(y) > translations.MaxVersions || overlap(x, y) {
		return false
	}
	if len(y) > len(x) {
		a, b, x, y = b, a, y, x
	}
	if a.group < 0 {
		a.group = len(f.groups)
		f.groups = append(f.groups, nil)
	}
	if b.group >= 0 {
		f.groups[b.group] = nil
	}
	for _, p := range y {
		p.group = a.group
	}
	f.groups[a.group] = append(slices.Clone(x), y...)
	a.evidence |= evidence
	b.evidence |= evidence
	a.sure, b.sure = max(a.sure, sure), max(b.sure, sure)
	return true
}

func (f *finder) groupOf(p *page) []*page {
	if p.group < 0 {
		return []*page{p}
	}
	return f.groups[p.group]
}

// overlap reports whether two groups have a language in common.
func overlap(x, y []*page) bool {
	return slices.ContainsFunc(x, func(a *page) bool {
		return slices.ContainsFunc(y, func(b *page) bool { return a.lang == b.lang })
	})
}
