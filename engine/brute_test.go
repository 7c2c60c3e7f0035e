package engine_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"anatomy/analysis"
	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/indexer"
	"anatomy/internal/test/oracle"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/weburl"
)

// naiveIndex makes from the repository what the index should hold, with nothing of the resolver, the
// link database, the barrels and the sorter: pages are parsed one by one, links followed through the
// records of the document index.
func naiveIndex(t testing.TB, dir string) []*oracle.Document {
	t.Helper()
	all := testweb.Records(t, dir)
	pages := testweb.Bodies(t, dir, all)
	byURL := map[vocab.Fingerprint]vocab.DocID{}
	for doc, r := range all {
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		byURL[u.Fingerprint()] = doc
	}
	docs, hidden := map[vocab.DocID]*oracle.Document{}, map[vocab.DocID]bool{}
	credit := map[vocab.DocID]map[naiveText]map[vocab.DocID]bool{}
	var buffer indexer.Buffer
	for doc, page := range pages {
		parsed, err := indexer.Parse(&page, &buffer)
		testweb.Must(t, err)
		if parsed.NoIndex {
			hidden[doc] = true
		} else {
			d := &oracle.Document{Doc: doc, URL: parsed.Info.URL, Title: parsed.Info.Title, Words: map[string][]vocab.Hit{}, Length: parsed.Info.Words, Crawled: true, Sketch: parsed.Info.Sketch,
				Lang: parsed.Info.Lang, Medium: parsed.Info.Medium, Date: parsed.Info.Date}
			for word, hit := range parsed.Hits() {
				d.Words[string(word)] = append(d.Words[string(word)], hit)
			}
			docs[doc] = d
		}
		for _, l := range parsed.Links {
			u, err := weburl.Parse(l.Target)
			if err != nil || l.Text == "" || l.Flags&vocab.NoFollow != 0 {
				continue
			}
			linked, ok := byURL[u.Fingerprint()]
			target := testweb.Canonical(all, linked)
			if !ok || target == 0 || target == doc {
				continue
			}
			text := naiveText{cutRunes(l.Text, 256), l.Flags&vocab.OffSite != 0}
			if credit[target] == nil {
				credit[target] = map[naiveText]map[vocab.DocID]bool{}
			}
			if credit[target][text] == nil {
				credit[target][text] = map[vocab.DocID]bool{}
			}
			credit[target][text][doc] = true
		}
	}
	for target, texts := range credit {
		if hidden[target] {
			continue
		}
		d := docs[target]
		if d == nil {
			// Nobody saw it: what its own site says of it does not count.
			maps.DeleteFunc(texts, func(text naiveText, _ map[vocab.DocID]bool) bool { return !text.out })
			if len(texts) == 0 {
				continue
			}
			d = &oracle.Document{Doc: target, URL: all[target].URL, Words: map[string][]vocab.Hit{}}
			for i, word := range urlWords(t, d.URL) {
				add(d, word, uint32(i), vocab.URLWord, vocab.NormalSize)
			}
			docs[target] = d
		}
		if order := addAnchors(d, texts); !d.Crawled {
			d.Title = cutRunes(order[0].text, 256)
		}
	}
	var list []*oracle.Document
	for _, d := range docs {
		for _, hits := range d.Words {
			slices.SortFunc(hits, func(a, b vocab.Hit) int {
				if a == b {
					return 0
				}
				if a.Before(b) {
					return -1
				}
				return 1
			})
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *oracle.Document) int { return cmp.Compare(a.Doc, b.Doc) })
	return list
}

type naiveText struct {
	text string
	out  bool
}

