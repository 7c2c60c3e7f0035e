package searcher_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/disk/translations"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// hold holds a page in four languages, and one that is in English alone.
func holdVersions(t *testing.T, o searcher.Options) *searcher.Searcher {
	f := newFolder(t)
	f.hold(&oracle.Collection{Segments: []oracle.Segment{pagesOf(
		textPage(1, "http://a.test/de/x", "kernel", "lampe", "how", "zylinder"),
		textPage(2, "http://a.test/en/x", "kernel", "kernel", "lamp", "how"),
		textPage(3, "http://a.test/es/x", "kernel", "lamp", "how"), // nobody translated it
		textPage(4, "http://a.test/pt-br/x", "kernel", "lampada", "how"),
		textPage(5, "http://b.test/other", "kernel", "lamp", "how", "more"),
		textPage(6, "http://a.test/ja/x", "kernel"), // perhaps
	)}})
	must(t, translations.Publish(f.dir, []translations.Group{{
		{Doc: 1, Lang: "de", Evidence: translations.URL, Confidence: 95}, {Doc: 2, Lang: "en", Evidence: translations.URL, Confidence: 99},
		{Doc: 3, Lang: "es", Evidence: translations.URL, Confidence: 99, Copy: true},
		{Doc: 4, Lang: "pt-br", Evidence: translations.URL, Confidence: 99}, {Doc: 6, Lang: "ja", Evidence: translations.Content, Confidence: 60},
		{Doc: 7, Lang: "fr", Confidence: 99}, // gone since
	}}))
	return f.open(o)
}

// Of the versions of a page one is shown: in the language of the query, else in the preferred one, else
// in those that the person reads, else in those that the collection prefers.
func TestVersions(t *testing.T) {
	languages, _ := openLanguages(t, "pt,de")
	plain, preferring := holdVersions(t, searcher.Options{}), holdVersions(t, searcher.Options{Languages: languages})
	for _, c := range []struct {
		s       *searcher.Searcher
		request searcher.Request
		want    vocab.DocID
		folded  int
	}{
		{preferring, searcher.Request{Query: "kernel"}, 4, 3},
		{preferring, searcher.Request{Query: "kernel", Reads: "en"}, 2, 3},
		{preferring, searcher.Request{Query: "kernel", Preferences: &searcher.Preferences{Lang: "en"}}, 2, 3},
		{plain, searcher.Request{Query: "kernel"}, 2, 3},
		{plain, searcher.Request{Query: "kernel", Reads: "fr,de,en"}, 1, 3},
		{plain, searcher.Request{Query: "kernel", Reads: "pt"}, 4, 3},
		{plain, searcher.Request{Query: "kernel", Reads: "es"}, 2, 3}, // a copy is never better
		{plain, searcher.Request{Query: "kernel", Reads: "de", Preferences: &searcher.Preferences{Lang: "pt-br"}}, 4, 3},
		{plain, searcher.Request{Query: "how kernel", Reads: "de"}, 2, 3},
		{plain, searcher.Request{Query: "zylinder", Reads: "en"}, 1, 0}, // the only one that matches
	} {
		resp, err := c.s.Search(context.Background(), c.request)
		must(t, err)
		var versions []vocab.DocID
		shown := false
		for _, r := range resp.Results {
			if r.Doc == c.want {
				shown = true
				for _, v := range r.Versions {
					versions = append(versions, v.Doc)
				}
			}
		}
		want := slices.DeleteFunc([]vocab.DocID{1, 2, 4}, func(doc vocab.DocID) bool { return doc == c.want })
		if !shown || resp.Folded != c.folded || resp.Listed() != len(resp.Results) || !slices.Equal(versions, want) {
			t.Errorf("%+v: %d folded, %d listed, %d results, shown %v with %v", c.request, resp.Folded, resp.Listed(), len(resp.Results), shown, versions)
		}
	}
}

// The version in the reader's language does not replace one that has more of the query, and is not shown
// beside it either.
func TestVersionsThatLackWords(t *testing.T) {
	all := []string{"kernel", "module", "spool", "widget", "gadget", "config"}
	f := newFolder(t)
	f.hold(&oracle.Collection{Segments: []oracle.Segment{pagesOf(
		textPage(1, "http://a.test/de/x", all[:5]...), textPage(2, "http://a.test/en/x", all...),
		textPage(3, "http://b.test/x", all[:5]...), textPage(4, "http://c.test/x", all[:5]...),
	)}})
	must(t, translations.Publish(f.dir, []translations.Group{
		{{Doc: 1, Lang: "de", Confidence: 99}, {Doc: 2, Lang: "en", Confidence: 99}, {Doc: 3, Lang: "fr", Confidence: 99}},
	}))
	s := f.open(searcher.Options{})
	for _, c := range []struct {
		request searcher.Request
		want    []vocab.DocID
		others  int
	}{
		{searcher.Request{Query: strings.Join(all, " "), Reads: "de"}, []vocab.DocID{2, 4}, 2},
		{searcher.Request{Query: strings.Join(all[:5], " "), Reads: "de"}, []vocab.DocID{1, 4}, 2},
		{searcher.Request{Query: strings.Join(all[:5], " "), Reads: "de", Preferences: &searcher.Preferences{Block: []string{"b.test"}}}, []vocab.DocID{1, 4}, 1},
	} {
		resp, err := s.Search(context.Background(), c.request)
		must(t, err)
		var docs []vocab.DocID
		others := 0
		for _, r := range resp.Results {
			docs, others = append(docs, r.Doc), others+len(r.Versions)
		}
		slices.Sort(docs)
		if !slices.Equal(docs, c.want) || others != c.others {
			t.Errorf("%+v: documents %v with %d versions, want %v with %d", c.request, docs, others, c.want, c.others)
		}
	}
}

