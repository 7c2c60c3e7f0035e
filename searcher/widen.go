package searcher

import (
	"cmp"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
)

// Where too few pages match a query, it is widened by the other forms of its terms. They are found
// in the dictionary of each segment by their stem ([analysis.FormsOf]): the index holds terms as
// they occur. An identifier that no page has has its other spelling as a form: read_csv of readCsv,
// readcsv of read_csv ([analysis.OtherSpelling]). A term and its forms score as one: their hits are
// merged, and their idf is that of the pages that hold any of them.

// maxForms bounds the forms of a term, the first in dictionary order: no language has as many.
const maxForms = 256

// forms returns the forms of a term in the shard, and how many documents hold one of these or the
// term.
func (q *shardQuery) forms(key formsKey) (all forms) {
	for _, part := range q.snap.parts {
		of, err := formsIn(part, key, q.clock)
		if err != nil {
			q.unreadable(part, err, nil)
		}
		all.words = union(all.words, of.words)
		if len(of.words) == 0 {
			if of.df, err = part.seg.DF(segment.Full, []byte(key.word)); err != nil {
				q.unreadable(part, err, nil)
			}
		}
		all.df += of.df
	}
	return all
}

func formsIn(part *part, key formsKey, clock *retrieval.Clock) (forms, error) {
	if found, known := part.forms.Get(key); known {
		return found, nil
	}
	found, err := findForms(part, key, clock)
	if err == nil && !clock.Over() {
		key.word, key.spelling = strings.Clone(key.word), strings.Clone(key.spelling)
		key.last = strings.Clone(key.last)
		part.forms.Put(key, found)
	}
	return found, err
}

func findForms(part *part, key formsKey, clock *retrieval.Clock) (found forms, err error) {
	if found.words, err = inflections(part, key, clock); err != nil || clock.Over() {
		return found, err
	}
	if key.spelling != "" && (key.last == "" || key.spelling <= key.last) {
		df, err := part.seg.DF(segment.Full, []byte(key.spelling))
		if err != nil {
			return found, err
		}
		if df > 0 {
			found.words = union(found.words, []string{key.spelling})
		}
	}
	if len(found.words) == 0 {
		return found, nil
	}
	var a retrieval.Arena
	w := a.Walk(&part.Part, retrieval.Terms{}, nil, clock)
	it := w.Iterator(&query.Node{Words: []string{key.word}, Forms: found.words})
	for ord := it.Advance(0); ord != retrieval.End; ord = it.Advance(ord + 1) {
		found.df++
	}
	return found, w.Err()
}

// inflections returns the terms of the dictionary with the stem of a term.
func inflections(part *part, key formsKey, clock *retrieval.Clock) (words []string, err error) {
	f, ok := analysis.FormsOf(key.word, key.lang)
	if !ok {
		return nil, nil
	}
	for _, prefix := range f.Prefixes {
		if err := part.seg.EachTerm([]byte(prefix), func(other []byte, _ int) bool {
			w := string(other)
			if key.last != "" && w > key.last {
				return false
			}
			if w != key.word && f.Contains(w) {
				words = append(words, w)
			}
			return !clock.Tick() && len(words) < maxForms
		}); err != nil || clock.Over() {
			return words, err
		}
		if len(words) == maxForms {
			break
		}
	}
	return words, nil
}

// formsOf returns the forms of a term in all shards.
func formsOf(p *pass, key formsKey) forms {
	answers := make([]forms, len(p.shards))
	p.each(func(i int, q *shardQuery) error {
		answers[i] = q.forms(key)
		return nil
	})
	all := answers[0]
	for _, a := range answers[1:] {
		all.words, all.df = union(all.words, a.words), all.df+a.df
	}
	if len(all.words) > maxForms { // the documents that hold others do not count
		key.last = all.words[maxForms-1]
		return formsOf(p, key)
	}
	return all
}

// addForms returns the query with the forms of its terms, as far as quotes do not forbid them.
// Without all, only those of single characters, whose forms are the words that contain them, and of
// words that particles are written together with.
func addForms(p *pass, root *query.Node, all bool) *query.Node {
	if root == nil {
		return nil
	}
	lang := ""
	if all {
		lang = cmp.Or(p.req.Lang, root.Language(), p.view.language())
	}
	return root.With(func(n *query.Node, wanted bool) []string {
		word := n.Words[0]
		narrow := !all && !analysis.HasParticles(word)
		if len(n.Words) > 1 || !analysis.IsUnigram(word) && (n.Exact || !wanted || narrow) {
			return nil
		}
		key := formsKey{word: word, lang: lang}
		of := formsOf(p, key)
		if all && of.df == 0 {
			key.spelling = analysis.OtherSpelling(n.Text)
			of = formsOf(p, key)
		}
		if len(of.words) > 0 && wanted { // an excluded word may also be part of a phrase, as it is
			if p.joint == nil {
				p.joint = map[string]int{}
			}
			p.joint[word] = of.df
		}
		return of.words
	})
}

// union returns the union of sorted words. It changes neither slice.
func union(all, more []string) []string {
	if len(all) == 0 {
		return slices.Clip(more)
	}
	for _, word := range more {
		if i, known := slices.BinarySearch(all, word); !known {
			all = slices.Insert(slices.Clip(all), i, word)
		}
	}
	return all
}

// narrow returns the query without forms, unless it is prose or the weights say that they always
// match.
func narrow(p *pass, root *query.Node) *query.Node {
	return addForms(p, root, p.prose || p.weights.Widen >= scoring.Always)
}

// isRare reports, before the first phase of the narrow query, whether too few pages can match: no
// more than hold its rarest term.
func isRare(p *pass) bool {
	rare := func(n *query.Node) bool {
		return n.Op == query.Words && n.In == query.Anywhere && len(n.Words) == 1 && len(n.Forms) == 0 &&
			p.terms.Pages(n.Words[0]) < p.weights.Widen
	}
	return p.weights.Widen < scoring.Always &&
		(rare(p.root) || p.root.Op == query.And && slices.ContainsFunc(p.root.Kids, rare))
}

// tooFew reports, after the first phase of the narrow query, whether so few pages match that forms
// match, too. Pages of blocked sites count.
func tooFew(p *pass) bool {
	if p.weights.Widen >= scoring.Always || p.resp.Total >= p.weights.Widen || p.clock.Over() {
		return false
	}
	if prefs := p.req.Preferences; p.resp.Exact && (prefs == nil || len(prefs.Block) == 0) {
		return true
	}
	return p.view.count(p.root, p.clock, p.weights.Widen) < p.weights.Widen
}

// widen returns the query with the forms of its terms, nil if they have none, and fills
// Response.Forms.
func widen(p *pass, root *query.Node) *query.Node {
	wide := addForms(p, root, true)
	for _, n := range wide.Wanted() {
		if len(n.Forms) > 0 && !analysis.IsUnigram(n.Words[0]) {
			p.resp.Forms = append(p.resp.Forms, Forms{n.Words[0], n.Forms})
		}
	}
	if len(p.resp.Forms) == 0 {
		return nil
	}
	return wide
}