func cutRunes(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

func add(d *oracle.Document, word string, position uint32, kind vocab.HitType, size uint8) {
	d.Words[word] = append(d.Words[word], vocab.MakeHit(position, kind, false, size))
}

// addAnchors adds the words of anchor texts and returns the texts, the commonest first. Positions
// contain the number of the text and its length.
func addAnchors(d *oracle.Document, texts map[naiveText]map[vocab.DocID]bool) (order []naiveText) {
	for text := range texts {
		order = append(order, text)
	}
	slices.SortFunc(order, func(a, b naiveText) int {
		byOut := 0
		if a.out != b.out {
			byOut = map[bool]int{false: -1, true: 1}[a.out]
		}
		return cmp.Or(cmp.Compare(len(texts[b]), len(texts[a])), strings.Compare(a.text, b.text), byOut)
	})
	for number, text := range order[:min(len(order), 64)] {
		kind := vocab.Anchor
		if text.out {
			kind = vocab.AnchorOut
		}
		size := uint8(min(7, bits.Len(uint(len(texts[text])))-1))
		list := tokens(text.text)
		list = list[:min(len(list), 32)]
		for i, word := range list {
			add(d, word, uint32(1024*number+32*(len(list)-1)+i), kind, size)
		}
	}
	return order
}

func tokens(text string) (all []string) {
	var t analysis.Tokenizer
	t.EachTerm([]byte(text), func(word []byte, _, _ int) {
		all = append(all, string(word))
	})
	return all
}

// urlWords are the words of host, path and query, unescaped, low lines parting words.
func urlWords(t testing.TB, raw string) []string {
	u, err := url.Parse(raw)
	testweb.Must(t, err)
	text := u.Hostname() + u.Path
	if u.RawQuery != "" {
		q, err := url.PathUnescape(u.RawQuery)
		testweb.Must(t, err)
		text += "?" + q
	}
	return tokens(strings.ReplaceAll(text, "_", " "))
}

// A drawer draws queries.
type drawer struct {
	*rand.Rand
	common, all []string // words, as they may occur in a query
	phrases     []string // from pages
	sites       []string
	urls        []string   // without scheme, and hosts
	page        []string   // words of the page that the query is about
	pages       [][]string // words of every page
}

func newDrawer(r *rand.Rand, docs []*oracle.Document) *drawer {
	d := &drawer{Rand: r}
	frequency := map[string]int{}
	sites := map[string]bool{"test": true, "one.test": true, "absent.test": true}
	for _, doc := range docs {
		u, _ := weburl.Parse(doc.URL)
		sites[u.Host()] = true
		d.urls = append(d.urls, u.Host(), strings.TrimPrefix(u.String(), "http://"))
		if dir, _, ok := strings.Cut(u.Path()[1:], "/"); ok {
			sites[u.Host()+"/"+dir] = true
		}
		byPosition := map[[2]uint32]string{}
		d.pages = append(d.pages, slices.DeleteFunc(slices.Sorted(maps.Keys(doc.Words)), isSigned))
		for word, hits := range doc.Words {
			if isSigned(word) {
				continue
			}
			frequency[word]++
			for _, hit := range hits {
				byPosition[[2]uint32{uint32(hit.Field()), hit.Position()}] = word
			}
		}
		for range 3 {
			field := uint32(r.IntN(int(vocab.Fields)))
			at := uint32(r.IntN(int(doc.Length) + 8))
			phrase := []string{}
			for k := range uint32(2 + r.IntN(3)) {
				if word, ok := byPosition[[2]uint32{field, at + k}]; ok {
					phrase = append(phrase, word)
				}
			}
			if len(phrase) > 0 {
				d.phrases = append(d.phrases, strings.Join(phrase, " "))
			}
		}
	}
	for word := range frequency {
		d.all = append(d.all, word)
	}
	slices.SortFunc(d.all, func(a, b string) int {
		return cmp.Or(cmp.Compare(frequency[b], frequency[a]), strings.Compare(a, b))
	})
	slices.Sort(d.phrases)
	for site := range sites {
		d.sites = append(d.sites, site)
	}
	slices.Sort(d.sites)
	d.common = d.all[:60]
	d.all = append(d.all, "absentword", "nichtda", "無い")
	return d
}

// isSigned reports whether a term has signs or accents, such as "--keep", "c++", "2.0" or "^sữa". No query
// has such a word by itself, and the oracle does not model those with signs.
func isSigned(term string) bool { return strings.ContainsAny(term, `.@$#\-^+`) }

func (d *drawer) pick(from []string) string { return from[d.IntN(len(from))] }

func (d *drawer) word() string {
	return d.pick([][]string{d.page, d.page, d.common, d.all}[d.IntN(4)])
}

func (d *drawer) atom() string {
	in := d.pick([]string{"", "", "", "", "", "intitle:", "inurl:", "inanchor:", "intext:", "inbody:+", "allintext:", "allintitle:"})
	switch d.IntN(6) {
	case 0:
		return in + `"` + d.pick(d.phrases) + `"`
	case 2:
		phrase := strings.Fields(d.pick(d.phrases))
		if len(phrase) > 2 {
			phrase[1] = "*"
		}
		return in + `"` + strings.Join(phrase, " ") + `"`
	case 3:
		phrase := strings.Fields(d.pick(d.phrases))
		d.Shuffle(len(phrase), func(i, j int) { phrase[i], phrase[j] = phrase[j], phrase[i] })
		return in + `"` + strings.Join(append(phrase, d.pick([]string{d.word(), "", "", ""})), " ") + `"~` + strconv.Itoa(d.IntN(30))
	case 4:
		return d.word() + " AROUND(" + strconv.Itoa(d.IntN(40)) + ") " + d.pick([]string{d.word(), `"` + d.pick(d.phrases) + `"`, "(" + d.word() + " OR " + d.word() + ")"})
	case 1:
		return in + `"` + d.word() + " " + d.word() + `"`
	}
	return in + d.word()
}

func (d *drawer) reference() string {
	return d.pick([]string{"link:", "link:", "related:", "info:", "cache:"}) + d.pick(d.urls)
}

func (d *drawer) node(depth int) string {
	kind := d.IntN(16)
	switch {
	case kind == 15:
		return d.pick([]string{"", "", "-"}) + d.reference()
	case kind < 5 || depth == 0 && kind < 9:
		return d.atom()
	case kind == 5:
		return "site:" + d.pick(d.sites)
	case kind >= 12:
		return d.pick([]string{"", "", "-"}) + d.pick([]string{"filetype:html", "lang:en", "lang:en", "lang:de", "lang:ja", "filetype:html", "filetype:pdf", "ext:txt", "after:2020", "before:2025-06", "after:2024-05-06", "2019..2026"})
	case kind == 6:
		return "-site:" + d.pick(d.sites)
	case kind == 7:
		return "-" + d.pick([]string{d.word(), d.atom(), `"` + d.pick(d.phrases) + `"`, `"` + d.pick(d.phrases) + `"`})
	case kind == 8:
		return d.node(depth-1) + " OR " + d.node(depth-1)
	case kind == 9:
		return d.word() + " | " + d.atom()
	case depth > 0:
		return d.pick([]string{"(", "-("}) + d.node(depth-1) + " " + d.node(depth-1) + ")"
	}
	return d.word() + " " + d.word()
}

func (d *drawer) query() string {
	d.page = d.pages[d.IntN(len(d.pages))]
	if d.IntN(8) == 0 { // matches most pages, so that the length of titles decides which are scored
		return strings.Join([]string{d.pick(d.common), d.pick(d.common), d.pick(d.common)}, " OR ")
	}
	parts := []string{d.atom()}
	if d.IntN(8) == 0 {
		parts[0] = d.reference()
	}
	for range d.IntN(3) {
		parts = append(parts, d.node(2))
	}
	d.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, " ")
}

