package searcher_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/analysis"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/searcher/pins"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A split is a collection divided into shards by site. Each shard has DocIDs of its own.
type split struct {
	shards []*oracle.Collection
	outer  map[vocab.DocID]vocab.DocID // of each document of the whole: its DocID outside its shard
	inner  map[vocab.DocID]vocab.DocID // the reverse
	links  searcher.Links              // of the whole
	pins   *pins.File                  // nil for none
}

func splitBySite(c *oracle.Collection, n int) *split {
	s := &split{outer: map[vocab.DocID]vocab.DocID{}, inner: map[vocab.DocID]vocab.DocID{}, links: c.Links}
	at := map[vocab.DocID]int{} // shard
	last := vocab.DocID(max(len(c.Ranks)-1, 0))
	for _, segment := range c.Segments {
		for _, d := range segment.Documents {
			u, err := weburl.Parse(d.URL)
			if err != nil {
				panic(err) // of the test
			}
			hash := fnv.New32()
			hash.Write([]byte(u.Site()))
			at[d.Doc], last = int(hash.Sum32()>>8)%n, max(last, d.Doc)
		}
	}
	for range n {
		shard := &oracle.Collection{Weights: c.Weights, Candidates: c.Candidates, Segments: make([]oracle.Segment, len(c.Segments))}
		if c.Ranks != nil {
			shard.Ranks = []float32{0}
		}
		s.shards = append(s.shards, shard)
	}
	known := make([]vocab.DocID, n) // DocIDs in each shard
	for doc := vocab.DocID(1); doc <= last; doc++ {
		i, indexed := at[doc]
		if !indexed {
			i = int(doc) % n
		}
		known[i]++
		s.outer[doc] = vocab.DocID(i)<<40 + known[i]
		s.inner[s.outer[doc]] = doc
		if int(doc) < len(c.Ranks) {
			s.shards[i].Ranks = append(s.shards[i].Ranks, c.Ranks[doc])
		}
	}
	for k, segment := range c.Segments {
		for _, shard := range s.shards {
			shard.Segments[k].Average = segment.Average
		}
		for _, d := range segment.Documents {
			own := *d
			own.Doc = s.outer[d.Doc] & (1<<40 - 1)
			into := &s.shards[at[d.Doc]].Segments[k]
			into.Documents = append(into.Documents, &own)
		}
		for _, doc := range segment.Removed {
			into := &s.shards[s.outer[doc]>>40].Segments[k]
			into.Removed = append(into.Removed, s.outer[doc]&(1<<40-1))
		}
	}
	return s
}

func (s *split) Sources(ctx context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error) {
	from, all, err = s.links.Sources(ctx, s.translate(to, s.inner), n)
	from = s.translate(from, s.outer)
	slices.Sort(from)
	return from, all, err
}

func (s *split) Canonical(u weburl.URL) (vocab.DocID, error) {
	doc, err := s.links.Canonical(u)
	return s.outer[doc], err
}

func (s *split) Related(ctx context.Context, doc vocab.DocID, n int) ([]vocab.DocID, error) {
	docs, err := s.links.Related(ctx, s.inner[doc], n)
	return s.translate(docs, s.outer), err
}

func (s *split) Near(ctx context.Context, doc vocab.DocID, visit func(vocab.DocID, float64)) error {
	return s.links.Near(ctx, s.inner[doc], func(near vocab.DocID, rank float64) {
		if outer, ok := s.outer[near]; ok {
			visit(outer, rank)
		}
	})
}

// translate leaves out documents that nothing else mentions.
func (s *split) translate(docs []vocab.DocID, to map[vocab.DocID]vocab.DocID) (all []vocab.DocID) {
	for _, doc := range docs {
		if other, ok := to[doc]; ok {
			all = append(all, other)
		}
	}
	return all
}

// open returns a searcher of the shards, and learns.
func (s *split) open(t *testing.T, info func(*oracle.Document) vocab.DocInfo) *searcher.Searcher {
	return s.openIn(t, s.write(t, info), searcher.Options{})
}

// write writes the data folders of the shards.
func (s *split) write(t *testing.T, info func(*oracle.Document) vocab.DocInfo) (dirs []string) {
	for _, f := range s.folders(t, info) {
		dirs = append(dirs, f.dir)
	}
	return dirs
}

func (s *split) folders(t *testing.T, info func(*oracle.Document) vocab.DocInfo) (all []*folder) {
	for _, c := range s.shards {
		f := newFolder(t)
		for _, segment := range c.Segments {
			if len(segment.Documents)+len(segment.Removed) > 0 {
				f.add(segment, info)
			}
		}
		if c.Ranks != nil {
			f.rank(c.Ranks)
		}
		f.publish()
		all = append(all, f)
	}
	return all
}

