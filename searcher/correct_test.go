package searcher_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/analysis"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// library returns a folder of pages with titles in two segments, the second of which replaces a
// page.
func library(t testing.TB) *folder {
	titles := map[vocab.DocID]string{}
	page := func(doc vocab.DocID, title, text string) *oracle.Document {
		d := &oracle.Document{Doc: doc, URL: fmt.Sprintf("http://library.org/%d", doc), Crawled: true, Words: map[string][]vocab.Hit{}}
		for i, word := range analysis.PhraseTerms(title) {
			d.Words[word] = append(d.Words[word], vocab.MakeHit(uint32(i), vocab.Title, false, vocab.NormalSize))
		}
		for i, word := range analysis.PhraseTerms(text) {
			d.Words[word] = append(d.Words[word], vocab.MakeHit(uint32(i), vocab.Plain, false, vocab.NormalSize))
			d.Length++
		}
		for _, hits := range d.Words {
			slices.SortFunc(hits, func(a, b vocab.Hit) int {
				if a.Before(b) {
					return -1
				}
				return 1
			})
		}
		titles[doc] = title
		return d
	}
	var one, two oracle.Segment
	for i := range vocab.DocID(300) {
		title, text := "Garbage collection | Library", "memory is collected by the garbage collector of the runtime"
		switch i % 3 {
		case 1:
			title, text = "Inverted index | Library", "the inverted index of a search engine holds postings"
		case 2:
			title, text = "Gärtnerei Zürich", "garden and flowers in zürich, 東京 too"
		}
		one.Documents = append(one.Documents, page(i+1, title, text))
	}
	one.Documents = append(one.Documents, page(900, "Gone fishing", "a title that goes"), page(901, "Indx", "a page with indx and colector"))
	two.Documents = append(two.Documents, page(900, "Another", "replaced page, found by replacement"), page(902, "Another", "more replacement"),
		page(903, "Names", "read_csv_file and utf8_to_latin1"))
	f := newFolder(t)
	for _, s := range []oracle.Segment{one, two} {
		f.add(s, func(d *oracle.Document) vocab.DocInfo {
			info := bare(d)
			info.Title = titles[d.Doc]
			return info
		})
	}
	f.publish()
	return f
}

func learned(t testing.TB, f *folder) *searcher.Searcher {
	s := f.open(searcher.Options{})
	must(t, s.Learn(context.Background()))
	return s
}

func ask(t testing.TB, s *searcher.Searcher, r searcher.Request) *searcher.Response {
	t.Helper()
	resp, err := s.Search(context.Background(), r)
	must(t, err)
	return resp
}

func TestCorrections(t *testing.T) {
	s := learned(t, library(t))
	for text, want := range map[string]struct{ corrected, suggestion string }{
		"garbge":                       {corrected: "garbage"},
		"Garbge COLECTION":             {corrected: "Garbage COLLECTION"},
		"inevrted idnex":               {corrected: "inverted index"},
		"garbage collecton":            {corrected: "garbage collection"},
		"garbage colector":             {corrected: "garbage collector"}, // the word is there, not beside garbage
		`"inverted index" serch`:       {corrected: `"inverted index" search`},
		"intitle:garbge site:org":      {corrected: "intitle:garbage site:org"},
		"(garbge OR nothingness) -car": {corrected: "(garbage OR nothingness) -car"},
		"“inverted index” serch":       {corrected: `"inverted index" search`},
		"indx":                         {}, // not rare enough
		"garbage OR serch":             {suggestion: "garbage OR search"},
		"garbage":                      {},
		"garden serch":                 {}, // no page has both, however it is spelt
		`"garbge"`:                     {},
		`"garbge collection"`:          {},
		"garbage -colection":           {},
		"site:libary.org garbage":      {},
		"gar-bge":                      {},
		"g4rbage":                      {},
		"READ_CVS_FILE":                {corrected: "READ_CSV_FILE"},
		"utf8_to_latni1":               {corrected: "utf8_to_latin1"},
		"utf8_to_latin2":               {},
		"the garbage colector memory":  {suggestion: "the garbage collector memory"}, // prose matches as typed
		"read_csv_flies":               {suggestion: "read_csv_file"},                // two slips, and no neighbour
		"東亰":                           {},
		"qqqqqqqqqqqq":                 {},
		"":                             {},
		"-garbge":                      {},
	} {
		resp := ask(t, s, searcher.Request{Query: text})
		if resp.Corrected != want.corrected || resp.Suggestion != want.suggestion || resp.Query != text {
			t.Errorf("%s: answered %q, proposed %q; want %q and %q", text, resp.Corrected, resp.Suggestion, want.corrected, want.suggestion)
		}
		if want.corrected == "" {
			continue
		}
		direct := ask(t, s, searcher.Request{Query: want.corrected})
		if resp.Total == 0 || resp.Total != direct.Total || len(resp.Results) != len(direct.Results) || resp.Interpreted != direct.Interpreted {
			t.Errorf("%s: not the answer of the corrected query", text)
		}
		if !strings.HasPrefix(resp.Why, "No page ") {
			t.Errorf("%s: the reason is %q", text, resp.Why)
		}
		verbatim := ask(t, s, searcher.Request{Query: text, Verbatim: true, Strict: true})
		if verbatim.Total != 0 || len(verbatim.Results) != 0 || verbatim.Corrected != "" || verbatim.Suggestion != want.corrected {
			t.Errorf("%s to the letter: %d results, answered %q, proposed %q", text, verbatim.Total, verbatim.Corrected, verbatim.Suggestion)
		}
	}
}

