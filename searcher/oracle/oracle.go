// Package oracle answers queries the slow and plain way, for tests: every page is looked at, with its
// words in a map. It shares the query language, the weights and no line of retrieval or scoring with
// the searcher, which must come to the same pages in the same order with the same scores.
package oracle

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"anatomy/disk/segment"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
	"anatomy/words"
)

// A Document is a page as it should be in the index.
type Document struct {
	Doc     vocab.DocID
	URL     string
	Title   string
	Words   map[string][]vocab.Hit
	Length  uint32 // of the body, in words
	Crawled bool
	Sketch  vocab.Sketch
	Lang    string // as declared
	Medium  vocab.Medium
	Date    vocab.Day
}

// Match says whether a page matches a query.
func Match(n *query.Node, d *Document) bool {
	switch n.Op {
	case query.Words:
		return d.holds(n)
	case query.Near:
		return d.near(n)
	case query.Site:
		u, err := weburl.Parse(d.URL)
		return err == nil && weburl.MatchSite(n.Site, &u)
	case query.Only:
		return n.Filter == query.Filter{Lang: language(d.Lang)} || n.Filter == query.Filter{Medium: d.Medium} || n.Filter.Lang == "" && n.Filter.Medium == 0 && n.Filter.Dated(d.Date)
	case query.Pages:
		return slices.Contains(n.Docs, d.Doc)
	case query.And:
		return !slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return !Match(kid, d) })
	case query.Or:
		return slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return Match(kid, d) })
	}
	return !Match(n.Kids[0], d)
}

// language is the first part of a tag.
func language(tag string) string {
	tag, _, _ = strings.Cut(tag, "-")
	return tag
}

func (d *Document) holds(n *query.Node) bool {
	for _, form := range n.Forms {
		if d.holds(&query.Node{Words: []string{form}, In: n.In}) {
			return true
		}
	}
	if n.In == query.InAlt {
		d = d.alts()
	}
	for f := range vocab.Fields {
		if n.In != query.Anywhere && f != fields[n.In] {
			continue
		}
		for _, start := range d.positions(n.Words[0], f) {
			if d.standsAt(n, f, start) {
				return true
			}
		}
	}
	return false
}

var fields = map[query.Field]vocab.Field{
	query.InTitle: vocab.TitleField, query.InURL: vocab.URLField, query.InAnchor: vocab.AnchorField, query.InText: vocab.Body, query.InAlt: vocab.Body,
}

func (d *Document) holdsAt(phrase []string, f vocab.Field, start uint32) bool {
	for k, word := range phrase {
		if !slices.Contains(d.positions(word, f), start+uint32(k)) {
			return false
		}
	}
	return true
}

// alts is the document with no words but those that stand for images.
func (d *Document) alts() *Document {
	only := &Document{Words: map[string][]vocab.Hit{}}
	for word, hits := range d.Words {
		only.Words[word] = slices.DeleteFunc(slices.Clone(hits), func(h vocab.Hit) bool { return h.Type() != vocab.Alt })
	}
	return only
}

// standsAt is holdsAt for a phrase that may leave words open.
func (d *Document) standsAt(n *query.Node, f vocab.Field, start uint32) bool {
	for k, word := range n.Words {
		if !slices.Contains(d.positions(word, f), start+n.Offset(k)) {
			return false
		}
	}
	return true
}

// near tries all places of all phrases.
func (d *Document) near(n *query.Node) bool {
	if n.In == query.InAlt {
		d = d.alts()
	}
	for f := range vocab.Fields {
		most := n.Within
		if f == vocab.AnchorField {
			most = min(most, 15) // the texts of two links are further apart
		}
		if f == vocab.PartField {
			most = min(most, 3) // as are two names
		}
		for _, p := range n.Kids {
			most += length(p)
		}
		if (n.In == query.Anywhere || f == fields[n.In]) && d.nearIn(f, n.Kids, 1<<31, 0, most) {
			return true
		}
	}
	return false
}

func length(phrase *query.Node) int { return int(phrase.Offset(len(phrase.Words)-1)) + 1 }

// nearIn places phrases beside those that stand in [from, to), in a stretch of so many words at most.
func (d *Document) nearIn(f vocab.Field, phrases []*query.Node, from, to, most int) bool {
	if to-from > most || len(phrases) == 0 {
		return to-from <= most
	}
	p := phrases[0]
	for _, start := range d.positions(p.Words[0], f) {
		if d.standsAt(p, f, start) && d.nearIn(f, phrases[1:], min(from, int(start)), max(to, int(start)+length(p)), most) {
			return true
		}
	}
	return false
}

