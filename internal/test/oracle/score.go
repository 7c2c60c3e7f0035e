package oracle

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"anatomy/analysis"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

func (c *Collection) score(root *query.Node, d *Document) scoring.Score {
	w := &c.Weights
	seq := c.wanted(root)
	asked := d
	inexact := func(f vocab.Field) func(string) bool { // the field may have only forms of the term
		return func(word string) bool { return len(asked.positions(word, f)) == 0 && !analysis.IsUnigram(word) }
	}
	d = d.merged(c.forms)
	var sum scoring.Score // of hits
	var all scoring.Score
	accents := accentedOf(c, root)
	for _, word := range distinct(seq) {
		all += c.IDF(word)
		own := withoutAccents(c, word, accents)
		for t := range vocab.HitTypes {
			idf := own
			if inexact(t.Field())(word) {
				idf = idf * scoring.Score(w.Form) / 1000
			}
			sum += c.ofType(idf, word, t, d)
		}
		sum += c.text(own, word, inexact, d) + c.held(word, d)
	}
	for _, a := range accents {
		for t := range vocab.HitTypes {
			sum += c.ofType(withAccents(c, a), a.term, t, d)
		}
		sum += c.text(withAccents(c, a), a.term, func(vocab.Field) func(string) bool { return func(string) bool { return false } }, d)
	}
	sum += c.pairs(seq, typedAs(c, root), accents, d)
	rest := c.static(d) + c.atHome(distinct(seq), all, d)
	if lang := languageOf(c.name); lang != "" && lang == language(d.Lang) {
		rest += all * scoring.Score(w.Language) / 1000
	}
	if nearer := c.nearer[d.Doc]; nearer != nil {
		rest += scoring.Score(w.Related) * 1000 * scoring.Score(scoring.MaxRelated-*nearer) / scoring.MaxRelated
	}
	for f, weight := range w.PhraseInField {
		if len(seq) > 1 && !slices.ContainsFunc(seq, inexact(vocab.Field(f))) && slices.ContainsFunc(d.positions(seq[0], vocab.Field(f)), func(p uint32) bool {
			return d.holdsAt(seq, vocab.Field(f), p)
		}) {
			sum += all * scoring.Score(weight) / 1000
		}
	}
	if len(seq) > 0 && !slices.ContainsFunc(seq, inexact(vocab.TitleField)) {
		sum += c.exactTitle(seq, all, d)
	}
	if len(seq) > 0 && !slices.ContainsFunc(seq, inexact(vocab.AnchorField)) {
		sum += c.exactLinks(seq, all, d)
	}
	return sum + c.genre(seq, sum, d) + rest
}

// genre returns the points of the genre of a document whose hits brought some points. Of the words
// for genres it knows those that tests use.
func (c *Collection) genre(seq []string, points scoring.Score, d *Document) scoring.Score {
	asked, named := "", ""
	switch d.Genre {
	default:
		return 0
	case vocab.SourceListing:
		named = "source"
	case vocab.IndexPage:
		asked, named = "genindex", "index"
	case vocab.Changelog:
		asked, named = "changelog", "changes"
	}
	share := -c.Weights.Genre[d.Genre]
	switch {
	case slices.Contains(seq, asked):
		share = c.Weights.GenreAsked
	case slices.Contains(seq, named):
		return 0
	}
	return max(points, 0) * scoring.Score(share) / 1000
}

// held returns the points of a term for being there.
func (c *Collection) held(word string, d *Document) scoring.Score {
	if len(d.Words[word]) == 0 {
		return 0
	}
	return c.IDF(word) * scoring.Score(c.Weights.Held) / 1000
}