// operators that have to occur among the queries with results.
var operators = map[string]*regexp.Regexp{
	"word": regexp.MustCompile(`^\w+$`), "phrase": regexp.MustCompile(`"\w+ \w+`), "-word": regexp.MustCompile(`(^| )-\w+( |$)`), `-"phrase"`: regexp.MustCompile(`-"`),
	"OR": regexp.MustCompile(` OR `), "|": regexp.MustCompile(` \| `), "group": regexp.MustCompile(`\(`), "-group": regexp.MustCompile(`-\(`),
	"lang:": regexp.MustCompile(`(^| )lang:`), "filetype:": regexp.MustCompile(`(^| )filetype:`),
	"link:": regexp.MustCompile(`(^| )link:\S+/`), "link:host": regexp.MustCompile(`(^| )link:[^ /]+( |$)`), "related:": regexp.MustCompile(`(^| )related:`), "info:": regexp.MustCompile(`(^| )(info|cache):`),
	"*": regexp.MustCompile(` \* `), "~": regexp.MustCompile(`\w+ \w+"~`), "AROUND": regexp.MustCompile(`\w AROUND`), "all": regexp.MustCompile(`(^| )allin`), "+": regexp.MustCompile(`inbody:\+\w`),
	"site:": regexp.MustCompile(`(^| )site:`), "-site:": regexp.MustCompile(`-site:`), "site:/dir": regexp.MustCompile(`site:\S+/`),
	"intitle:": regexp.MustCompile(`intitle:`), "inurl:": regexp.MustCompile(`inurl:`), "inanchor:": regexp.MustCompile(`inanchor:`), "intext:": regexp.MustCompile(`intext:`),
}

