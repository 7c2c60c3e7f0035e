package searcher_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A folder is a data folder under construction.
type folder struct {
	t        testing.TB
	dir      string
	writer   *datadir.Writer
	manifest datadir.Manifest
}

func newFolder(t testing.TB) *folder {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := datadir.Create(dir)
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return &folder{t: t, dir: dir, writer: w}
}

// add writes a segment without publishing it.
func (f *folder) add(s oracle.Segment, info func(*oracle.Document) vocab.DocInfo) {
	f.manifest.Next++
	name := fmt.Sprintf("%06d", f.manifest.Next)
	writeSegment(f.t, datadir.Segment(f.dir, name), s, info)
	f.manifest.Segments = append(f.manifest.Segments, name)
}

func (f *folder) publish() {
	var err error
	f.manifest, err = f.writer.Publish(f.manifest)
	must(f.t, err)
}

func (f *folder) rank(ranks []float32) {
	must(f.t, rankvector.Publish(f.dir, rankvector.Default, &rankvector.Vector{Damping: 0.85, Ranks: ranks, Computed: time.Unix(1e9, 0)}))
}

func (f *folder) open(o searcher.Options) *searcher.Searcher {
	s, err := searcher.Open(f.dir, o)
	must(f.t, err)
	f.t.Cleanup(func() { must(f.t, s.Close()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keyOf(d *oracle.Document) string {
	u, err := weburl.Parse(d.URL)
	if err != nil {
		panic(err) // of the test
	}
	return u.Key()
}

func writeSegment(t testing.TB, dir string, s oracle.Segment, info func(*oracle.Document) vocab.DocInfo) {
	t.Helper()
	w, err := segment.Create(dir, segment.Options{Average: s.Average})
	must(t, err)
	defer w.Abort()
	docs := slices.Clone(s.Documents)
	slices.SortFunc(docs, func(a, b *oracle.Document) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	lists := map[string][]vocab.Ordinal{}
	for ord, d := range docs {
		must(t, w.AddDoc(info(d)))
		for word := range d.Words {
			lists[word] = append(lists[word], vocab.Ordinal(ord))
		}
	}
	for _, doc := range s.Removed {
		must(t, w.AddTombstone(doc))
	}
	for _, word := range slices.Sorted(maps.Keys(lists)) {
		must(t, w.StartTerm([]byte(word)))
		for _, ord := range lists[word] {
			must(t, w.AddPosting(ord, docs[ord].Words[word]))
		}
		must(t, w.EndTerm())
	}
	_, err = w.Finish()
	must(t, err)
}

// bare returns what the index keeps of a generated document: hits matter, texts do not.
func bare(d *oracle.Document) vocab.DocInfo {
	return vocab.DocInfo{Doc: d.Doc, URL: d.URL, Words: d.Length, Crawled: d.Crawled, Sketch: d.Sketch, Lang: d.Lang, Title: d.Title, Genre: d.Genre}
}

var lexicon = []string{"a", "b", "c", "page", "d", "e", "pages", "東京", "f", "paging", "東", "京", "source", "changelog", "index"}

var hosts = []string{"x.org", "www.x.org", "y.x.org", "x.org:8080", "y.com", "xx.org", "127.0.0.1"}

var paths = []string{"/", "/dir", "/dir/", "/dir/page", "/dir-other", "/dir?q=1", "/directory", "/other/deep/er/page?x=2"}

// generate returns a document of random terms, those at the front of the lexicon in nearly all.
func generate(r *rand.Rand, doc vocab.DocID, url string) *oracle.Document {
	d := &oracle.Document{Doc: doc, URL: url, Words: map[string][]vocab.Hit{}, Crawled: r.IntN(8) > 0, Lang: []string{"en", "ja", "", "en", "el-cy", "en-us"}[doc%6]}
	if d.Crawled {
		d.Genre = vocab.Genre(doc % 7) // some are unknown
	}
	word := func() string { return lexicon[min(r.IntN(len(lexicon)), r.IntN(len(lexicon)))] }
	add := func(word string, position uint32, types ...vocab.HitType) {
		h := vocab.MakeHit(position, types[r.IntN(len(types))], r.IntN(4) == 0, uint8(r.IntN(8)))
		d.Words[word] = append(d.Words[word], h)
	}
	if d.Crawled {
		d.Length = uint32(r.IntN(60))
		for i := range d.Length {
			add(word(), i, vocab.Plain, vocab.Plain, vocab.Emphasis, vocab.Heading1, vocab.Code, vocab.Alt)
		}
		for i := range uint32(r.IntN(5)) {
			w := word()
			add(w, i, vocab.Title)
			d.Title += []string{"", "@", "("}[len(d.Title)%3] + w + []string{" ", " ", " - "}[r.IntN(3)]
		}
		for i := range uint32(r.IntN(3)) {
			add(word(), i, vocab.Meta)
		}
	}
	for i := range uint32(r.IntN(3)) {
		add(word(), i, vocab.URLWord)
	}
	for text := range r.IntN(4) {
		n, kind := 1+r.IntN(3), []vocab.HitType{vocab.Anchor, vocab.AnchorOut}[r.IntN(2)]
		size := uint8(r.IntN(8))
		for i := range n {
			w := word()
			d.Words[w] = append(d.Words[w], vocab.MakeHit(vocab.AnchorPosition(text, n, i), kind, r.IntN(4) == 0, size))
		}
	}
	for part := range r.IntN(4) {
		n, size := 1+min(part, 1)*(1+r.IntN(3)), uint8(r.IntN(2))
		for i := range n {
			w := word()
			d.Words[w] = append(d.Words[w], vocab.MakeHit(vocab.PartPosition(part, n, i), vocab.Part, false, size))
		}
	}
	for i, label := range []string{":version:1.0", ":version:2.0", ":version:latest", ":product:widgets", ":product:gadgets"} {
		if d.Crawled && int(doc)%(i+2) == 0 {
			d.Words[label] = []vocab.Hit{vocab.MakeHit(vocab.PartPosition(0, 1, 0), vocab.Part, false, 0)}
		}
	}
	for _, hits := range d.Words {
		slices.SortFunc(hits, func(a, b vocab.Hit) int {
			if a.Before(b) {
				return -1
			}
			return 1
		})
	}
	return d
}

func urls() (all []string) {
	for _, host := range hosts {
		for _, path := range paths {
			all = append(all, "http://"+host+path)
		}
	}
	return all
}

// collect returns a collection of several segments, with documents that were fetched again or
// deleted.
func collect(seed uint64, segments int) *oracle.Collection {
	r := rand.New(rand.NewPCG(seed, 1))
	c := &oracle.Collection{Weights: withoutProse()}
	all := urls()
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range segments {
		var s oracle.Segment
		for doc, url := range all {
			switch {
			case doc%segments == i, doc%segments < i && r.IntN(6) == 0:
				s.Documents = append(s.Documents, generate(r, vocab.DocID(doc+1), url))
			case doc%segments < i && r.IntN(10) == 0:
				s.Removed = append(s.Removed, vocab.DocID(doc+1))
			}
		}
		c.Segments = append(c.Segments, s)
	}
	c.Links = generateLinks(r, len(all))
	if r.IntN(4) > 0 {
		c.Ranks = make([]float32, r.IntN(len(all))+2)
		for i := range c.Ranks[1:] {
			c.Ranks[i+1] = float32(r.ExpFloat64()) / float32(len(all))
		}
	}
	switch r.IntN(3) { // else each segment has its own average
	case 0:
		average := float64(1 + r.IntN(40))
		for i := range c.Segments {
			c.Segments[i].Average = average
		}
	case 1:
		for i := range c.Segments {
			c.Segments[i].Average = float64(1 + r.IntN(40))
		}
	}
	return c
}

func (f *folder) hold(c *oracle.Collection) *searcher.Searcher {
	return f.holdWith(c, searcher.Options{})
}

func (f *folder) holdWith(c *oracle.Collection, o searcher.Options) *searcher.Searcher {
	for _, s := range c.Segments {
		f.add(s, bare)
	}
	if c.Ranks != nil {
		f.rank(c.Ranks)
	}
	f.publish()
	o.Candidates, o.Weights, o.Links = c.Candidates, c.Weights, c.Links
	return f.open(o)
}

// drawQuery draws a query. All operators occur.
func drawQuery(t *rapid.T) string {
	word := rapid.SampledFrom(append([]string{"absent", "東京", "pager", "+pages"}, lexicon...))
	phrase := func(between, end string) *rapid.Generator[string] {
		return rapid.Map(rapid.SliceOfN(word, 1, 4), func(w []string) string { return `"` + strings.Join(w, between) + `"` + end })
	}
	few := rapid.SampledFrom([]string{"0", "1", "2", "5", "20"})
	words := rapid.OneOf(word, word, phrase(" ", ""), phrase(" ", ""), phrase(" * ", ""), phrase(" ", "~"+few.Draw(t, "within")))
	in := rapid.SampledFrom([]string{"", "", "", "", "intitle:", "inurl:", "inanchor:", "intext:", "inbody:+", "inalt:", "allintitle:"})
	filter := rapid.SampledFrom([]string{"site:x.org", "site:www.x.org", "site:y.com", "site:org", "site:x.org/dir", "site:x.org:8080", "site:x.org:8080/dir", "site:127.0.0.1", "site:absent.org", "site:x.org/dir/page", "site:www.x.org/dir/", "version:v1.0", "product:widgets"})
	page := rapid.Custom(drawReference)
	var node func(depth int) string
	node = func(depth int) string {
		kind := rapid.IntRange(0, 13).Draw(t, "kind")
		switch {
		case kind == 13:
			return words.Draw(t, "words") + " AROUND(" + few.Draw(t, "around") + ") " + node(depth/2)
		case kind == 12:
			return page.Draw(t, "page")
		case kind < 5 || depth == 0 && kind < 10:
			return in.Draw(t, "in") + words.Draw(t, "words")
		case kind < 6:
			return filter.Draw(t, "filter")
		case kind < 8:
			return "-(" + node(0) + ")" // of one letter, a minus alone makes an option
		case kind < 10:
			return node(depth-1) + " OR " + node(depth-1)
		}
		if depth == 0 {
			return words.Draw(t, "words")
		}
		return "(" + node(depth-1) + " " + node(depth-1) + ")"
	}
	var parts []string
	for range rapid.IntRange(1, 3).Draw(t, "parts") {
		parts = append(parts, node(2))
	}
	return strings.Join(parts, " ")
}

// pages returns all results, not collapsed, page by page.
func pages(t testing.TB, s *searcher.Searcher, text string, limit int) (all []searcher.Result, last *searcher.Response) {
	for {
		resp, err := s.Search(context.Background(), searcher.Request{Query: text, Offset: len(all), Limit: limit, Explain: true, Ungrouped: true, Strict: true, Within: time.Hour})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, resp.Results...)
		if !resp.Next {
			return all, resp
		}
	}
}

// TestBruteForce checks that for queries of every operator, over several segments with documents
// replaced and deleted, the results are those of the oracle: the same, in the same order, with the
// same scores, for pages of results of any size.
func TestBruteForce(t *testing.T) {
	type collection struct {
		*oracle.Collection
		s *searcher.Searcher
	}
	var all []collection
	for i, segments := range []int{1, 1, 2, 3, 5} {
		c := collect(uint64(i), segments)
		c.Candidates = []int{400, 7, 400, 5, 11}[i]
		c.Weights.Widen = []int{100, scoring.Always, 0, 10, 20}[i]
		c.Weights.Again = []searcher.Milli{0, 1000, 500, 0, 1000}[i]
		all = append(all, collection{c, newFolder(t).hold(c)})
	}
	found := 0
	check := func(rt failer, text string, limit int) {
		q := query.Parse(text)
		for i, c := range all {
			want := c.Search(q)
			got, last := pages(t, c.s, text, limit)
			if last.Total != len(want) || !last.Exact || last.Partial || len(got) != len(want) {
				rt.Fatalf("collection %d: %s: %d results of %d (exact %v), want %d", i, text, len(got), last.Total, last.Exact, len(want))
			}
			if len(want) == 0 && last.Why == "" {
				rt.Fatalf("%s: no results and no reason", text)
			}
			for k, r := range got {
				if r.Doc != want[k].Doc || r.Score != want[k].Score {
					rt.Fatalf("collection %d: %s: result %d is document %d with %d, want %d with %d", i, text, k, r.Doc, r.Score, want[k].Doc, want[k].Score)
				}
				checkSum(rt, text, r.Explanation, r.Score)
			}
			found += len(got)
		}
	}
	for _, text := range []string{"a", "a b", "c OR d", `"a b"`, `"a * b"`, `"a b c"~3`, `"a b" AROUND(4) c`, `inanchor:"a b"~20`, "a -(b)", "a -x", "a (e OR -(a))", "a (absent OR -(b c))", "site:x.org", "site:x.org/dir a", "intitle:a inurl:b OR inanchor:c", "a b a OR a", "page OR pages", "a pages OR page page \"pages a\"", "a OR λόγος", "a OR λ", "page OR カナ OR λόγος b", "東京 OR かな", "a -λόγος"} {
		check(t, text, 10)
	}
	for _, d := range all[0].Segments[0].Documents {
		check(t, d.Title, 10)
		check(t, strings.NewReplacer("@", "", "(", "").Replace(d.Title), 10)
		check(t, `site:org "`+d.Title+`" -absent`, 10)
	}
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, drawQuery(rt), rapid.SampledFrom([]int{3, 10, 100}).Draw(rt, "limit"))
	})
	if found == 0 {
		t.Fatal("no query found anything")
	}
}

type failer interface{ Fatalf(string, ...any) }

func checkSum(t failer, text string, e *searcher.Explanation, score searcher.Score) {
	var sum searcher.Score
	for _, part := range e.Parts {
		sum += part.Points
		if part.Detail == "" || part.Name == "" {
			t.Fatalf("%s: %s: a part without name or detail: %+v", text, e.URL, part)
		}
	}
	if sum != score || e.Score != score || !e.Matches {
		t.Fatalf("%s: %s: parts add up to %d, explanation says %d, result %d (matches: %v)", text, e.URL, sum, e.Score, score, e.Matches)
	}
}

// TestOneSegmentEqualsMany checks that results do not depend on how documents are spread over
// segments.
func TestOneSegmentEqualsMany(t *testing.T) {
	many := collect(7, 4)
	known := map[vocab.DocID]bool{}
	one := &oracle.Collection{Weights: many.Weights, Ranks: many.Ranks, Links: many.Links, Segments: make([]oracle.Segment, 1)}
	for i := range many.Segments {
		many.Segments[i].Removed = nil
		many.Segments[i].Documents = slices.DeleteFunc(many.Segments[i].Documents, func(d *oracle.Document) bool {
			again := known[d.Doc]
			known[d.Doc] = true
			return again
		})
		one.Segments[0].Documents = append(one.Segments[0].Documents, many.Segments[i].Documents...)
	}
	a, b := newFolder(t).hold(one), newFolder(t).hold(many)
	rapid.Check(t, func(rt *rapid.T) {
		text := drawQuery(rt)
		inOne, _ := pages(t, a, text, 20)
		inMany, _ := pages(t, b, text, 20)
		if len(inOne) != len(inMany) {
			rt.Fatalf("%s: %d and %d results", text, len(inOne), len(inMany))
		}
		for i := range inOne {
			if inOne[i].Doc != inMany[i].Doc || inOne[i].Score != inMany[i].Score {
				rt.Fatalf("%s: result %d: %+v and %+v", text, i, inOne[i], inMany[i])
			}
		}
	})
}

// TestExplainAnyPage checks that pages that do not match are explained, too, with the terms that
// they lack.
func TestExplainAnyPage(t *testing.T) {
	c := collect(3, 2)
	s := newFolder(t).hold(c)
	check := func(rt failer, text string, d *oracle.Document) {
		q := query.Parse(text)
		root := q.Root
		e, err := s.Explain(context.Background(), searcher.Request{Query: text, Strict: true}, strings.Replace(d.URL, "http:", "https:", 1))
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		if want := c.Score(q, d); e.Score != want {
			rt.Fatalf("%s: %s scores %d, want %d", text, d.URL, e.Score, want)
		}
		if want := root.Positive() && c.Matches(root, d); e.Matches != want {
			rt.Fatalf("%s: %s matches: %v, want %v", text, d.URL, e.Matches, want)
		}
		for _, word := range e.Missing {
			if len(d.Words[word]) > 0 {
				rt.Fatalf("%s: %s is said to miss %q", text, d.URL, word)
			}
		}
	}
	last := c.Segments[len(c.Segments)-1].Documents
	check(t, `"absent 東" -"東"`, last[0]) // the forms of a refused word are no forms of the phrase's
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, drawQuery(rt), last[rapid.IntRange(0, len(last)-1).Draw(rt, "document")])
	})
	if _, err := s.Explain(context.Background(), searcher.Request{Query: "a"}, "http://nowhere.org/"); err == nil {
		t.Error("a page that is not indexed was explained")
	}
}