func (d *Document) positions(word string, f vocab.Field) (all []uint32) {
	for _, hit := range d.Words[word] {
		if hit.Field() == f {
			all = append(all, hit.Position())
		}
	}
	return all
}

// merged is the document as the words of a query see it that count forms as their own.
func (d *Document) merged(forms map[string][]string) *Document {
	if len(forms) == 0 {
		return d
	}
	m := *d
	m.Words = maps.Clone(d.Words)
	for base, all := range forms {
		m.Words[base] = slices.Clone(d.Words[base])
		for _, form := range all {
			m.Words[base] = append(m.Words[base], d.Words[form]...)
		}
	}
	return &m
}

// A Collection is what a data folder holds. Its segments do not change after the first search.
type Collection struct {
	Segments   []Segment // oldest first
	Ranks      []float32 // by DocID; nil where none are computed
	Links      searcher.Links
	Weights    searcher.Weights
	Candidates int
	Scored     int // only the first so many results are given scores, to save time; 0 for all

	name  string              // that the query at hand may be
	words []string            // of all documents, once they were needed
	forms map[string][]string // of the query at hand: forms by the word that they count as
	joint map[string][]string // and all forms of a word, those too that count as another
	as    map[string]string   // words of the query that count as an earlier one, which has them among its forms and is among theirs
	times map[string]int      // how often the query asks for a word

	idfs    map[string]searcher.Score // once they were needed: they are the same for every page
	average int64                     // so is this, of words of a text
	atHomes map[vocab.DocID]int       // and these, see homes
	nearer  map[vocab.DocID]*int      // of pages related to one that the query names: how many are nearer
}

// A Segment is some pages that were indexed together.
type Segment struct {
	Documents []*Document
	Removed   []vocab.DocID
}

// A Found is a page that matches.
type Found struct {
	Doc   vocab.DocID
	First uint64 // score of the first phase
	Score searcher.Score
	key   string // of the URL
	Page  *Document
}

// Live are the pages that are in force: the newest of each DocID, unless it was removed since. They
// come with the average length that their impacts were computed with.
func (c *Collection) live(visit func(d *Document, average float64)) {
	gone := map[vocab.DocID]bool{}
	for _, s := range slices.Backward(c.Segments) {
		average := averageOf(s)
		for _, d := range s.Documents {
			if !gone[d.Doc] {
				visit(d, average)
			}
			gone[d.Doc] = true
		}
		for _, doc := range s.Removed {
			gone[doc] = true
		}
	}
}

// Documents is the number of pages in force.
func (c *Collection) Documents() (n int) {
	c.live(func(*Document, float64) { n++ })
	return n
}

func averageOf(segments ...Segment) float64 {
	total, n := 0, 0
	for _, s := range segments {
		for _, d := range s.Documents {
			total += int(d.Length)
			if d.Length > 0 {
				n++
			}
		}
	}
	return float64(total) / float64(max(n, 1))
}

// Search gives all pages that match, in the order of results.
func (c *Collection) Search(q query.Query) []Found {
	all, _ := c.search(q)
	return all
}

// search says besides how many of them are scored in full.
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
	for i := n; i < len(all); i++ { // home pages are always among the candidates
		if c.atHomes[all[i].Doc] > 0 {
			moved := all[i]
			moved.Score = c.score(root, moved.Page)
			all = slices.Insert(slices.Delete(all, i, i+1), n, moved)
			n++
		}
	}
	slices.SortFunc(all[:n], func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return all, n
}

// promising puts those of the first pages in front that are scored in full, and says how many they are: those of the
// candidates that come near enough to the tenth by their score of the first phase, or may be named by the query, or all where
// no others match. All is in the order of the first phase.
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