// TestNothingLearnt checks that there are no corrections and completions before Learn, and that
// nothing waits for them.
func TestNothingLearnt(t *testing.T) {
	s := library(t).open(searcher.Options{})
	if resp := ask(t, s, searcher.Request{Query: "garbge"}); resp.Corrected != "" || resp.Suggestion != "" || resp.Total != 0 {
		t.Errorf("%+v", resp)
	}
	if got := s.Complete("garb", 10); got != nil {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s.Learn(ctx) == nil {
		t.Error("learnt after the end")
	}
}

// A countdown is a context that is over once its error has been asked for so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCorrectionsComeFirst checks that Learn has corrections ready before it has read the titles.
func TestCorrectionsComeFirst(t *testing.T) {
	f := library(t)
	first := 0 // calls of Learn that ended with corrections alone
	for left := 0; ; left += 20 {
		s := f.open(searcher.Options{})
		err := s.Learn(&countdown{t.Context(), left})
		corrects := ask(t, s, searcher.Request{Query: "garbge"}).Corrected == "garbage"
		completes := s.Complete("garbage ", 1) != nil // by a title
		if completes && err != nil || corrects != completes && err == nil {
			t.Fatalf("after %d looks at the context: corrects %v, completes %v, %v", left, corrects, completes, err)
		}
		if corrects && !completes {
			first++
		}
		if err == nil {
			break
		}
	}
	if first == 0 {
		t.Error("corrections are never there first")
	}
}

// TestSuggestionsFindSomething checks that more pages have all words of suggestions than of the query.
// Where no page has all of either, the query is prose.
func TestSuggestionsFindSomething(t *testing.T) {
	s := learned(t, library(t))
	lexicon := analysis.PhraseTerms("memory collected garbage collector runtime inverted index search engine postings flowers zürich replacement")
	found := 0
	count := func(t *rapid.T, query string) int {
		resp, err := s.Search(context.Background(), searcher.Request{Query: query, Verbatim: true, Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Total
	}
	rapid.Check(t, func(t *rapid.T) {
		var query []string
		for range rapid.IntRange(1, 4).Draw(t, "words") {
			w := []rune(rapid.SampledFrom(lexicon).Draw(t, "word"))
			for range rapid.IntRange(0, 2).Draw(t, "slips") {
				at := rapid.IntRange(0, len(w)-1).Draw(t, "at")
				w = slices.Concat(w[:at], []rune(rapid.SampledFrom([]string{"", "x", "e", w2(w[at])}).Draw(t, "for")), w[at+1:], []rune("a")[:0])
				if len(w) == 0 {
					w = []rune("a")
				}
			}
			query = append(query, rapid.SampledFrom([]string{"", "", "", "-", "intitle:", `"`}).Draw(t, "before")+string(w))
		}
		r := searcher.Request{Query: strings.Join(query, rapid.SampledFrom([]string{" ", " OR "}).Draw(t, "between")), Verbatim: true}
		resp, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Suggestion == "" {
			return
		}
		found++
		own, better := count(t, r.Query), count(t, resp.Suggestion)
		if better < own || better == own && own > 0 {
			t.Fatalf("%s: %d pages, %s: %d", r.Query, own, resp.Suggestion, better)
		}
	})
	if found == 0 {
		t.Error("nothing was ever proposed")
	}
}

func w2(r rune) string { return string([]rune{r, r}) }

func TestComplete(t *testing.T) {
	searcher.SetCompleteTime(t, time.Minute)
	f := library(t)
	s := learned(t, f)
	for typed, want := range map[string][]string{
		"garb":                {"garbage", "garbage collection"},
		"Gar":                 {"garbage", "garbage collection", "gärtnerei zürich", "gartnerei", "garden"},
		"garbage ":            {"garbage collection"},
		"garbage colle":       {"garbage collection"}, // no title has "collector"
		"memory of t":         nil,                    // no title has "the"
		"memory of pos":       nil,                    // no page has all
		"gone":                nil,                    // was replaced
		`"inverted index`:     nil,
		`"inverted index" po`: {`"inverted index" postings`},
		"intitle:gar":         {"intitle:garbage", "intitle:gartnerei"},
		"-garb":               nil, "site:lib": {"site:library.org"}, "site:zoo": nil, "-site:lib": nil, "": nil, "  ": nil, "zzzz": nil, "東": nil,
	} {
		if got := s.Complete(typed, 10); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	if got := s.Complete("gar", 1); len(got) != 1 || s.Complete("gar", 0) != nil || s.Complete("gar", -1) != nil {
		t.Errorf("the limit is not kept: %q", got)
	}
}

// TestCompleteSite checks that site: is completed with hosts that have pages: those that begin so first.
func TestCompleteSite(t *testing.T) {
	searcher.SetCompleteTime(t, time.Minute)
	f := newFolder(t)
	var pages []*oracle.Document
	for i, host := range []string{"docs.example.org", "www.docs.test", "my-docs.test", "api.docs.org:8080", "document.test", "other.test", "192.0.2.7", "docs.test"} {
		pages = append(pages, textPage(vocab.DocID(i+1), "http://"+host+"/", "common"))
	}
	f.add(pagesOf(pages[:4]...), bare)
	f.add(pagesOf(pages[4:]...), bare)
	f.publish()
	s := learned(t, f)
	for typed, want := range map[string][]string{
		"site:docs":          {"docs.test", "www.docs.test", "docs.example.org", "my-docs.test", "api.docs.org:8080"},
		"site:Docs.e":        {"docs.example.org"},
		"common site:oth":    {"other.test"},
		"(site:docs.te":      {"docs.test", "www.docs.test", "my-docs.test"},
		"absent site:oth":    nil, // no page has both
		"site:192":           {"192.0.2.7"},
		"site:ocs":           nil,
		"site:docs.test/dir": nil,
		"site:":              nil,
		"insite:oth":         nil,
	} {
		got := s.Complete(typed, 10)
		for i, host := range want {
			want[i] = typed[:strings.Index(typed, ":")+1] + host
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	if got := s.Complete("site:docs", 2); len(got) != 2 {
		t.Errorf("the limit is not kept: %q", got)
	}
}

// TestCompleteMembers checks that a name is completed with what follows its owner in texts, most frequent
// first, whatever follows the owner elsewhere.
func TestCompleteMembers(t *testing.T) {
	searcher.SetCompleteTime(t, time.Minute)
	file := filepath.Join(t.TempDir(), "members.web")
	must(t, os.WriteFile(file, []byte(`
page a/1
	p tools.lru_cache tools.lru_cache tools.Length tools.list mytools.lose tools.lists. tools lasting tools::left
page a/2
	p see tools.list(x) and tools.list, other.lock
`), 0o600))
	s := readWeb(t, file).build(t)
	must(t, s.Learn(context.Background()))
	for typed, want := range map[string][]string{
		"tools.l":     {"tools.list", "tools.lru_cache", "tools.length", "tools.lists"},
		"tools.li":    {"tools.list", "tools.lists"},
		"tools.":      {"tools.list", "tools.lru_cache", "tools.length", "tools.lists"},
		"see tools.l": {"see tools.list"}, // no page has "see" and another
		"tools::l":    {"tools::left"},
	} {
		if got := s.Complete(typed, 10); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}

// TestCompletionsFindSomething checks that completions begin with what was typed and have results.
func TestCompletionsFindSomething(t *testing.T) {
	s := learned(t, library(t))
	n := 0
	for _, text := range []string{"garbage collection", "Inverted Index", "gärtnerei zürich", "another replacement", "memory garbage", "the index of a search", "東京 flowers"} {
		for i := range text {
			typed := text[:i]
			for _, c := range s.Complete(typed, searcher.MaxCompletions+5) {
				n++
				begin, all := strings.Join(analysis.PhraseTerms(typed), " "), strings.Join(analysis.PhraseTerms(c), " ")
				if !strings.HasPrefix(all, begin) || all == begin {
					t.Errorf("%q goes on as %q", typed, c)
				}
				if resp := ask(t, s, searcher.Request{Query: c, Verbatim: true}); resp.Total == 0 {
					t.Errorf("%q: %q finds nothing", typed, c)
				}
			}
		}
	}
	if n == 0 {
		t.Error("nothing was completed")
	}
}

// TestHostileSpelling checks that texts that nobody types cost little and have no suggestion.
func TestHostileSpelling(t *testing.T) {
	s := learned(t, library(t))
	for name, text := range map[string]string{
		"one letter": strings.Repeat("a", 1<<20), "letters": strings.Repeat("a ", 1<<19), "controls": strings.Repeat("\x00\x1b", 1<<19), "not utf-8": "gar\xff\xfe",
		"misspelt": strings.Repeat("garbge ", 1<<17), "quotes": strings.Repeat(`"`, 1<<20), "deep": strings.Repeat("(garbge ", 1<<17), "marks": strings.Repeat("\u0301", 1<<19),
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.Complete(text, 10); got != nil {
				t.Errorf("completed as %.80q", got)
			}
			resp := ask(t, s, searcher.Request{Query: text, Within: time.Hour})
			if resp.Corrected != "" || resp.Suggestion != "" {
				t.Errorf("answered %.80q, proposed %.80q", resp.Corrected, resp.Suggestion)
			}
		})
	}
}

// TestRunLearns checks that Run learns the first snapshot and later ones.
func TestRunLearns(t *testing.T) {
	f := library(t)
	s := f.open(searcher.Options{Poll: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	for s.Complete("garb", 1) == nil {
		if ctx.Err() != nil {
			t.Fatal("nothing was learnt")
		}
	}
	cancel()
	must(t, <-ended)
}

// TestLearnPause: spellings are not learnt again for each generation of a small collection, and
// rarely for a large one.
func TestLearnPause(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 30 * time.Second, 2 * time.Second: time.Minute} {
		if got := searcher.LearnPause(took); got != want {
			t.Errorf("after Learn took %v the next is %v later, want %v", took, got, want)
		}
	}
}

// TestSpellingNotReady checks that a query that finds nothing waits for the first Learn, and says so
// if that does not end in time.
func TestSpellingNotReady(t *testing.T) {
	f := library(t)
	s := f.open(searcher.Options{Poll: time.Hour})
	release := s.HoldLearning()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	for !s.Runs() {
		time.Sleep(time.Millisecond)
	}
	soon := ask(t, s, searcher.Request{Query: "garbagee", Within: 20 * time.Millisecond})
	if soon.Corrected != "" || !strings.Contains(soon.Why, "not ready yet") {
		t.Errorf("before Learn: corrected %q, %q", soon.Corrected, soon.Why)
	}
	answer := make(chan *searcher.Response, 1)
	go func() {
		resp, err := s.Search(ctx, searcher.Request{Query: "garbagee", Within: time.Hour})
		if err != nil {
			t.Error(err)
		}
		answer <- resp
	}()
	time.Sleep(10 * time.Millisecond) // so that the search has begun, most of the time
	release()
	if resp := <-answer; resp.Corrected != "garbage" || strings.Contains(resp.Why, "not ready yet") {
		t.Errorf("corrected %q, %q", resp.Corrected, resp.Why)
	}
	cancel()
	must(t, <-ended)
}

// realData opens the data folder that ANATOMY_DATA names, or skips the benchmark.
func realData(b *testing.B) *searcher.Searcher {
	dir := os.Getenv("ANATOMY_DATA")
	if dir == "" {
		b.Skip("ANATOMY_DATA names no data folder")
	}
	s, err := searcher.Open(dir, searcher.Options{})
	must(b, err)
	b.Cleanup(func() { s.Close() })
	return s
}

func BenchmarkLearn(b *testing.B) {
	cpu := cpuTime(b)
	for b.Loop() {
		s := realData(b)
		must(b, s.Learn(context.Background()))
		b.ReportMetric(float64(s.Dictionary().Len()), "words")
		b.ReportMetric(float64(s.Dictionary().Bytes())/1e6, "MB-words")
		b.ReportMetric(float64(s.Phrases()), "phrases")
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// slip misspells a word at one place.
func slip(r *rand.Rand, word string) string {
	at := 1 + r.IntN(len(word)-2)
	switch r.IntN(3) {
	case 0:
		return word[:at] + word[at+1:]
	case 1:
		return word[:at] + string(rune('a'+r.IntN(26))) + word[at:]
	}
	return word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:]
}

// percentiles runs ask over the queries until the benchmark ends, and reports its latency.
func percentiles(b *testing.B, questions []string, ask func(string)) {
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		ask(questions[i%len(questions)])
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for _, p := range []int{50, 95, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds()), fmt.Sprintf("p%d-µs", p))
	}
}

// BenchmarkSpell searches an index for its own words, misspelt, frequent ones more often.
func BenchmarkSpell(b *testing.B) {
	s := realData(b)
	must(b, s.Learn(context.Background()))
	r := rand.New(rand.NewPCG(1, 2))
	var short, long, queries, typed []string
	d := s.Dictionary()
	all := func(string) bool { return true }
	frequent := d.Begin("", all, 0)
	for c := 'a'; c <= 'z'; c++ {
		frequent = append(frequent, d.Begin(string(c), all, 60)...)
	}
	for len(queries) < 2000 {
		w := frequent[r.IntN(len(frequent))].Text
		if len(w) < 4 {
			continue
		}
		if len(w) < 8 {
			short = append(short, slip(r, w))
		} else {
			long = append(long, slip(r, w))
		}
		other := frequent[r.IntN(len(frequent))].Text
		queries = append(queries, other+" "+slip(r, w))
		typed = append(typed, w[:1+r.IntN(len(w)-1)], other+" "+w[:1+r.IntN(len(w)-1)])
	}
	b.Run("near1", func(b *testing.B) { percentiles(b, short, func(q string) { d.Near(q, 1, 0) }) })
	b.Run("near2", func(b *testing.B) { percentiles(b, long, func(q string) { d.Near(q, 2, 0) }) })
	b.Run("search", func(b *testing.B) {
		percentiles(b, queries, func(q string) { s.Search(context.Background(), searcher.Request{Query: q}) })
	})
	b.Run("complete", func(b *testing.B) { percentiles(b, typed, func(q string) { s.Complete(q, 10) }) })
	b.Run("right", func(b *testing.B) { // how often the one word of a query is put right
		n, right := 0, 0
		for range b.N {
			w := frequent[r.IntN(len(frequent))].Text
			if len(w) < 5 {
				continue
			}
			resp, err := s.Search(context.Background(), searcher.Request{Query: slip(r, w)})
			must(b, err)
			n++
			if resp.Corrected == w || resp.Suggestion == w {
				right++
			}
		}
		b.ReportMetric(float64(right)/float64(max(n, 1)), "right")
	})
}