// germanQueries have function words alone, which decide the language of the forms of terms.
var germanQueries = []string{"einem eines", "allintext:eines einen"}

// TestBruteForce: the results of an index that was crawled equal those of looking at every page in
// the repository: the same, in the same order, with the same scores, which are the sums of their
// explanations.
func TestBruteForce(t *testing.T) {
	seed := seedOf(t)
	n, queries := 200, 1000
	if testing.Short() {
		n, queries = 60, 100
	}
	if more, err := strconv.Atoi(os.Getenv("ANATOMY_QUERIES")); err == nil { // more than those that there is time for each time
		queries = more
	}
	dir := testweb.CrawlBoth(t, seed, n)
	docs := naiveIndex(t, dir)
	v, err := rankvector.ReadFolder(dir, rankvector.Default)
	testweb.Must(t, err)
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	c := &oracle.Collection{Segments: []oracle.Segment{{Documents: docs, Average: float64(m.Average)}}, Ranks: v.Ranks, Weights: scoring.Default, Candidates: 60}
	links := collection.NewSharedLinks(dir)
	defer links.Close()
	c.Links = naiveGraph(t, dir)
	s, err := searcher.Open(dir, searcher.Options{Candidates: c.Candidates, Links: links})
	testweb.Must(t, err)
	defer s.Close()
	if n := s.Stats().Documents; n != len(docs) {
		t.Errorf("%d documents are in the index, want %d", n, len(docs))
	}
	d := newDrawer(rand.New(rand.NewPCG(seed, 9)), docs)
	used, sums, folded := map[string]int{}, 0, 0
	lacking := func() bool { return !testing.Short() && (len(used) < len(operators) || folded == 0) }
	for asked := 0; asked < queries || asked < 10*queries && lacking(); asked++ { // more where chance left an operator out
		text := d.query()
		if asked < len(germanQueries) {
			text = germanQueries[asked]
		}
		want := c.Search(query.Parse(text))
		got := explained(t, s, text)
		if len(got) != len(want) {
			t.Fatalf("%s: %d results, want %d", text, len(got), len(want))
		}
		for i, r := range got {
			if r.Doc != want[i].Doc || r.Score != want[i].Score {
				t.Fatalf("%s: result %d is document %d (%s) with %d, want %d with %d", text, i, r.Doc, r.URL, r.Score, want[i].Doc, want[i].Score)
			}
			sum := searcher.Score(0)
			for _, part := range r.Explanation.Parts {
				sum += part.Points
			}
			if sum != r.Score || !r.Explanation.Matches {
				t.Fatalf("%s: %s: the explanation adds up to %d, the score is %d", text, r.URL, sum, r.Score)
			}
			sums++
		}
		folded += sameGroups(t, s, c, text)
		for name, form := range operators {
			if len(got) > 0 && form.MatchString(text) {
				used[name]++
			}
		}
	}
	for name := range operators {
		if used[name] == 0 && !testing.Short() {
			t.Errorf("no query with %s found anything", name)
		}
	}
	if folded == 0 && !testing.Short() {
		t.Error("no page was folded into another")
	}
	t.Logf("%d documents, %d queries, %d results with explanations, %d folded; queries with results by operator: %v", len(docs), queries, sums, folded, used)
}

