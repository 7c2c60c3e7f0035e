// Package oracle answers queries by brute force, for tests: it looks at every page, with its terms
// in a map. It shares the query language and the weights with the searcher, but no code of
// retrieval and scoring. The searcher must return the same pages in the same order with the same
// scores.
package oracle

import (
	"cmp"
	"maps"
	"slices"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Search returns all pages that match, in the order of results.
func (c *Collection) Search(q query.Query) []Found {
	all, _ := c.search(q)
	return all
}

// Prose returns all pages that match a query that is prose, in the order of results where all are
// scored.
func (c *Collection) Prose(q query.Query) []Found {
	prose := *c
	c = &prose
	c.Weights, c.name = *c.Weights.Prose, q.Name
	c.Weights.Widen = scoring.Always
	root := c.widen(q.Root.Prose())
	c.silent = map[string]bool{}
	words := root.PositiveWords()
	for _, n := range words {
		if n.Function {
			c.silent[n.Words[0]] = true
		}
	}
	if others := len(words) - len(c.silent); others <= min(2, len(c.silent)) {
		c.silent = nil
	}
	all := c.matches(root)
	for i := range all {
		all[i].Score = c.score(root, all[i].Page)
	}
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.key, b.key))
	})
	return all
}

// search also returns how many of them the second phase scores: those come first.
func (c *Collection) search(q query.Query) (all []Found, n int) {
	if q.Root == nil || !q.Root.Positive() {
		return nil, 0
	}
	wide := *c
	c = &wide
	c.name = q.Name
	root := c.widen(q.Root)
	all = c.matches(root)
	slices.SortFunc(all, func(a, b Found) int { return cmp.Or(cmp.Compare(b.First, a.First), cmp.Compare(a.key, b.key)) })
	scored := len(all)
	if c.Scored > 0 {
		scored = min(scored, max(c.Scored, c.Candidates))
	}
	for i := range all[:scored] {
		all[i].Score = c.score(root, all[i].Page)
	}
	n = c.promising(root, all)
	for i := n; i < len(all); i++ { // home pages are always scored
		if c.atHomes[all[i].Doc] > 0 {
			moved := all[i]
			moved.Score = c.score(root, moved.Page)
			all = slices.Insert(slices.Delete(all, i, i+1), n, moved)
			n++
		}
	}
	slices.SortFunc(all[:n], func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.key, b.key))
	})
	return all, n
}

// promising moves those of the first candidates to the front that the second phase scores, and
// returns how many they are: those near enough to the tenth by score of the first phase, and those
// whose title is about as long as the query; all if no others match. All is in the order of the
// first phase.
func (c *Collection) promising(root *query.Node, all []Found) int {
	candidates := all[:min(c.Candidates, len(all))]
	if len(candidates) == len(all) || len(candidates) <= 10 {
		return len(candidates)
	}
	seq := c.wanted(root)
	least := candidates[9].First * uint64(c.Weights.Promising) / 1000
	front := map[vocab.DocID]bool{}
	for i, found := range candidates {
		near := found.First >= least && (i < c.Weights.Likely || c.Weights.Likely == 0)
		if i < 10 || near || asLong(seq, found.Page.Title) || asLong(seq, ownTitle(found.Page)) {
			front[found.Doc] = true
		}
	}
	slices.SortStableFunc(candidates, func(a, b Found) int {
		switch {
		case front[a.Doc] == front[b.Doc]:
			return 0
		case front[a.Doc]:
			return -1
		}
		return 1
	})
	return len(front)
}

// asLong reports whether a title has about as many words as a query: each bigram may be two words.
func asLong(seq []string, title string) bool {
	n, bigrams := wordsIn(title), 0
	for _, word := range seq {
		if analysis.IsBigram(word) {
			bigrams++
		}
	}
	return len(seq) <= n && n <= len(seq)+bigrams
}

func (c *Collection) matches(root *query.Node) (all []Found) {
	c.live(func(d *Document, average float64) {
		if Match(root, d) {
			u, _ := weburl.Parse(d.URL)
			all = append(all, Found{Doc: d.Doc, First: c.first(root, d, average), key: u.Key(), Page: d})
		}
	})
	return all
}

// widen returns the query that is answered: with the English forms of its terms if too few pages
// match it, with those of single characters in any case. It sets in c what each form counts as.
func (c *Collection) widen(root *query.Node) *query.Node {
	c.nearer = map[vocab.DocID]*int{}
	root = root.Locate(c.docsOf)
	c.forms, c.joint = nil, nil
	wide := c.withForms(root, false)
	if root.Positive() && len(c.matches(wide)) < c.Weights.Widen { // negatives are not widened
		wide = c.withForms(root, true)
	}
	c.forms, c.joint, c.atHomes = map[string][]string{}, map[string][]string{}, nil
	c.idfs, c.dfs = map[string]scoring.Score{}, map[string]int{}
	c.countWords(wide.PositiveWords())
	known := c.wanted(wide)
	for _, n := range wide.PositiveWords() {
		for _, form := range n.Forms {
			if !slices.Contains(known, form) {
				known = append(known, form)
				base := c.baseOf(n.Words[0])
				c.forms[base] = append(c.forms[base], form)
			}
		}
		if len(n.Forms) > 0 {
			c.joint[n.Words[0]] = n.Forms
		}
	}
	return wide
}