func (s *split) openIn(t *testing.T, dirs []string, o searcher.Options) *searcher.Searcher {
	c := s.shards[0]
	o.Weights, o.Candidates, o.Pins = c.Weights, c.Candidates, s.pins
	if s.links != nil {
		o.Links = s
	}
	all, err := searcher.OpenShards(dirs, o)
	must(t, err)
	t.Cleanup(func() { must(t, all.Close()) })
	must(t, all.Learn(t.Context()))
	return all
}

// sayings are the words of the corpus of manySites: with forms, in several scripts.
var sayings = strings.Fields(`engine engines search searches searching index indices crawler crawlers
	anatomy hypertext how the page pages ranking κόσμος κόσμου поиск поиска поиском 検索 全文検索 索引 東京 京都`)

// manySites returns documents on many sites, and what the index keeps of them. All bodies are of one
// length, so that impacts do not depend on the segment.
func manySites(seed uint64, n, segments int) (*oracle.Collection, func(*oracle.Document) vocab.DocInfo) {
	r := rand.New(rand.NewPCG(seed, 3))
	texts := map[string]string{} // by URL
	var docs []*oracle.Document
	for i := range n {
		d := &oracle.Document{
			Doc: vocab.DocID(i + 1), Words: map[string][]vocab.Hit{}, Crawled: r.IntN(8) > 0, Length: 40,
			URL:  fmt.Sprintf("http://%s%d.org/%s%d", []string{"search", "h", "engine-"}[i%3], r.IntN(30), strings.Repeat("d/", r.IntN(3)), i),
			Lang: []string{"en", "en", "el", "ru", "ja", "en"}[r.IntN(6)], Genre: vocab.Genre(i % 7), Date: vocab.Day(10000 + r.IntN(9)),
			Sketch: vocab.MakeSketch(1, uint64(r.IntN(n/2))*0x9e3779b97f4a7c15),
		}
		say := func(words int, types ...vocab.HitType) string {
			var said []string
			for range words {
				said = append(said, sayings[min(r.IntN(len(sayings)), r.IntN(len(sayings)))])
			}
			text := strings.Join(said, " ")
			for at, term := range analysis.PhraseTerms(text) {
				d.Words[term] = append(d.Words[term], vocab.MakeHit(uint32(at), types[r.IntN(len(types))], false, vocab.NormalSize))
			}
			return text
		}
		texts[d.URL] = say(r.IntN(25), vocab.Plain, vocab.Plain, vocab.Heading1)
		if r.IntN(3) > 0 {
			d.Title = say(1+r.IntN(3), vocab.Title)
		}
		say(r.IntN(2), vocab.Meta)
		for _, hits := range d.Words {
			slices.SortFunc(hits, func(a, b vocab.Hit) int {
				if a.Before(b) {
					return -1
				}
				return 1
			})
		}
		docs = append(docs, d)
	}
	c := inSegments(docs, segments, []int{12, 60, 1000}[seed%3])
	again := *docs[0] // a newer version of a page, and a page that is gone
	again.Doc, again.Title = docs[3].Doc, "search engine"
	again.URL = docs[3].URL
	last := &c.Segments[segments-1]
	if segments > 1 {
		last.Documents = append(slices.Clone(last.Documents), &again)
		last.Removed = []vocab.DocID{docs[5].Doc}
	}
	c.Links, c.Weights = generateLinks(r, n), scoring.Default
	c.Ranks = make([]float32, n+3)
	for i := range c.Ranks[1:] {
		c.Ranks[i+1] = float32(1+r.IntN(4)) / float32(n)
	}
	return c, func(d *oracle.Document) vocab.DocInfo {
		info := bare(d)
		info.Text, info.Date = texts[d.URL], d.Date
		return info
	}
}

// drawSaying draws a query over the words of manySites: phrases, sites, exclusions, slips.
func drawSaying(t *rapid.T) string {
	word := rapid.Custom(func(t *rapid.T) string {
		word := []rune(rapid.SampledFrom(sayings).Draw(t, "word"))
		if at := rapid.IntRange(0, 40).Draw(t, "slip"); at > 0 && at < len(word)-1 && len(word) > 4 {
			word = slices.Delete(word, at, at+1)
		}
		return string(word)
	})
	site := rapid.Map(rapid.IntRange(0, 29), func(i int) string {
		return fmt.Sprintf("%s%d.org", []string{"search", "h", "engine-"}[i%3], i)
	})
	part := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0:
			return `"` + word.Draw(t, "first") + " " + word.Draw(t, "second") + `"`
		case 1:
			return "site:" + site.Draw(t, "site")
		case 2:
			return "-" + word.Draw(t, "excluded")
		case 3:
			return "(" + word.Draw(t, "one") + " OR " + word.Draw(t, "other") + ")"
		case 4:
			return rapid.SampledFrom([]string{"intitle:", "lang:el ", "sort:date ", "link:", "related:"}).Draw(t, "operator") + site.Draw(t, "host")
		}
		return word.Draw(t, "word")
	})
	return strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), " ")
}