// asLong says whether a title may have the words of a query and no others: each bigram may stand for two of them.
func asLong(seq []string, title string) bool {
	n, bigrams := wordsIn(title), 0
	for _, word := range seq {
		if words.Bigram(word) {
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

// widen gives the query that is answered: with the English forms of its words where too few pages match it as it
// stands, with those of single characters in any case. From then on c knows which forms count as which word.
func (c *Collection) widen(root *query.Node) *query.Node {
	c.nearer = map[vocab.DocID]*int{}
	root = root.Locate(c.docsOf)
	c.forms, c.joint = nil, nil
	wide := c.withForms(root, false)
	if root.Positive() && len(c.matches(wide)) < c.Weights.Widen { // what asks for nothing has nothing to widen
		wide = c.withForms(root, true)
	}
	c.forms, c.joint, c.idfs, c.atHomes = map[string][]string{}, map[string][]string{}, nil, nil
	c.countWords(wide.Wanted())
	known := c.wanted(wide)
	for _, n := range wide.Wanted() {
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

// countWords learns which words count as others, and how often each is asked for.
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

func (c *Collection) baseOf(word string) string {
	if first, ok := c.as[word]; ok {
		return first
	}
	return word
}

// withForms looks at all words of all documents.
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
	return root.With(func(n *query.Node, wanted bool) (forms []string) {
		word := n.Words[0]
		family, ok := words.FamilyOf(word, "en")
		if !ok || len(n.Words) > 1 || !words.Single(word) && (n.Exact || !wanted || !all) {
			return nil
		}
		for _, other := range c.words {
			if other != word && family.Holds(other) {
				forms = append(forms, other)
			}
		}
		return forms
	})
}

// each visits all documents, those of no force too.
func (c *Collection) each(visit func(d *Document)) {
	for _, s := range c.Segments {
		for _, d := range s.Documents {
			visit(d)
		}
	}
}

// first is the score of the first phase: idf × impact of all words and what no query changes, the least
// that this can be taken off, each in units of the power of two that keeps all scores below 2^31.
func (c *Collection) first(root *query.Node, d *Document, average float64) (sum uint64) {
	w := &c.Weights
	counts := distinct(c.wanted(root)) // words that count
	as := slices.Clone(counts)         // and those that they count as
	for base, forms := range c.forms {
		for _, form := range forms {
			counts, as = append(counts, form), append(as, base)
		}
	}
	least := int64(min(w.Rank, 0) + min(w.Uncrawled, 0) + slices.Min(w.Depth[:]))
	most := int64(max(w.Rank, 0)+max(w.Uncrawled, 0)+slices.Max(w.Depth[:])) - least
	most *= 1000
	for _, word := range as {
		most += int64(c.IDF(word)) * int64(w.Impact) / 1000 * 255
	}
	unit := uint64(1)
	for uint64(most)/unit >= 1<<31 {
		unit *= 2
	}
	for i, word := range counts {
		if hits := d.Words[word]; len(hits) > 0 {
			sum += uint64(c.IDF(as[i])) * uint64(w.Impact) / 1000 / unit * uint64(segment.Impact(hits, d.Length, average))
		}
	}
	return sum + uint64(int64(c.static(d))-least*1000)/unit
}

// Matches says whether a page in the collection is a result of a query.
func (c *Collection) Matches(root *query.Node, d *Document) bool {
	wide := *c
	return Match(wide.widen(root), d)
}

// Score is the exact score of a page, whether it matches or not.
func (c *Collection) Score(q query.Query, d *Document) searcher.Score {
	wide := *c
	wide.name = q.Name
	return wide.score(wide.widen(q.Root), d)
}

func (c *Collection) score(root *query.Node, d *Document) searcher.Score {
	w := &c.Weights
	seq := c.wanted(root)
	asked := d
	inexact := func(f vocab.Field) func(string) bool { // only other forms of the word may be there
		return func(word string) bool { return len(asked.positions(word, f)) == 0 && !words.Single(word) }
	}
	d = d.merged(c.forms)
	sum := c.static(d)
	var all searcher.Score
	for _, word := range distinct(seq) {
		all += c.IDF(word)
		for t := range vocab.HitTypes {
			idf := c.IDF(word)
			if inexact(t.Field())(word) {
				idf = idf * searcher.Score(w.Form) / 1000
			}
			sum += c.ofType(idf, word, t, d)
		}
	}
	done := map[[2]string]bool{}
	for i := 1; i < len(seq); i++ {
		a, b := seq[i-1], seq[i]
		if a != b && !done[[2]string{a, b}] && !words.Overlap(a, b) {
			sum += c.near(a, b, d)
			done[[2]string{a, b}] = true
		}
	}
	sum += c.atHome(distinct(seq), all, d)
	if lang := languageOf(c.name); lang != "" && lang == language(d.Lang) {
		sum += all * searcher.Score(w.Language) / 1000
	}
	if nearer := c.nearer[d.Doc]; nearer != nil {
		sum += searcher.Score(w.Related) * 1000 * searcher.Score(searcher.MaxRelated-*nearer) / searcher.MaxRelated
	}
	for f, weight := range w.Whole {
		if len(seq) > 1 && !slices.ContainsFunc(seq, inexact(vocab.Field(f))) && slices.ContainsFunc(d.positions(seq[0], vocab.Field(f)), func(p uint32) bool {
			return d.holdsAt(seq, vocab.Field(f), p)
		}) {
			sum += all * searcher.Score(weight) / 1000
		}
	}
	if len(seq) > 0 && !slices.ContainsFunc(seq, inexact(vocab.TitleField)) {
		sum += c.exactTitle(seq, all, d)
	}
	if len(seq) > 0 && !slices.ContainsFunc(seq, inexact(vocab.AnchorField)) {
		sum += c.exactLinks(seq, all, d)
	}
	return sum
}

// ownTitle is the title without the site's name.
func ownTitle(d *Document) string {
	own := d.Title
	for _, separator := range []string{" — ", " – ", " - ", " | ", " :: ", " · ", " » "} {
		if before, _, found := strings.Cut(own, separator); found {
			own = before
		}
	}
	return own
}

// languageOf is the language of a query as far as its script tells: that of the first two letters of it together.
func languageOf(query string) string {
	letters := []rune(query)
	of := func(r rune) string {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
			return "ja"
		}
		for _, s := range words.Scripts {
			if unicode.Is(s.Letters, r) {
				return s.Language
			}
		}
		return ""
	}
	for i := range len(letters) - 1 {
		if lang := of(letters[i]); lang != "" && lang == of(letters[i+1]) {
			return lang
		}
	}
	return ""
}

// exactTitle is for the title, all of it or what comes before the site's name, where the query says the same words.
func (c *Collection) exactTitle(seq []string, all searcher.Score, d *Document) searcher.Score {
	own := ownTitle(d)
	points := all * searcher.Score(c.Weights.Exact[vocab.TitleField]) / 1000
	whole := d.says(seq, 0, wordsIn(d.Title), vocab.TitleField, true)
	part := d.says(seq, 0, wordsIn(own), vocab.TitleField, true)
	sum := searcher.Score(0)
	switch {
	case whole:
		sum += points
	case part:
		sum += points * 9 / 10
	}
	points = all * searcher.Score(c.Weights.Letters) / 1000
	switch {
	case whole && words.Letters(d.Title) == words.Letters(c.name):
		sum += points
	case part && words.Letters(own) == words.Letters(c.name):
		sum += points * 9 / 10
	}
	return sum
}

// wordsIn counts the words of a text, the last character of a run in a script without spaces as one.
func wordsIn(text string) (n int) {
	new(words.Tokenizer).Each([]byte(text), func([]byte, int, int, bool) { n++ })
	return n
}

// says says whether the words of a query are all of those from a position on, and the only ones where others are not allowed.
func (d *Document) says(seq []string, from, n int, f vocab.Field, others bool) bool {
	left := map[uint32]bool{}
	for at := range n {
		left[uint32(from+at)] = true
	}
	for _, word := range distinct(seq) {
		held := false
		for _, at := range d.positions(word, f) {
			held = held || others || int(at) >= from && int(at) < from+n
			delete(left, at)
			if words.Bigram(word) {
				delete(left, at+1)
			}
		}
		if !held {
			return false
		}
	}
	return n > 0 && len(left) == 0
}

// exactLinks is for texts of links that are the query.
func (c *Collection) exactLinks(seq []string, all searcher.Score, d *Document) searcher.Score {
	texts, links := map[int]bool{}, int64(0)
	for _, hit := range d.Words[seq[0]] {
		if hit.Field() != vocab.AnchorField {
			continue
		}
		if from := int(hit.Position()) / 32 * 32; !texts[from] {
			texts[from] = true
			if d.says(seq, from, from%1024/32+1, vocab.AnchorField, false) {
				links += 1 << hit.Size()
			}
		}
	}
	if links == 0 {
		return 0
	}
	return all * searcher.Score(c.Weights.Exact[vocab.AnchorField]) / 1000 * searcher.Score(searcher.Agreeing(links)) / 1000
}

// ofType is idf × type weight × count weight.
func (c *Collection) ofType(idf searcher.Score, word string, t vocab.HitType, d *Document) searcher.Score {
	w := &c.Weights
	count := int64(0)
	for _, hit := range d.Words[word] {
		switch {
		case hit.Type() != t:
		case t == vocab.Anchor || t == vocab.AnchorOut:
			count += 1 << hit.Size()
		default:
			count++
		}
	}
	k := int64(w.Saturation)
	half := k
	if t.Field() == vocab.Body {
		if c.average == 0 {
			c.average = max(int64(averageOf(c.Segments...)), 1)
		}
		half = k * (1000 - int64(w.Length) + int64(w.Length)*int64(d.Length)/c.average) / 1000
	}
	return idf * searcher.Score(w.Type[t]) * searcher.Score(count*(1000+k)*1000/(1000*count+half)) / 1e6
}

// near goes through the places of two words in order, and takes each change from one to the other
// for a pair.
func (c *Collection) near(a, b string, d *Document) (sum searcher.Score) {
	w := &c.Weights
	for f := range vocab.Fields {
		type place struct {
			position uint32
			second   bool
		}
		var places []place
		for _, p := range d.positions(a, f) {
			places = append(places, place{p, false})
		}
		for _, p := range d.positions(b, f) {
			places = append(places, place{p, true})
		}
		// Of two words at one position the second counts as the one before.
		slices.SortFunc(places, func(a, b place) int {
			if a.position == b.position && a.second != b.second {
				if a.second {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.position, b.position)
		})
		counts := [searcher.Bins]int64{}
		for i := 1; i < len(places); i++ {
			if places[i].second == places[i-1].second {
				continue
			}
			distance := places[i].position - places[i-1].position
			if !places[i].second {
				distance++
			}
			bin := slices.IndexFunc(w.Near[:], func(b searcher.Bin) bool { return distance <= b.Within })
			counts[bin]++
		}
		for bin, n := range counts {
			if n > 0 {
				k := int64(w.Saturation)
				count := searcher.Score(n * (1000 + k) * 1000 / (1000*n + k))
				sum += min(c.IDF(a), c.IDF(b)) * searcher.Score(w.NearIn[f]) * searcher.Score(w.Near[bin].Weight) / 1000 * count / 1e6
				break
			}
		}
	}
	return sum
}

// static is the points of PageRank and of the URL's depth, less those of pages that were never crawled.
func (c *Collection) static(d *Document) searcher.Score {
	points := searcher.Score(c.Weights.Depth[min(d.depth(), len(c.Weights.Depth)-1)]) * 1000
	if int(d.Doc) < len(c.Ranks) {
		points += c.Weights.PageRank(float64(c.Ranks[d.Doc]), len(c.Ranks)-1)
	}
	if !d.Crawled {
		points += searcher.Score(c.Weights.Uncrawled) * 1000
	}
	return points
}

// depth is the number of folders in the path, a query counting as one.
func (d *Document) depth() (n int) {
	u, _ := weburl.Parse(d.URL)
	if path := strings.Trim(u.Path(), "/"); path != "" {
		n = 1 + strings.Count(path, "/")
	}
	if u.Query() != "" {
		n++
	}
	return n
}

// IDF counts a page in each segment that holds it, as the lists of segments do.
func (c *Collection) IDF(word string) searcher.Score {
	if idf, ok := c.idfs[word]; ok {
		return idf
	}
	df := 0
	c.each(func(d *Document) {
		if slices.ContainsFunc(append(c.joint[word], word), func(form string) bool { return len(d.Words[form]) > 0 }) {
			df++
		}
	})
	if c.idfs == nil {
		c.idfs = map[string]searcher.Score{}
	}
	c.idfs[word] = searcher.IDF(c.Documents(), df)
	if again := c.times[word] - 1; again > 0 {
		c.idfs[word] = c.idfs[word] * searcher.Score(1000+again*int(c.Weights.Again)) / 1000
	}
	return c.idfs[word]
}

// wanted are the words of a query, each as the one that it counts as.
func (c *Collection) wanted(root *query.Node) (words []string) {
	for _, n := range root.Wanted() {
		for _, word := range n.Words {
			words = append(words, c.baseOf(word))
		}
	}
	return words
}

func distinct(words []string) (all []string) {
	for _, word := range words {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}