// countWords finds which terms count as others, and how often each occurs in the query.
func (c *Collection) countWords(nodes []*query.Node) {
	c.as, c.times = map[string]string{}, map[string]int{}
	for i, n := range nodes {
		earlier := slices.IndexFunc(nodes[:i], func(before *query.Node) bool {
			return before.Words[0] == n.Words[0] || slices.Contains(before.Forms, n.Words[0]) && slices.Contains(n.Forms, before.Words[0])
		})
		if earlier >= 0 && nodes[earlier].Words[0] != n.Words[0] {
			c.as[n.Words[0]] = c.baseOf(nodes[earlier].Words[0])
		}
	}
	for _, n := range nodes {
		for _, word := range n.Words {
			c.times[c.baseOf(word)] += n.Times
		}
	}
}

// language returns the language of the greatest number of documents with a word, or of all for "", in doubt
// "en", and whether it is that of most.
func (c *Collection) language(word string) (best string, isOfMost bool) {
	all, of := 0, map[string]int{}
	c.each(func(d *Document) {
		if word == "" || len(d.Words[word]) > 0 {
			all++
			of[language(d.Lang)]++
		}
	})
	best = "en"
	for lang, n := range of {
		if lang != "" && n > of[best] {
			best = lang
		}
	}
	return best, 2*of[best] > all
}

// withForms returns the query with the forms of its terms that occur in any document: those of the language of
// its function words, or else of the greatest number of documents. A long term has compounds if most documents
// with it are in a language that has them; at most [snapshot.MaxLanguages] documents may have it.
func (c *Collection) withForms(root *query.Node, all bool) *query.Node {
	if c.words == nil {
		known := map[string]bool{}
		c.each(func(d *Document) {
			for word := range d.Words {
				known[word] = true
			}
		})
		c.words = slices.Sorted(maps.Keys(known))
	}
	ofQuery := cmp.Or(query.FilteredLanguage(root), root.Language())
	ofMost, _ := c.language("")
	if ofQuery == "" && root.IsEnglish() {
		ofQuery = ofMost
	}
	return root.WithForms(func(n *query.Node, isExcluded bool) (forms []string) {
		word := n.Words[0]
		lang := cmp.Or(ofQuery, ofMost)
		compounds := !all && analysis.HasFewCompounds(word, lang)
		of, isOfMost := c.language(word)
		if ofQuery == "" && !n.Exact && !isExcluded && isOfMost && of != ofMost && analysis.HasFewCompounds(word, of) {
			lang, compounds = of, !all
		}
		family, ok := analysis.FormsOf(word, lang)
		narrow := !all && !compounds && !analysis.HasParticles(word)
		if !ok || len(n.Words) > 1 || !analysis.IsUnigram(word) && (n.Exact || isExcluded || narrow) {
			return nil
		}
		for _, other := range c.words {
			if other != word && (!compounds && family.Contains(other) || compounds && family.HasCompound(other)) {
				forms = append(forms, other)
			}
		}
		return forms
	})
}

// first returns the score of the first phase: idf × impact of all terms, plus the static points
// above the least possible, each in units of the power of two that keeps all scores below 2^31.
func (c *Collection) first(root *query.Node, d *Document, average float64) (sum uint64) {
	w := &c.Weights
	counts := distinct(c.wanted(root)) // terms that count
	as := slices.Clone(counts)         // and what they count as
	for base, forms := range c.forms {
		for _, form := range forms {
			counts, as = append(counts, form), append(as, base)
		}
	}
	least := int64(min(w.Rank, 0) + min(w.Uncrawled, 0) + slices.Min(w.Depth[:]))
	most := int64(max(w.Rank, 0)+max(w.Uncrawled, 0)+slices.Max(w.Depth[:])) - least
	most *= 1000
	accents := accentedOf(c, root)
	idfs := make([]scoring.Score, len(as))
	for i, word := range as {
		idfs[i] = withoutAccents(c, word, accents)
	}
	for _, a := range accents {
		counts, idfs = append(counts, a.term), append(idfs, withAccents(c, a))
	}
	for _, idf := range idfs {
		most += int64(idf) * int64(w.Impact) / 1000 * 255
	}
	unit := uint64(1)
	for uint64(most)/unit >= 1<<31 {
		unit *= 2
	}
	for i, word := range counts {
		if hits := d.Words[word]; len(hits) > 0 {
			sum += uint64(idfs[i]) * uint64(w.Impact) / 1000 / unit * uint64(segment.Impact(hits, d.Length, average))
		}
	}
	return sum + uint64(int64(c.static(d))-least*1000)/unit
}

// Matches reports whether a document of the collection matches a query.
func (c *Collection) Matches(root *query.Node, d *Document) bool {
	wide := *c
	return Match(wide.widen(root), d)
}

// Score returns the exact score of a document, whether it matches or not.
func (c *Collection) Score(q query.Query, d *Document) scoring.Score {
	wide := *c
	wide.name = q.Name
	return wide.score(wide.widen(q.Root), d)
}