// text returns the points of a term for its frequency in all fields.
func (c *Collection) text(
	idf scoring.Score, word string, inexact func(vocab.Field) func(string) bool, d *Document,
) scoring.Score {
	w := &c.Weights
	hits := d.Words[word]
	if len(hits) == 0 {
		return 0
	}
	counts, frequency := map[vocab.HitType]int64{}, int64(0)
	for _, hit := range hits {
		if counts[hit.Type()]++; hit.Field() == vocab.AnchorField {
			counts[hit.Type()] += 1<<hit.Size() - 1
		}
	}
	for t, n := range counts {
		weight := int64(w.Text[t])
		if inexact(t.Field())(word) {
			weight = weight * int64(w.Form) / 1000
		}
		if t.Field() == vocab.AnchorField {
			frequency += weight * int64(scoring.Agreeing(n)) / 1000
		} else {
			frequency += weight * n
		}
	}
	k, length := int64(w.Saturation), int64(d.Length)+int64(min(wordsIn(d.Title), 255))
	half := k * (1000 - int64(w.TextLength) + int64(w.TextLength)*length/c.averageLength()) / 1000
	if frequency == 0 {
		return 0
	}
	return idf * scoring.Score(frequency*(1000+k)/(frequency+half)) / 1000
}

// averageLength returns the mean length of live documents that have a body.
func (c *Collection) averageLength() int64 {
	if c.average == 0 {
		var live []*Document
		c.live(func(d *Document, _ float64) { live = append(live, d) })
		c.average = max(int64(averageOf(live)), 1)
	}
	return c.average
}

// pairs returns the points for proximity of neighbouring terms, silent words apart, and for that of the
// same words as they were typed.
func (c *Collection) pairs(seq, typed []string, accents []accented, d *Document) scoring.Score {
	type pair struct {
		a, b           string
		typedA, typedB string
		apart          uint32
	}
	var all []pair
	last, typedLast, apart := "", "", uint32(0)
	for i, word := range seq {
		if c.silent[word] {
			apart++
			continue
		}
		known := slices.ContainsFunc(all, func(p pair) bool { return p.a == last && p.b == word })
		if last != "" && last != word && !known && !analysis.BigramsOverlap(last, word) {
			all = append(all, pair{last, word, typedLast, typed[i], apart})
		}
		last, typedLast, apart = word, typed[i], 0
	}
	share := scoring.Score(1000)
	if n := scoring.Score(len(all)); c.Weights.Pairs > 0 && n*1000 > scoring.Score(c.Weights.Pairs) {
		share = scoring.Score(c.Weights.Pairs) / n
	}
	sum := scoring.Score(0)
	for _, p := range all {
		idf, of := min(c.IDF(p.a), c.IDF(p.b)), scoring.Score(1000)
		if p.typedA != p.a || p.typedB != p.b {
			of = scoring.Score(c.Weights.Accented)
			idf := min(idfOf(c, p.typedA, accents), idfOf(c, p.typedB, accents))
			sum += c.near(p.typedA, p.typedB, idf, p.apart, share, of, d)
			of = 1000 - of
		}
		sum += c.near(p.a, p.b, idf, p.apart, share, of, d)
	}
	return sum
}

// ownTitle returns the title without the name of the site.
func ownTitle(d *Document) string {
	own := d.Title
	for _, separator := range []string{" — ", " – ", " - ", " | ", " :: ", " · ", " » "} {
		if before, _, found := strings.Cut(own, separator); found {
			own = before
		}
	}
	return own
}

