package searcher

import (
	"slices"
	"strings"
	"sync"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/words"
)

// Forms of a word are found in the lexicon of each segment by the stem that they share ([words.Family]), when a
// query is asked: the index holds words as they stand. A word and its forms score as one: their hits are put
// together, and their idf is that of the pages that hold any of them.

// maxForms is how many forms of a word count, the first in the order of words: no language has as many.
const maxForms = 256

// A forms is what a segment has of a word's family.
type forms struct {
	words []string // all of the family, the word itself left out
	df    int      // pages that hold one of these or the word
}

// Families are those that were looked up in one segment.
type families struct {
	mu   sync.Mutex
	of   map[familyKey]forms
	lang string // of most of its pages, once it was asked for
}

type familyKey struct{ word, lang string }

// maxFamilies bounds families; then it begins anew.
const maxFamilies = 4096

// formsOf gives the forms of a word in a segment.
func (p *part) formsOf(word, lang string, clock *clock) (forms, error) {
	key := familyKey{word, lang}
	if found, known := p.families.get(key); known {
		return found, nil
	}
	found, err := p.lookUpForms(word, lang, clock)
	if err == nil && !clock.over {
		p.families.put(key, found)
	}
	return found, err
}

func (fs *families) get(key familyKey) (forms, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	found, known := fs.of[key]
	return found, known
}

func (fs *families) put(key familyKey, found forms) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.of == nil || len(fs.of) >= maxFamilies {
		fs.of = map[familyKey]forms{}
	}
	key.word = strings.Clone(key.word) // not the query that it stands in
	fs.of[key] = found
}

func (p *part) lookUpForms(word, lang string, clock *clock) (found forms, err error) {
	f, ok := words.FamilyOf(word, lang)
	if !ok {
		return found, nil
	}
	if err := p.seg.EachWord([]byte(f.Prefix), func(other []byte, _ int) bool {
		if w := string(other); w != word && f.Holds(w) {
			found.words = append(found.words, w)
		}
		return !clock.tick() && len(found.words) < maxForms
	}); err != nil || clock.over {
		return found, err
	}
	if len(found.words) > 0 {
		w := newWalk(p, &terms{}, nil, clock, &workspace{})
		c := w.words(&query.Node{Words: []string{word}, Forms: found.words})
		for ord := c.advance(0); ord != end; ord = c.advance(ord + 1) {
			found.df++
		}
		return found, w.err
	}
	return found, nil
}

// sampled is how many pages of a segment are asked for their language.
const sampled = 64

// language is that of most pages of the segment, as far as some of them tell.
func (p *part) language() (string, error) {
	p.families.mu.Lock()
	defer p.families.mu.Unlock()
	if p.families.lang != "" || p.seg.Docs() == 0 {
		return p.families.lang, nil
	}
	count := map[string]int{}
	for i := range min(sampled, p.seg.Docs()) {
		info, err := p.seg.Record(vocab.Ordinal(i * p.seg.Docs() / min(sampled, p.seg.Docs())))
		if err != nil {
			return "", err
		}
		count[info.Lang]++
	}
	best := "en"
	for lang, n := range count {
		if lang != "" && (n > count[best] || n == count[best] && lang < best) {
			best = lang
		}
	}
	p.families.lang = best
	return best, nil
}

// language is that in which words of a query have forms: the one asked for, or that of most pages of the largest
// segment.
func (a *answer) language() string {
	if a.req.Lang != "" {
		return a.req.Lang
	}
	var largest *part
	for _, p := range a.snap.parts {
		if largest == nil || p.seg.Docs() > largest.seg.Docs() {
			largest = p
		}
	}
	if largest == nil {
		return ""
	}
	lang, err := largest.language()
	if err != nil {
		a.unreadable(largest, err, nil)
	}
	return lang
}

// widen gives the query with the forms of its words: with all, those of every word that is not to be as it
// stands; otherwise of single characters alone, whose forms are the words that they stand in.
func (a *answer) widen(root *query.Node, all bool) *query.Node {
	if root == nil {
		return nil
	}
	lang := ""
	if all {
		lang = a.language()
	}
	return root.With(func(n *query.Node, wanted bool) []string {
		if len(n.Words) > 1 || !words.Single(n.Words[0]) && (n.Exact || !wanted || !all) {
			return nil
		}
		var found []string
		df := 0
		for _, p := range a.snap.parts {
			of, err := p.formsOf(n.Words[0], lang, a.clock)
			if err != nil {
				a.unreadable(p, err, nil)
			}
			found = union(found, of.words)
			if len(of.words) == 0 {
				of.df = a.dfIn(p, n.Words[0])
			}
			df += of.df
		}
		if len(found) > 0 && wanted { // a word that is refused counts as it stands where a phrase asks for it
			if a.joint == nil {
				a.joint = map[string]int{}
			}
			a.joint[n.Words[0]] = df
		}
		return found
	})
}

// union puts sorted words together and changes neither.
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

// narrow gives the query as it stands, unless forms of its words count in any case.
func (a *answer) narrow(root *query.Node) *query.Node { return a.widen(root, a.w.Widen >= Always) }

// rare says, before the first phase of the narrow query, whether too few pages can match it: no more hold its rarest word.
func (a *answer) rare() bool {
	rare := func(n *query.Node) bool {
		return n.Op == query.Words && n.In == query.Anywhere && len(n.Words) == 1 && len(n.Forms) == 0 && a.terms.pages(n.Words[0]) < a.w.Widen
	}
	return a.w.Widen < Always && (rare(a.root) || a.root.Op == query.And && slices.ContainsFunc(a.root.Kids, rare))
}

// tooFew says, after the first phase of the narrow query, whether so few pages match that forms of words count. Those
// of blocked sites count as matches, too.
func (a *answer) tooFew() bool {
	if a.w.Widen >= Always || a.resp.Total >= a.w.Widen || a.clock.over {
		return false
	}
	if p := a.req.Preferences; a.resp.Exact && (p == nil || len(p.Block) == 0) {
		return true
	}
	return a.snap.count(a.root, a.clock, a.w.Widen) < a.w.Widen
}

// wider gives the query with the forms of its words, nil where they have none.
func (a *answer) wider(root *query.Node) *query.Node {
	wider := a.widen(root, true)
	for _, n := range wider.Wanted() {
		if len(n.Forms) > 0 && !words.Single(n.Words[0]) {
			a.resp.Forms = append(a.resp.Forms, Forms{n.Words[0], n.Forms})
		}
	}
	if len(a.resp.Forms) == 0 {
		return nil
	}
	return wider
}

// wide gives the query that is answered, for those who have no first phase of it. Its references are located.
func (a *answer) wide(root *query.Node) *query.Node {
	root = a.locate(root)
	narrow := a.narrow(root)
	if root == nil || !root.Positive() || a.w.Widen >= Always || a.snap.count(narrow, a.clock, a.w.Widen) >= a.w.Widen {
		return narrow
	}
	if wider := a.wider(root); wider != nil {
		return wider
	}
	return narrow
}

// dfIn is how many documents of a segment hold a word.
func (a *answer) dfIn(p *part, word string) int {
	df, err := p.seg.DF(segment.Full, []byte(word))
	if err != nil {
		a.unreadable(p, err, nil)
	}
	return df
}