// drawRequest draws how a query is asked.
func drawRequest(t *rapid.T, text string) searcher.Request {
	req := searcher.Request{
		Query: text, Limit: rapid.SampledFrom([]int{1, 3, 10, 30}).Draw(t, "limit"),
		Offset:  rapid.SampledFrom([]int{0, 0, 0, 7, 50}).Draw(t, "offset"),
		Explain: rapid.Bool().Draw(t, "explain"), Ungrouped: rapid.IntRange(0, 3).Draw(t, "ungrouped") == 0,
		Strict: rapid.IntRange(0, 3).Draw(t, "strict") == 0, Verbatim: rapid.IntRange(0, 3).Draw(t, "verbatim") == 0,
	}
	if rapid.IntRange(0, 3).Draw(t, "personal") == 0 {
		sites := rapid.SliceOfN(rapid.SampledFrom([]string{"h1.org", "search3.org", "x.org", "y.com", "engine-2.org", "h4.org"}), 0, 2)
		req.Preferences = &searcher.Preferences{
			Raise: sites.Draw(t, "raise"), Lower: sites.Draw(t, "lower"), Pin: sites.Draw(t, "pin"),
			Block: sites.Draw(t, "block"), Lang: rapid.SampledFrom([]string{"", "el"}).Draw(t, "lang"),
		}
	}
	return req
}