// languageOf returns the language of the first two adjacent letters of a script that one language
// uses.
func languageOf(query string) string {
	letters := []rune(query)
	of := func(r rune) string {
		if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
			return "ja"
		}
		for _, s := range analysis.Scripts {
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

// exactTitle scores a title, or title without the name of the site, with the words of the query.
func (c *Collection) exactTitle(seq []string, all scoring.Score, d *Document) scoring.Score {
	own := ownTitle(d)
	points := all * scoring.Score(c.Weights.ExactMatch[vocab.TitleField]) / 1000
	whole := d.says(seq, 0, wordsIn(d.Title), vocab.TitleField, true)
	part := d.says(seq, 0, wordsIn(own), vocab.TitleField, true)
	sum := scoring.Score(0)
	switch {
	case whole:
		sum += points
	case part:
		sum += points * 9 / 10
	}
	points = all * scoring.Score(c.Weights.VerbatimTitle) / 1000
	switch {
	case whole && analysis.VerbatimHash(d.Title) == analysis.VerbatimHash(c.name):
		sum += points
	case part && analysis.VerbatimHash(own) == analysis.VerbatimHash(c.name):
		sum += points * 9 / 10
	}
	return sum
}

// wordsIn counts the words of a text. In a script without spaces, the last character of a run is
// one.
func wordsIn(text string) (n int) {
	new(analysis.Tokenizer).EachTerm([]byte(text), func([]byte, int, int) { n++ })
	return n
}

// exactLinks scores anchor texts with the same words as the query.
func (c *Collection) exactLinks(seq []string, all scoring.Score, d *Document) scoring.Score {
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
	return all * scoring.Score(c.Weights.ExactMatch[vocab.AnchorField]) / 1000 * scoring.Score(scoring.Agreeing(links)) / 1000
}

// ofType returns idf × type weight × count weight.
func (c *Collection) ofType(idf scoring.Score, word string, t vocab.HitType, d *Document) scoring.Score {
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
		half = k * (1000 - int64(w.Length) + int64(w.Length)*int64(d.Length)/c.averageLength()) / 1000
	}
	return idf * scoring.Score(w.Type[t]) * scoring.Score(count*(1000+k)*1000/(1000*count+half)) / 1e6
}

// near walks the positions of two terms in order, and counts each change from one to the other as a
// pair. The first is moved by the number of silent words between them in the query.
func (c *Collection) near(
	a, b string, idf scoring.Score, apart uint32, share, of scoring.Score, d *Document,
) (sum scoring.Score) {
	w := &c.Weights
	for f := range vocab.Fields {
		type place struct {
			position uint32
			second   bool
		}
		var places []place
		for _, p := range d.positions(a, f) {
			if f != vocab.AnchorField && f != vocab.PartField {
				p += apart
			}
			places = append(places, place{p, false})
		}
		for _, p := range d.positions(b, f) {
			places = append(places, place{p, true})
		}
		// At one position the second term comes first.
		slices.SortFunc(places, func(a, b place) int {
			if a.position == b.position && a.second != b.second {
				if a.second {
					return -1
				}
				return 1
			}
			return cmp.Compare(a.position, b.position)
		})
		counts := [scoring.Bins]int64{}
		for i := 1; i < len(places); i++ {
			if places[i].second == places[i-1].second {
				continue
			}
			distance := places[i].position - places[i-1].position
			if !places[i].second {
				distance++
			}
			bin := slices.IndexFunc(w.Near[:], func(b scoring.Bin) bool { return distance <= b.Within })
			counts[bin]++
		}
		for bin, n := range counts {
			if n > 0 {
				k := int64(w.NearSaturation)
				count := scoring.Score(n * (1000 + k) * 1000 / (1000*n + k))
				points := idf * scoring.Score(w.NearIn[f]) * scoring.Score(w.Near[bin].Weight) / 1000 * count / 1e6
				sum += points * share / 1000 * of / 1000
				break
			}
		}
	}
	return sum
}

// rankedPages returns the number of pages that are ranked.
func (c *Collection) rankedPages() (n int) {
	for _, rank := range c.Ranks {
		if rank > 0 {
			n++
		}
	}
	return n
}

// static returns the query-independent points.
func (c *Collection) static(d *Document) scoring.Score {
	points := scoring.Score(c.Weights.Depth[min(d.depth(), len(c.Weights.Depth)-1)]) * 1000
	if int(d.Doc) < len(c.Ranks) {
		points += c.Weights.PageRank(float64(c.Ranks[d.Doc]), c.rankedPages())
	}
	if !d.Crawled {
		points += scoring.Score(c.Weights.Uncrawled) * 1000
	}
	return points
}
