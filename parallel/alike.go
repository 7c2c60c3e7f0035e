package parallel

import (
	"cmp"
	"math"
	"slices"

	"anatomy/disk/translations"
)

// Bounds of the similarity, from 0 to 1: see [finder.matchLanguages].
const (
	alikeAlone  = 0.35 // of two pages that nothing else pairs
	alikeLeast  = 0.22 // of two pages of which each is by far the best for the other
	clearlyBest = 1.3  // factor over the second best of a clear match
	barelyBest  = 1.08 // least factor over the second best
	leastShare  = 0.1  // of the pages of the smaller language that have a version in the larger one
	enoughShare = 0.7  // of the pages of the smaller language have versions: the others have none
	rounds      = 3    // in all but the first, links to known versions count
)

// joinAlike joins pages whose content and structure are alike, in each two languages of the site,
// where each of the two is the best for the other. Links to pages that are versions by then count in
// further rounds. It begins with the language of most pages.
func (f *finder) joinAlike() {
	languages := f.byLanguage()
	for round := range rounds {
		joined := 0
		for _, p := range f.pages {
			p.features = f.featuresOf(p)
		}
		for i, a := range languages {
			for _, b := range languages[i+1:] {
				joined += f.matchLanguages(a, b, round)
			}
		}
		if joined == 0 && round > 0 {
			return
		}
	}
}

// byLanguage returns the pages by language, that with most pages first.
func (f *finder) byLanguage() (all [][]*page) {
	pages := map[string][]*page{}
	for _, p := range f.pages {
		if p.lang != "" {
			pages[p.lang] = append(pages[p.lang], p)
		}
	}
	for _, some := range pages {
		if len(some) >= leastPages {
			all = append(all, some)
		}
	}
	slices.SortFunc(all, func(a, b []*page) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].lang, b[0].lang))
	})
	return all[:min(len(all), maxLanguages)]
}

// maxLanguages bounds the languages of a site whose pages are compared: those with most pages.
const maxLanguages = 64

// maxCompared bounds the pages of two languages that are compared, because of time and memory.
const maxCompared = 20_000

// maxPostings bounds the pages of one language with a feature; more frequent features are not
// compared.
const maxPostings = 200

// A side is the pages of one language without a version in the other one so far.
type side struct {
	pages []*page
	size  int // features of all
}

func (p *page) countFeatures() int { return len(p.Names) + len(p.Shape) + len(p.Links) }

// featuresOf returns the features of a page: names, shapes, and the versions that it links to.
func (f *finder) featuresOf(p *page) (all []uint64) {
	const shape, linked = 1 << 32, 2 << 32
	for _, h := range p.Names {
		all = append(all, uint64(h))
	}
	for _, h := range p.Shape {
		all = append(all, shape|uint64(h))
	}
	seen := map[int]bool{}
	for _, doc := range p.Links {
		if to := f.byDoc[doc]; to != nil && to.group >= 0 && !seen[to.group] {
			seen[to.group] = true
			all = append(all, linked|uint64(to.group))
		}
	}
	return all
}

// free returns the pages of a language whose groups have no page of the other language.
func (f *finder) free(pages []*page, other string) (s side) {
	for _, p := range pages {
		if !slices.ContainsFunc(f.groupOf(p), func(q *page) bool { return q.lang == other }) {
			s.pages = append(s.pages, p)
			s.size += len(p.features)
		}
	}
	return s
}

// A best is the best match of one page on the other side.
type best struct {
	page          int // -1 for none
	alike, second float64
}

// matchLanguages joins pages of two languages, and returns the number of pairs.
func (f *finder) matchLanguages(a, b []*page, round int) (joined int) {
	x, y := f.free(a, b[0].lang), f.free(b, a[0].lang)
	known, least := len(a)-len(x.pages), min(len(a), len(b))
	if float64(known) >= enoughShare*float64(least) || len(x.pages) == 0 || len(x.pages)+len(y.pages) > maxCompared {
		return 0
	}
	if !f.spend(x.size + y.size) {
		return 0
	}
	forX, forY := f.compare(x, y)
	type pair struct {
		a, b  *page
		alike float64
	}
	var pairs []pair
	for i, m := range forX {
		if m.page < 0 || forY[m.page].page != i || !f.sameOwner(x.pages[i], y.pages[m.page]) {
			continue
		}
		second := max(m.second, forY[m.page].second)
		if m.alike >= alikeAlone && m.alike >= barelyBest*second || m.alike >= alikeLeast && m.alike >= clearlyBest*second {
			pairs = append(pairs, pair{x.pages[i], y.pages[m.page], m.alike})
		}
	}
	if known+len(pairs) < max(leastKeys, int(leastShare*float64(least))) {
		return 0 // a chance likeness of pages that nobody translated
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.alike, p.alike) })
	evidence := translations.Structure | translations.Content
	if round > 0 {
		evidence |= translations.Links
	}
	for _, p := range pairs {
		if f.join(p.a, p.b, evidence, 80+int(19*min(p.alike, 1))) {
			joined++
		}
	}
	return joined
}

// compare returns the best of the other side for each page, by the cosine of the features that both
// sides have, weighted by their rarity.
func (f *finder) compare(x, y side) (forX, forY []best) {
	postings := map[uint64][]int32{} // pages of y
	for i, p := range y.pages {
		for _, h := range p.features {
			postings[h] = append(postings[h], int32(i))
		}
	}
	df := map[uint64]int{} // in x
	for _, p := range x.pages {
		for _, h := range p.features {
			if postings[h] != nil {
				df[h]++
			}
		}
	}
	total := float64(len(x.pages) + len(y.pages))
	weight := func(h uint64) float64 {
		if df[h] == 0 {
			return 0
		}
		w := math.Log(1 + total/float64(df[h]+len(postings[h])))
		return w * w
	}
	norms := func(s side) (norms []float64) {
		for _, p := range s.pages {
			sum := 0.0
			for _, h := range p.features {
				sum += weight(h)
			}
			norms = append(norms, math.Sqrt(sum))
		}
		return norms
	}
	normX, normY := norms(x), norms(y)
	forY = make([]best, len(y.pages))
	for i := range forY {
		forY[i].page = -1
	}
	dot, touched := make([]float64, len(y.pages)), []int32{}
	for i, p := range x.pages {
		for _, h := range p.features {
			list := postings[h]
			if !f.spend(len(list)) {
				return nil, forY // no pairs
			}
			if len(list) == 0 || len(list) > maxPostings && df[h] > maxPostings {
				continue
			}
			w := weight(h)
			for _, k := range list {
				if dot[k] == 0 {
					touched = append(touched, k)
				}
				dot[k] += w
			}
		}
		m := best{page: -1}
		for _, k := range touched {
			alike := dot[k] / (normX[i] * normY[k])
			alike *= sizeRatio(x.pages[i].Size, y.pages[k].Size)
			dot[k] = 0
			m.consider(int(k), alike)
			forY[k].consider(i, alike)
		}
		touched = touched[:0]
		forX = append(forX, m)
	}
	return forX, forY
}

// consider updates the best match with a page.
func (b *best) consider(page int, alike float64) {
	if alike > b.alike {
		b.page, b.alike, b.second = page, alike, b.alike
	} else {
		b.second = max(b.second, alike)
	}
}

// sizeRatio is 1 for texts whose lengths differ by less than a factor of two, and less for others.
func sizeRatio(a, b int) float64 {
	r := float64(min(a, b)+100) / float64(max(a, b)+100)
	return min(1, 2*r)
}
