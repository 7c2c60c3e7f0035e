// Package parallel finds the pages of a collection that are translations of each other: by the
// declarations of the pages, by URLs that differ only in a language, and by features that a
// translation keeps: numbers, names, code, pictures, the sequence of blocks, and links to pages
// that are versions of each other.
//
// Pages are compared within a site, and with the pages of a site whose name differs in a language
// if the two sites link to each other. A declaration of a page about another counts, unless several
// pages of one language make it. Between sites it counts only if both pages make it.
package parallel

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/disk/translations"
	"anatomy/vocab"
)

// Find returns the groups of versions among the pages of one site. If ctx is done it returns the
// groups found so far.
func Find(ctx context.Context, pages []Page) []translations.Group {
	f := &finder{byDoc: map[vocab.DocID]*page{}, ctx: ctx, work: maxWork}
	for i := range pages {
		p := &page{Page: &pages[i], group: -1}
		f.pages = append(f.pages, p)
		f.byDoc[p.Doc] = p
	}
	slices.SortFunc(f.pages, func(a, b *page) int { return cmp.Compare(a.Doc, b.Doc) })
	f.setOwners()
	f.chooseVariants()
	f.setLanguages()
	if len(f.languages()) < 2 {
		return nil
	}
	f.vector = newVectors(f.pages)
	f.joinAlternates()
	f.joinKeys()
	f.joinLinks()
	f.joinAlike()
	return f.result()
}

// chooseVariants reads each URL by the slot in which most pages of the site have a language. A slot
// counts if it has two languages.
func (f *finder) chooseVariants() {
	all := make([][]variant, len(f.pages))
	pages := map[slot]int{}
	languages := map[slot]map[string]bool{}
	for i, p := range f.pages {
		all[i] = variantsOf(&p.URL)
		for _, v := range all[i] {
			if languages[v.slot] == nil {
				languages[v.slot] = map[string]bool{}
			}
			languages[v.slot][vocab.PrimaryLanguage(v.lang)] = true
			pages[v.slot]++
		}
	}
	for i, p := range f.pages {
		p.key = keyOf(&p.URL)
		most := 0
		for _, v := range all[i] {
			if len(languages[v.slot]) > 1 && pages[v.slot] > most {
				p.slot, p.lang, p.key, most = v.slot, v.lang, v.key, pages[v.slot]
			}
		}
	}
}

// setLanguages sets the languages of pages whose URLs have none.
func (f *finder) setLanguages() {
	for _, p := range f.pages {
		if p.lang == "" {
			p.lang = strings.ToLower(cmp.Or(languageTag(p.Lang), spoken(p.Sample)))
		}
	}
}

// languageTag returns a declared language in lower case, or "" if it is not a language.
func languageTag(s string) string {
	s = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "-")
	if vocab.PrimaryLanguage(s) == "" || !translations.ValidTag(s) {
		return ""
	}
	return s
}

// spoken returns the language of a text, or "" if its words do not identify one.
func spoken(text string) string {
	isNoLetter := func(r rune) bool { return r < 'a' && r != '\'' || r > 'z' && r < 0xc0 }
	terms := strings.FieldsFunc(strings.ToLower(text), isNoLetter)
	slices.Sort(terms)
	return analysis.LanguageOfPage(func(yield func([]byte) bool) {
		for _, term := range slices.Compact(terms) {
			if !yield([]byte(term)) {
				return
			}
		}
	})
}

// joinAlternates joins pages that name each other as versions, and then those that only one of them
// names, if no other page of its language does.
func (f *finder) joinAlternates() {
	byURL := map[string]*page{}
	for _, p := range f.pages {
		byURL[p.URL.Key()] = p
	}
	type edge struct{ from, to *page }
	named := map[edge]bool{}
	claims := map[*page]map[string]int{} // by language: pages that name it
	for _, p := range f.pages {
		for _, a := range p.Alternates {
			u, err := p.URL.Join(a.URL)
			if err != nil {
				continue
			}
			to := byURL[u.Key()]
			if to == nil || to == p || named[edge{p, to}] {
				continue
			}
			if tag := languageTag(a.Lang); tag != "" && to.slot == "" && tag != "x-default" {
				to.lang = tag
			}
			named[edge{p, to}] = true
			if claims[to] == nil {
				claims[to] = map[string]int{}
			}
			claims[to][p.lang]++
		}
	}
	edges := make([]edge, 0, len(named))
	for e := range named {
		edges = append(edges, e)
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.from.Doc, b.from.Doc), cmp.Compare(a.to.Doc, b.to.Doc))
	})
	for _, e := range edges {
		if e.from.Doc < e.to.Doc && named[edge{e.to, e.from}] {
			f.join(e.from, e.to, translations.Hreflang, 99)
		}
	}
	for _, e := range edges {
		if !named[edge{e.to, e.from}] && claims[e.to][e.from.lang] == 1 && e.from.URL.Site() == e.to.URL.Site() {
			f.join(e.from, e.to, translations.Hreflang, 95)
		}
	}
}

