package searcher_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A graph is a link database in memory, or one that fails.
type graph struct {
	in      map[vocab.DocID][]vocab.DocID
	aliases map[string]vocab.DocID // canonical documents by URL
	broken  error
}

func generateLinks(r *rand.Rand, docs int) *graph {
	g := &graph{in: map[vocab.DocID][]vocab.DocID{}}
	for to := range docs {
		for range r.IntN(9) {
			g.in[vocab.DocID(to+1)] = append(g.in[vocab.DocID(to+1)], vocab.DocID(r.IntN(docs+2)+1)) // two of them are not in the index
		}
	}
	return g
}

func (g *graph) Sources(_ context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error) {
	for _, doc := range to {
		from = append(from, g.in[doc]...)
	}
	slices.Sort(from)
	from = slices.Compact(from)
	return from[:min(n, len(from))], len(from) <= n, g.broken
}

func (g *graph) Canonical(u weburl.URL) (vocab.DocID, error) {
	return g.aliases[u.String()], g.broken
}

func (g *graph) Related(_ context.Context, doc vocab.DocID, n int) (docs []vocab.DocID, err error) {
	for _, other := range slices.Sorted(maps.Keys(g.in)) {
		if other != doc && slices.ContainsFunc(g.in[other], func(from vocab.DocID) bool { return slices.Contains(g.in[doc], from) }) {
			docs = append(docs, other)
		}
	}
	return docs[:min(n, len(docs))], g.broken
}

// Near are the document and those that link to it.
func (g *graph) Near(_ context.Context, doc vocab.DocID, visit func(vocab.DocID, float64)) error {
	for _, from := range g.in[doc] {
		visit(from, 0.01)
	}
	visit(doc, 0.2)
	return g.broken
}

// drawReference draws an operator that names a page or host, mostly an indexed one.
func drawReference(t *rapid.T) string {
	all := append(urls(), "http://absent.org/x")
	url := strings.TrimPrefix(rapid.SampledFrom(all).Draw(t, "url"), "http://")
	operator := rapid.SampledFrom([]string{"link:", "link:", "link:", "related:", "info:", "cache:https://"}).Draw(t, "operator")
	if operator == "link:" && rapid.Bool().Draw(t, "whole site") {
		url, _, _ = strings.Cut(url, "/")
	}
	return operator + url
}

// TestReferences checks the pages that link:, related:, info: and cache: find, and what the
// response says if there are none.
func TestReferences(t *testing.T) {
	c := collect(7, 2)
	g := c.Links.(*graph)
	g.in = map[vocab.DocID][]vocab.DocID{}
	docs := map[string]vocab.DocID{}
	for _, s := range c.Segments {
		for _, d := range s.Documents {
			docs[d.URL] = d.Doc
		}
	}
	f := newFolder(t)
	s := f.hold(c)
	x, folder, other := docs["http://x.org/"], docs["http://x.org/dir/"], docs["http://y.com/directory"]
	g.in[x], g.in[folder] = []vocab.DocID{folder, other, 1 << 40}, []vocab.DocID{other}
	g.aliases = map[string]vocab.DocID{"http://copy.org/": x, "http://copy.org/gone": 1 << 20}
	for text, want := range map[string][]vocab.DocID{
		"info:x.org/":                     {x},
		"info:copy.org/":                  {x},
		"info:www.copy.org/":              {x},
		"info:www.y.com/directory":        {other},
		"info:www.x.org/":                 {docs["http://www.x.org/"]},
		"link:copy.org/":                  {folder, other},
		"related:http://copy.org/":        {folder},
		"related:copy.org/gone":           nil,
		"cache:https://x.org":             {x},
		"link:x.org/":                     {folder, other},
		"link:x.org":                      {folder, other},
		"link:x.org -site:x.org":          {other},
		"link:x.org/dir/":                 {other},
		"link:x.org/dir":                  nil,
		"related:x.org":                   {folder},
		"info:x.org/ OR info:y.com/nohow": {x},
		"info:y.com/nohow":                nil,
		"link:y.com/nohow":                nil,
	} {
		r, err := s.Search(t.Context(), searcher.Request{Query: text, Ungrouped: true, Within: time.Hour})
		must(t, err)
		var got []vocab.DocID
		for _, found := range r.Results {
			got = append(got, found.Doc)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if wanted := text == "cache:https://x.org"; wanted && r.Cached != x || !wanted && r.Cached != 0 {
			t.Errorf("%s: the cached page of %d", text, r.Cached)
		}
		if unknown := strings.Contains(r.Why, "Not in the index: y.com/nohow"); unknown != (len(want) == 0 && strings.Contains(text, "nohow")) {
			t.Errorf("%s: said %q", text, r.Why)
		}
	}
	for text, why := range map[string]string{
		"link:y.com/directory absent": "No page links to y.com/directory.",
		"related:y.com/directory":     "No other page is linked to together with y.com/directory.",
		"related:x.org absent":        "No page contains “absent”.",
	} {
		r, err := s.Search(t.Context(), searcher.Request{Query: text})
		if must(t, err); r.Why != why {
			t.Errorf("%s: said %q, want %q", text, r.Why, why)
		}
		if absent := strings.Contains(why, "absent"); absent != slices.Equal(r.Absent, []string{"absent"}) {
			t.Errorf("%s: absent %q", text, r.Absent)
		}
	}
	for url, want := range map[string]string{"http://x.org/": "http://x.org/", "http://copy.org/": "http://x.org/", "http://copy.org/gone": "", "http://y.com/nohow": ""} {
		e, err := s.Explain(t.Context(), searcher.Request{Query: "absent"}, url)
		if want == "" && !errors.Is(err, searcher.ErrNotIndexed) || want != "" && (err != nil || e.URL != want) {
			t.Errorf("explain %s: %v, %v, want %q", url, e, err, want)
		}
	}
	g.broken = errors.New("the disk is on fire")
	for _, one := range []*searcher.Searcher{s, f.open(searcher.Options{})} {
		r, err := one.Search(t.Context(), searcher.Request{Query: "link:x.org/ OR info:x.org/"})
		must(t, err)
		if len(r.Results) != 1 || len(r.Cut) != 1 || !strings.Contains(r.Cut[0], "link:x.org/ could not be looked up") {
			t.Errorf("%d results, said %q", len(r.Results), r.Cut)
		}
		r, err = one.Search(t.Context(), searcher.Request{Query: "link:x.org/"})
		if must(t, err); strings.Contains(r.Why, "No page links") {
			t.Errorf("links that could not be read: said %q", r.Why)
		}
	}
}