// All versions are shown to a query that asks for a language, and where nothing is collapsed.
func TestVersionsNotFolded(t *testing.T) {
	s := holdVersions(t, searcher.Options{})
	for _, r := range []searcher.Request{
		{Query: "kernel -lang:fr"}, {Query: "kernel", Ungrouped: true}, {Query: "kernel (lang:de OR site:test)"},
	} {
		resp, err := s.Search(context.Background(), r)
		must(t, err)
		if folded := r.Query == "kernel -lang:fr"; !folded && (resp.Folded != 0 || len(resp.Results) != 6) || folded && resp.Folded != 3 {
			t.Errorf("%+v: %d folded, %d results", r, resp.Folded, len(resp.Results))
		}
	}
	e, err := s.Explain(context.Background(), searcher.Request{Query: "kernel", Reads: "de"}, "http://a.test/en/x")
	must(t, err)
	if e.Folded == nil || e.Folded.Doc != 1 || e.Folded.Lang != "de" {
		t.Errorf("folded into %+v", e.Folded)
	}
}

// TestVersionsAreComplete checks, for any groups, that each page that matches is shown or folded once,
// whatever the size of the pages of results, and that of each group one page is shown.
func TestVersionsAreComplete(t *testing.T) {
	c := collect(7, 2)
	c.Candidates = 400
	f := newFolder(t)
	f.hold(c)
	s := f.open(searcher.Options{Candidates: 400})
	rapid.Check(t, func(rt *rapid.T) {
		docs := rapid.Permutation(documentsOf(c)).Draw(rt, "docs")
		groupOf := map[vocab.DocID]int{}
		var groups []translations.Group
		for n := rapid.IntRange(0, 8).Draw(rt, "groups"); n > 0 && len(docs) >= 4; n-- {
			some := slices.Sorted(slices.Values(docs[:rapid.IntRange(2, 4).Draw(rt, "versions")]))
			docs = docs[len(some):]
			var g translations.Group
			for i, doc := range some {
				g = append(g, translations.Version{Doc: doc, Lang: []string{"de", "en", "fr", "ja"}[i], Confidence: 90})
				groupOf[doc] = len(groups) + 1
			}
			groups = append(groups, g)
		}
		must(t, translations.Publish(f.dir, groups))
		refresh(t, s, true)
		text, limit := rapid.SampledFrom([]string{"a", "b", "a OR c"}).Draw(rt, "query"), rapid.IntRange(1, 20).Draw(rt, "limit")
		matching := len(c.Grouped(query.Parse(text)))
		seen, shown := map[vocab.DocID]bool{}, map[int]bool{}
		var last *searcher.Response
		for from := 0; last == nil || last.Next; from += limit {
			resp, err := s.Search(context.Background(), searcher.Request{Query: text, Offset: from, Limit: limit, Strict: true, Verbatim: true, Reads: "fr,de"})
			must(t, err)
			for _, r := range resp.Results {
				if g := groupOf[r.Doc]; seen[r.Doc] || g > 0 && shown[g] {
					rt.Fatalf("%s: document %d is shown twice", text, r.Doc)
				} else if g > 0 {
					shown[g] = true
				}
				seen[r.Doc] = true
			}
			last = resp
		}
		if last.Listed() != len(seen) || last.Folded > 0 && len(groups) == 0 && matching != len(seen) {
			rt.Fatalf("%s: %d pages are shown, %d are listed", text, len(seen), last.Listed())
		}
	})
}

func documentsOf(c *oracle.Collection) (docs []vocab.DocID) {
	seen := map[vocab.DocID]bool{}
	for _, s := range c.Segments {
		for _, d := range s.Documents {
			if !seen[d.Doc] {
				seen[d.Doc] = true
				docs = append(docs, d.Doc)
			}
		}
	}
	return docs
}

// A damaged table leaves searching as it is without one.
func TestDamagedVersions(t *testing.T) {
	f := newFolder(t)
	f.hold(&oracle.Collection{Segments: []oracle.Segment{pagesOf(
		textPage(1, "http://a.test/de/x", "kernel"), textPage(2, "http://a.test/en/x", "kernel"))}})
	must(t, translations.Publish(f.dir, []translations.Group{{{Doc: 1, Lang: "de", Confidence: 99}, {Doc: 2, Lang: "en", Confidence: 99}}}))
	if got := len(found(t, f.open(searcher.Options{}), "kernel")); got != 1 {
		t.Errorf("%d results", got)
	}
	must(t, os.WriteFile(translations.Path(f.dir), []byte("damaged"), 0o600))
	if got := len(found(t, f.open(searcher.Options{}), "kernel")); got != 2 {
		t.Errorf("%d results of a damaged table", got)
	}
}