// wholeAnswer returns all of an answer but DocIDs, time and the name of the state.
func wholeAnswer(t failer, s *searcher.Searcher, req searcher.Request) string {
	req.Within = time.Hour
	resp, err := s.Search(context.Background(), req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	var text strings.Builder
	for i := range resp.Results {
		r := resp.Results[i]
		if r.Pin != nil {
			fmt.Fprintf(&text, "pinned, %s\n", r.Pin.Note)
			r.Pin = nil
		}
		if r.Doc = 0; r.Explanation != nil {
			fmt.Fprintf(&text, "%+v\n", *r.Explanation)
			r.Explanation = nil
		}
		fmt.Fprintf(&text, "%+v\n", r)
	}
	other := *resp
	other.Results, other.Took, other.State, other.Cached = nil, 0, "", min(resp.Cached, 1)
	return fmt.Sprintf("%+v\n%s", other, text.String())
}

// pinSayings pins a page to each word of the two corpora.
func pinSayings(t *testing.T, c *oracle.Collection) *pins.File {
	var all []pins.Pin
	docs := c.Segments[0].Documents
	for i, word := range slices.Concat(lexicon, sayings) {
		if !slices.ContainsFunc(all, func(p pins.Pin) bool { return p.Queries[0] == word }) {
			all = append(all, pins.Pin{Queries: []string{word}, URL: docs[7*i%len(docs)].URL, Note: word})
		}
	}
	board := newPinBoard(t)
	var problems []pins.Problem
	if board.table, problems = pins.New(all); len(problems) > 0 {
		t.Fatal(problems)
	}
	must(t, os.WriteFile(board.path, nil, 0o600))
	board.file.Reload()
	return board.file
}

// TestShards checks that shards answer as one folder with all their documents: the same results with
// the same scores, explanations, totals and corrections.
func TestShards(t *testing.T) {
	type corpus struct {
		*oracle.Collection
		info func(*oracle.Document) vocab.DocInfo
		draw func(*rapid.T) string
	}
	var all []corpus
	for seed := range uint64(2) {
		c := collect(seed, 1+2*int(seed))
		c.Candidates = 100
		all = append(all, corpus{c, bare, drawQuery})
	}
	for seed, segments := range []int{3, 1, 1} {
		c, info := manySites(uint64(seed), 700, segments)
		all = append(all, corpus{c, info, drawSaying})
	}
	corrected, relaxed, folded, pinned := 0, 0, 0, 0
	for k, c := range all {
		whole := splitBySite(c.Collection, 1)
		whole.pins = pinSayings(t, c.Collection)
		one := whole.open(t, c.info)
		for _, n := range []int{2, 4, 8} {
			t.Run(fmt.Sprint("corpus ", k, " in ", n), func(t *testing.T) {
				parts := splitBySite(c.Collection, n)
				parts.pins = whole.pins
				shards := parts.open(t, c.info)
				check := func(t rapid.TB, req searcher.Request) {
					want := wholeAnswer(t, one, req)
					if got := wholeAnswer(t, shards, req); got != want {
						t.Fatalf("%+v:\n%s\nwant\n%s", req, got, want)
					}
					resp, _ := one.Search(context.Background(), req)
					corrected += len(resp.Corrected) + len(resp.Suggestion)
					relaxed, folded = relaxed+resp.Most, folded+resp.Folded
					if len(resp.Results) > 0 && resp.Results[0].Pin != nil {
						pinned++
					}
				}
				for _, text := range []string{"engine", "earching", "京都 engines", "東京 egines 京都", "поиском κόσμου 京都"} {
					check(t, searcher.Request{Query: text, Limit: 30})
				}
				rapid.Check(t, func(rt *rapid.T) { check(rt, drawRequest(rt, c.draw(rt))) })
				compareLookups(t, one, shards)
			})
		}
	}
	if corrected == 0 || relaxed == 0 || folded == 0 || pinned == 0 {
		t.Errorf("%d corrections, %d relaxed results, %d folded, %d pinned", corrected, relaxed, folded, pinned)
	}
}

// compareLookups compares what two searchers answer besides queries.
func compareLookups(t *testing.T, one, shards *searcher.Searcher) {
	t.Helper()
	ctx := t.Context()
	if a, b := one.Stats(), shards.Stats(); a.Documents != b.Documents || a.Ranked != b.Ranked {
		t.Errorf("%+v, %+v", a, b)
	}
	searcher.SetCompleteTime(t, time.Minute)
	for _, typed := range []string{"se", "eng", "p", "κό", "search ", "search en"} {
		if a, b := one.Complete(typed, 10), shards.Complete(typed, 10); !slices.Equal(a, b) {
			t.Errorf("%q is completed to %q and %q", typed, a, b)
		}
	}
	var urls []string
	for _, site := range []string{"org", "x.org", "h3.org"} {
		a, err := one.Site(ctx, site, 9)
		must(t, err)
		b, err := shards.Site(ctx, site, 9)
		must(t, err)
		for i := range a.Best {
			urls = append(urls, a.Best[i].URL)
			a.Best[i].Doc, b.Best[i].Doc = 0, 0
		}
		a.PageRank, b.PageRank = float64(float32(a.PageRank)), float64(float32(b.PageRank))
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("site %s: %+v, %+v", site, a, b)
		}
	}
	for _, url := range urls {
		req := searcher.Request{Query: "search a page"}
		a, err := one.Explain(ctx, req, url)
		must(t, err)
		b, err := shards.Explain(ctx, req, url)
		must(t, err)
		if a.Folded = nil; fmt.Sprintf("%+v", *a) != strings.Replace(fmt.Sprintf("%+v", *b), fmt.Sprintf("Folded:%p", b.Folded), "Folded:<nil>", 1) {
			t.Errorf("%s: %+v, %+v", url, a, b)
		}
		doc, err := shards.Find(ctx, url)
		must(t, err)
		info, err := shards.Document(ctx, doc)
		if err != nil || info.Doc != doc || info.URL != url || !shards.Has(doc) {
			t.Errorf("document %d is %+v, %v; want %s", doc, info, err, url)
		}
		was, err := one.Find(ctx, url)
		must(t, err)
		near, total, err := one.Near(ctx, was, 5)
		must(t, err)
		others, all, err := shards.Near(ctx, doc, 5)
		must(t, err)
		if len(near) != len(others) || total != all {
			t.Fatalf("%s has %d near-duplicates and %d", url, total, all)
		}
		for i := range near {
			if near[i].URL != others[i].URL {
				t.Errorf("%s is near %s and %s", url, near[i].URL, others[i].URL)
			}
		}
	}
}

// TestFirstDocs checks that a site with too many documents for link: is cut to the same documents,
// however it is divided.
func TestFirstDocs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "shards")
		hosts := make([][]string, n)
		var order []vocab.DocID // of all documents by URL
		for host := range 5 {
			shard := rapid.IntRange(0, n-1).Draw(t, "shard")
			for range rapid.IntRange(0, 4).Draw(t, "documents") {
				hosts[shard] = append(hosts[shard], fmt.Sprintf("test.h%d", host))
				order = append(order, vocab.Outer(shard, vocab.DocID(len(hosts[shard]))))
			}
		}
		most := rapid.IntRange(0, 12).Draw(t, "most")
		want := slices.Sorted(slices.Values(order[:min(most, len(order))]))
		if found := searcher.FirstDocs(hosts, most); !slices.Equal(found, want) {
			t.Errorf("the first %d of %v are %d, want %d", most, hosts, found, want)
		}
	})
}
