package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Document is a document as it should be in the index.
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
	Genre   vocab.Genre
	Date    vocab.Day
}

// Match reports whether a document matches a query.
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
		if l := n.Filter.Label; l.Value != "" {
			return len(d.Words[l.Term()]) > 0
		}
		return n.Filter == query.Filter{Lang: language(d.Lang)} || n.Filter == query.Filter{Medium: d.Medium} || n.Filter.Lang == "" && n.Filter.Medium == 0 && n.Filter.Dated(d.Date)
	case query.Pages:
		return slices.Contains(n.Docs, d.Doc)
	case query.And:
		return !slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return !Match(kid, d) })
	case query.Most:
		return slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return !kid.Function && Match(kid, d) })
	case query.Or:
		return slices.ContainsFunc(n.Kids, func(kid *query.Node) bool { return Match(kid, d) })
	}
	return !Match(n.Kids[0], d)
}

// language returns the first part of a BCP 47 tag.
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
			if d.matchesAt(n, f, start) {
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

// alts returns the document with only the alternative texts of images.
func (d *Document) alts() *Document {
	only := &Document{Words: map[string][]vocab.Hit{}}
	for word, hits := range d.Words {
		only.Words[word] = slices.DeleteFunc(slices.Clone(hits), func(h vocab.Hit) bool { return h.Type() != vocab.Alt })
	}
	return only
}

// matchesAt is holdsAt for a phrase that may have open words.
func (d *Document) matchesAt(n *query.Node, f vocab.Field, start uint32) bool {
	for k, word := range n.Words {
		if !slices.Contains(d.positions(word, f), start+n.Offset(k)) {
			return false
		}
	}
	return true
}

// near tries all positions of all phrases.
func (d *Document) near(n *query.Node) bool {
	if n.In == query.InAlt {
		d = d.alts()
	}
	for f := range vocab.Fields {
		most := n.Within
		if f == vocab.AnchorField {
			most = min(most, 15) // two anchor texts are farther apart
		}
		if f == vocab.PartField {
			most = min(most, 3) // as are the names of two parts
		}
		for _, p := range n.Kids {
			most += length(p)
		}
		if (n.In == query.Anywhere || f == fields[n.In]) && d.nearIn(f, n.Kids, 1<<31, 0, most, nil) {
			return true
		}
	}
	return false
}

func length(phrase *query.Node) int { return int(phrase.Offset(len(phrase.Words)-1)) + 1 }

// nearIn tries all positions of phrases, with those placed before in [from, to), within most words.
// Taken are the places of the phrases before: equal ones may not share one.
func (d *Document) nearIn(f vocab.Field, phrases []*query.Node, from, to, most int, taken []string) bool {
	if to-from > most || len(phrases) == 0 {
		return to-from <= most
	}
	p := phrases[0]
	for _, start := range d.positions(p.Words[0], f) {
		place := fmt.Sprint(p, start)
		if slices.Contains(taken, place) || !d.matchesAt(p, f, start) {
			continue
		}
		from, to := min(from, int(start)), max(to, int(start)+length(p))
		if d.nearIn(f, phrases[1:], from, to, most, append(slices.Clone(taken), place)) {
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

// merged returns the document with the hits of forms added to those of the terms they count as.
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

// says reports whether the words of a query are all n words from a position on, and unless others
// are allowed, occur there alone.
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
			if analysis.IsBigram(word) {
				delete(left, at+1)
			}
		}
		if !held {
			return false
		}
	}
	return n > 0 && len(left) == 0
}

// depth returns the number of folders in the URL's path, a URL query counting as one.
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
