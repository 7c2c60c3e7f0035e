package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// If too few pages match a query, it is widened by the other forms of its terms. They are found in
// the dictionary of each segment by their stem ([analysis.FormsOf]), because the index has terms
// as they occur. An identifier that no page has gets its other spelling as a form: read_csv for
// readCsv, readcsv for read_csv ([analysis.OtherSpelling]). A term and its forms score as one term:
// their hits are merged, and their idf is that of the pages with any of them. Synonyms are
// forms of a term, too, however many pages match: see [synonyms.Table]. So are compounds that begin
// with a long word ([analysis.HasFewCompounds]).

// formsOf returns the forms of a term in all shards.
func formsOf(p *pass, key snapshot.FormsKey) snapshot.Forms {
	answers := make([]snapshot.Forms, len(p.shards))
	p.each(func(i int, q *shard.Query) error {
		answers[i] = q.Forms(key)
		return nil
	})
	var all snapshot.Forms
	for _, of := range answers {
		all.Add(of)
	}
	if len(all.Words) > snapshot.MaxForms { // documents with only omitted forms do not count
		key.Last = all.Words[snapshot.MaxForms-1]
		return formsOf(p, key)
	}
	return all
}

// languageOf returns the language of most pages with a word, or "" if there is none, or many pages have it.
func languageOf(p *pass, word string) string {
	of := formsOf(p, snapshot.FormsKey{Word: word, Languages: true})
	for lang, n := range of.Languages {
		if 2*n > of.DF && of.DF <= snapshot.MaxLanguages {
			return lang
		}
	}
	return ""
}

// addForms returns the query with the forms of its terms, except where quotes forbid them. If all
// is not set it adds only the forms of single characters, which are the words that contain them,
// those of words that are written together with particles, and compounds that begin with a long word.
func addForms(p *pass, root *query.Node, all bool) *query.Node {
	if root == nil {
		return nil
	}
	ofQuery := cmp.Or(p.req.Lang, query.FilteredLanguage(root), root.Language())
	main, others := p.view.languages()
	others = others && ofQuery == "" && !root.IsEnglish() // terms may be in one of these
	return root.WithForms(func(n *query.Node, isExcluded bool) []string {
		word := n.Words[0]
		var synonyms []string
		if !isExcluded && !n.Exact && len(n.Words) == 1 {
			synonyms = p.synonyms.Of(word)
		}
		always := all || analysis.HasParticles(word)
		lang := cmp.Or(ofQuery, main)
		if others && analysis.IsLong(word) && len(n.Words) == 1 && !n.Exact && !isExcluded {
			if of := languageOf(p, word); analysis.WritesCompounds(of) {
				lang = of
			}
		}
		compounds := !always && analysis.HasFewCompounds(word, lang)
		narrow := !always && !compounds && len(synonyms) == 0
		if len(n.Words) > 1 || !analysis.IsUnigram(word) && (n.Exact || isExcluded || narrow) {
			return nil
		}
		key := snapshot.FormsKey{Word: word, Lang: lang, Spellings: strings.Join(synonyms, " "), Compounds: compounds}
		if !always && !compounds && len(synonyms) > 0 {
			key.Lang = snapshot.NoForms
		}
		of := formsOf(p, key)
		if all && of.DF == 0 {
			key.Spellings = strings.TrimSpace(key.Spellings + " " + analysis.OtherSpelling(n.Text))
			of = formsOf(p, key)
		}
		if len(of.Words) > 0 && !isExcluded { // an excluded word may also be part of a phrase, without forms
			if p.joint == nil {
				p.joint = map[string]int{}
			}
			p.joint[word] = of.DF
		}
		return of.Words
	})
}

// narrow returns the query without forms, unless it is prose or the weights make forms always
// match.
func narrow(p *pass, root *query.Node) *query.Node {
	return addForms(p, root, p.prose || p.weights.Widen >= scoring.Always)
}

// isRare reports, before the first phase of the narrow query, whether too few pages can match: at
// most as many as contain its rarest term.
func isRare(p *pass) bool {
	rare := func(n *query.Node) bool {
		return n.Op == query.Words && n.In == query.Anywhere && len(n.Words) == 1 && len(n.Forms) == 0 &&
			p.terms.Pages(n.Words[0]) < p.weights.Widen
	}
	return p.weights.Widen < scoring.Always &&
		(rare(p.root) || p.root.Op == query.And && slices.ContainsFunc(p.root.Kids, rare))
}

// tooFew reports, after the first phase of the narrow query, whether so few pages match that forms
// are added. Pages of blocked sites count.
func tooFew(p *pass) bool {
	if p.weights.Widen >= scoring.Always || p.resp.Total >= p.weights.Widen || p.clock.Over() {
		return false
	}
	if prefs := p.req.Preferences; p.resp.Exact && (prefs == nil || len(prefs.Block) == 0) {
		return true
	}
	return p.view.count(p.root, p.clock, p.weights.Widen) < p.weights.Widen
}

// widen returns the query with the forms of its terms, or nil if they have none, and fills in
// Response.Forms.
func widen(p *pass, root *query.Node) *query.Node {
	wide := addForms(p, root, true)
	for _, n := range wide.PositiveWords() {
		if len(n.Forms) > 0 && !analysis.IsUnigram(n.Words[0]) {
			p.resp.Forms = append(p.resp.Forms, Forms{n.Words[0], n.Forms})
		}
	}
	if len(p.resp.Forms) == 0 {
		return nil
	}
	return wide
}