// Bounds of the similarity, between 0 and 1: see [vectors.alike].
const (
	notUnlike = 0.10 // of pages with one key
)

// joinKeys joins pages whose URLs differ only in the language, if this occurs on the site more
// often than by chance, and the two pages are not dissimilar.
func (f *finder) joinKeys() {
	byKey := map[string][]*page{}
	for _, p := range f.pages {
		byKey[p.key] = append(byKey[p.key], p)
	}
	var keys []string
	for key, group := range byKey {
		if len(group) > 1 && slices.ContainsFunc(group, func(p *page) bool { return p.slot != "" }) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	type pair struct {
		a, b  *page
		alike float64
	}
	var pairs []pair
	good := 0
	for _, key := range keys {
		group := byKey[key]
		if len(group) > translations.MaxVersions {
			continue
		}
		some := false
		for i, a := range group {
			for _, b := range group[i+1:] {
				if a.lang != b.lang && f.sameOwner(a, b) && f.spend(a.countFeatures()+b.countFeatures()) {
					alike := f.vector.alike(a, b)
					pairs = append(pairs, pair{a, b, alike})
					some = some || alike >= notUnlike
				}
			}
		}
		if some {
			good++
		}
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return cmp.Compare(y.alike, x.alike) })
	for _, p := range pairs {
		if p.alike >= notUnlike && (good >= leastKeys || p.alike >= alikeAlone) {
			f.join(p.a, p.b, translations.URL, 90+int(9*p.alike))
		}
	}
}

// joinLinks joins pages of two languages that link to each other, and to no other page of that
// language.
func (f *finder) joinLinks() {
	only := make(map[*page]map[string]*page, len(f.pages)) // by language: the one link, nil for several
	for _, p := range f.pages {
		to := map[string]*page{}
		for _, doc := range p.Links {
			if q := f.byDoc[doc]; q != nil && q.lang != "" && q.lang != p.lang {
				if _, more := to[q.lang]; more {
					to[q.lang] = nil
				} else {
					to[q.lang] = q
				}
			}
		}
		only[p] = to
	}
	for _, p := range f.pages {
		for _, lang := range sortedKeys(only[p]) {
			q := only[p][lang]
			if q != nil && p.Doc < q.Doc && only[q][p.lang] == p && f.vector.alike(p, q) >= notUnlike {
				f.join(p, q, translations.Links, 90)
			}
		}
	}
}

func sortedKeys(m map[string]*page) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// result returns the groups.
func (f *finder) result() (all []translations.Group) {
	var original map[string]float64
	for _, pages := range f.groups {
		if len(pages) < 2 {
			continue
		}
		slices.SortFunc(pages, func(a, b *page) int { return cmp.Compare(a.Doc, b.Doc) })
		var copies map[*page]bool
		if f.hasCopies(pages) {
			if original == nil {
				original = f.originals()
			}
			copies = copiesIn(pages, original)
		}
		var g translations.Group
		for _, p := range pages {
			g = append(g, translations.Version{
				Doc: p.Doc, Lang: p.lang, Evidence: p.evidence, Confidence: uint8(min(p.sure, 99)), Copy: copies[p],
			})
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b translations.Group) int { return cmp.Compare(a[0].Doc, b[0].Doc) })
	return all
}

// untranslated is the share of equal text from which a page is a copy of another version.
const untranslated = 0.6

// hasCopies reports whether a page of a group has the text of another.
func (f *finder) hasCopies(pages []*page) bool {
	return slices.ContainsFunc(pages, func(p *page) bool {
		return slices.ContainsFunc(pages, func(q *page) bool {
			return p != q && f.spend(p.countFeatures()) && p.Shared(q.Page.Page) >= untranslated
		})
	})
}

// originals returns, by language, how often the words of sampled pages are in the declared
// language.
func (f *finder) originals() map[string]float64 {
	right, seen := map[string]float64{}, map[string]float64{}
	for _, p := range f.pages {
		if seen[p.lang] < 20 && p.lang != "" {
			seen[p.lang]++
			if spoken(p.Sample) == vocab.PrimaryLanguage(p.lang) {
				right[p.lang]++
			}
		}
	}
	for lang := range right {
		right[lang] /= seen[lang]
	}
	return right
}

// copiesIn returns the pages of a group whose text is a copy of another's: of two, the one whose
// declared language is less often the language of its words.
func copiesIn(pages []*page, original map[string]float64) map[*page]bool {
	copies := map[*page]bool{}
	own := map[*page]float64{}
	for _, p := range pages {
		if own[p] = original[p.lang]; spoken(p.Sample) == vocab.PrimaryLanguage(p.lang) {
			own[p]++
		}
	}
	order := slices.Clone(pages)
	slices.SortStableFunc(order, func(a, b *page) int { return cmp.Compare(own[b], own[a]) })
	for i, p := range order {
		for _, q := range order[:i] {
			if !copies[q] && p.Shared(q.Page.Page) >= untranslated {
				copies[p] = true
			}
		}
	}
	return copies
}