// sameGroups holds the first results, as they are shown, against those that the oracle groups, and counts
// the pages that are folded.
func sameGroups(t testing.TB, s *searcher.Searcher, c *oracle.Collection, text string) (folded int) {
	t.Helper()
	want := c.Grouped(query.Parse(text))
	got, err := s.Search(t.Context(), searcher.Request{Query: text, Limit: 30, Bare: true, Strict: true, Within: time.Hour})
	testweb.Must(t, err)
	if len(got.Results) != min(30, len(want)) {
		t.Fatalf("%s: %d results are shown, want %d", text, len(got.Results), min(30, len(want)))
	}
	for i, r := range got.Results {
		if w := want[i]; r.Doc != w.Doc || r.Similar != len(w.Similar) || r.More != w.More {
			t.Fatalf("%s: result %d is document %d with %d similar, %d more, want %d with %d, %d", text, i, r.Doc, r.Similar, r.More, w.Doc, len(w.Similar), w.More)
		}
	}
	return got.Folded
}

func explained(t testing.TB, s *searcher.Searcher, text string) (all []searcher.Result) {
	for {
		r, err := s.Search(t.Context(), searcher.Request{Query: text, Offset: len(all), Limit: searcher.MaxLimit, Explain: true, Ungrouped: true, Strict: true, Within: time.Hour})
		testweb.Must(t, err)
		all = append(all, r.Results...)
		if !r.Next {
			if r.Total != len(all) || !r.Exact || r.Partial {
				t.Fatalf("%s: %d results of %d, exact: %v, %s", text, len(all), r.Total, r.Exact, r.Why)
			}
			return all
		}
	}
}

// dump is the whole index, but for names of files.
func dump(t testing.TB, dir string) string {
	t.Helper()
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	if len(m.Segments) != 1 || !m.Merged {
		t.Fatalf("not merged: %+v", m)
	}
	var out bytes.Buffer
	testweb.Must(t, segment.Dump(&out, datadir.Segment(dir, m.Segments[0]), ""))
	return out.String()
}

// TestRebuild: an index that is rebuilt from the repository equals the one that grew with the
// crawl, with any number of workers and any memory.
func TestRebuild(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 60
	}
	dir := testweb.CrawlBoth(t, 11, n)
	want, wantRanks := dump(t, dir), testweb.Ranks(t, dir)
	if len(want) < 1<<20 && !testing.Short() {
		t.Fatalf("the dump has only %d bytes", len(want))
	}
	options := []upkeep.RebuildOptions{{Workers: 7, BatchBytes: 200 << 10}, {}, {Workers: 1}, {Workers: 2, BatchBytes: 1 << 20}, {BatchBytes: 1}}
	if testing.Short() {
		options = options[:2]
	}
	for _, o := range options {
		report, err := upkeep.Rebuild(t.Context(), dir, o)
		testweb.Must(t, err)
		if got := dump(t, dir); got != want {
			t.Errorf("workers %d, batches of %d bytes: %s", o.Workers, o.BatchBytes, firstDifference(got, want))
		}
		testweb.SameMaps(t, "ranks", testweb.Ranks(t, dir), wantRanks)
		if report.Pages == 0 || report.Links == 0 {
			t.Errorf("the report says %+v", report)
		}
		testweb.Checked(t, dir)
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%.400s\nwant\n%.400s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
