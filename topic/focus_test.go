package topic

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anatomy/vocab"
	"anatomy/weburl"
)

// textOf returns the terms of a text as those of a page.
func textOf(text string) iter.Seq2[[]byte, vocab.Hit] {
	return func(yield func([]byte, vocab.Hit) bool) {
		for _, w := range strings.Fields(text) {
			if !yield([]byte(w), 0) {
				return
			}
		}
	}
}

func mustParse(t testing.TB, s string) weburl.URL {
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// prose returns n words, of which a share is of a subject and the others are of any.
func prose(random *rand.Rand, subject string, share float64, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("any%d", random.IntN(300))
		if random.Float64() < share {
			words[i] = fmt.Sprint(subject, random.IntN(60))
		}
	}
	return strings.Join(words, " ")
}

// An author makes pages of three subjects.
type author struct {
	testing.TB
	*rand.Rand
	*Focus
	pages int
}

const examples = 10

func newAuthor(t testing.TB) *author {
	about := &Topic{}
	for i := range examples {
		about.Examples = append(about.Examples, fmt.Sprintf("http://bird.test/%d", i+1))
	}
	return &author{TB: t, Rand: rand.New(rand.NewPCG(1, 2)), Focus: New(about)}
}

// add adds a page of a subject with a link whose text is anchor.
func (a *author) add(subject string, links ...Link) (url weburl.URL, odds []float64) {
	a.Helper()
	a.pages++
	url = mustParse(a, fmt.Sprintf("http://%s.test/%d", subject, a.pages))
	odds, _ = a.Add(&url, textOf(prose(a.Rand, subject, 0.2, 200)), links)
	return url, odds
}

func (a *author) relevance(url weburl.URL) float64 {
	r, ok := a.Relevance(url.Fingerprint())
	if !ok {
		a.Fatalf("%s was not judged", url.String())
	}
	return r
}

// TestRelevance: pages like the examples are relevant and others are not, also after the model taught
// itself for a long time on a web of which few pages are relevant.
func TestRelevance(t *testing.T) {
	a := newAuthor(t)
	for range examples {
		a.add("bird")
	}
	for i := range 40 {
		a.add([]string{"ship", "coin"}[i%2])
	}
	for range 300 {
		subject := []string{"ship", "coin", "coin", "ship", "bird"}[a.IntN(5)]
		url, _ := a.add(subject)
		if r := a.relevance(url); (r > 0.5) != (subject == "bird") {
			t.Fatalf("page %d, %s: relevance %.2f", a.pages, subject, r)
		}
	}
	h := a.Harvest()
	if all, _ := h.Ratio(); h.Pages != 350 || all < 0.15 || all > 0.35 {
		t.Errorf("harvest %+v", h)
	}
}

// TestExamplesWeigh: a term of a few examples stays evidence of the topic after the crawl has found many
// relevant pages without it.
func TestExamplesWeigh(t *testing.T) {
	terms := newTerms()
	page := func(k kind, words string) *page {
		p := new(reader).read(textOf(words))
		p.kind = k
		return p
	}
	for i := range examples {
		terms.add(page(example, []string{"bird", "moss"}[i/(examples-2)]), true)
	}
	for i := range 1000 {
		terms.add(page(unnamed, []string{"ship", "bird"}[i%2]), i%2 == 1)
	}
	for range 50 {
		terms.add(page(unnamed, "moss ship"), false)
	}
	for _, c := range []struct {
		word  string
		sign  float64
		about string
	}{{"bird", 1, "most examples"}, {"moss", 1, "two examples"}, {"ship", -1, "no example"}} {
		if odds := terms.weight(hashOf([]byte(c.word)), everything).odds; float64(odds)*c.sign <= 0 {
			t.Errorf("%s, of %s: odds %.2f", c.word, c.about, odds)
		}
	}
}

// TestUnseenWords: a page without a word that was met before is not taken for one of the topic.
func TestUnseenWords(t *testing.T) {
	a := newAuthor(t)
	for range examples {
		a.add("bird")
	}
	for range 300 {
		a.add("ship")
	}
	url := mustParse(t, "http://random.test/")
	a.Add(&url, textOf(strings.Repeat("qxv wvz jkq zzx ", 50)), nil)
	if r := a.relevance(url); r >= 0.5 {
		t.Errorf("relevance %g", r)
	}
}

// TestLinks: a link of a relevant page has higher odds than one of another page, and one with an
// anchor text about the topic higher odds than one with another text.
func TestLinks(t *testing.T) {
	a := newAuthor(t)
	for i := range examples + 30 {
		a.add([]string{"bird", "ship"}[min(1, i/examples)])
	}
	link := func(subject, text string) float64 {
		to := Link{URL: mustParse(t, fmt.Sprintf("http://new.test/%d", a.pages)), Text: text}
		_, odds := a.add(subject, to)
		return odds[0]
	}
	if near, far := link("bird", "any1"), link("ship", "any1"); near <= 2*far {
		t.Errorf("odds %.3f from a relevant page, %.3f from another", near, far)
	}
	if about, other := link("ship", "bird1 bird2"), link("ship", "ship1 ship2"); about <= other {
		t.Errorf("odds %.3f with a text about the topic, %.3f with another", about, other)
	}
	url, _ := a.add("coin")
	if _, odds := a.add("bird", Link{URL: url}); odds[0] != 0 {
		t.Errorf("a page that was fetched has odds %v", odds)
	}
}

// TestOthers: a page that the topic names as one outside of it is not relevant, whatever it says.
func TestOthers(t *testing.T) {
	f := New(&Topic{Examples: []string{"http://a.test/1"}, Others: []string{"http://a.test/2"}})
	for i, want := range []float64{1, 0} {
		url := mustParse(t, fmt.Sprintf("http://a.test/%d", i+1))
		f.Add(&url, textOf("owl eagle"), nil)
		if r, _ := f.Relevance(url.Fingerprint()); r != want {
			t.Errorf("page %d: relevance %v, want %v", i+1, r, want)
		}
	}
}

// TestDeterministic: the same pages in the same order have the same scores.
func TestDeterministic(t *testing.T) {
	run := func() (all []float64) {
		a := newAuthor(t)
		for i := range 200 {
			links := make([]Link, 5)
			for j := range links {
				links[j] = Link{URL: mustParse(t, fmt.Sprintf("http://to.test/%d", a.IntN(500)))}
			}
			_, odds := a.add([]string{"bird", "ship", "coin"}[min(i/examples, 1+i%2)], links...)
			all = append(all, odds...)
		}
		return all
	}
	if first := run(); !slices.Equal(first, run()) {
		t.Error("two runs differ")
	}
}

// TestBounds: what is kept of pages and links is bounded.
func TestBounds(t *testing.T) {
	a := newAuthor(t)
	for range MaxPages + 100 {
		a.pages++
		url := mustParse(t, fmt.Sprintf("http://bird.test/%d", a.pages))
		links := make([]Link, 2000*(a.pages/MaxPages))
		for i := range links {
			links[i].URL = mustParse(t, fmt.Sprintf("http://to.test/%d-%d", a.pages, i))
		}
		a.Add(&url, textOf(prose(a.Rand, "bird", 0.2, 5)), links)
	}
	if n := len(a.Focus.pages.kept); n != MaxPages {
		t.Errorf("%d pages are kept", n)
	}
	if !slices.ContainsFunc(a.Focus.pages.kept, func(p *page) bool { return p.kind == example }) {
		t.Error("the examples are not kept")
	}
	if n := len(a.links.candidates); n > 2*maxCandidates+2000 {
		t.Errorf("%d candidates are kept", n)
	}
}

// TestAround: the words around a link are those around its text, in the order of the page.
func TestAround(t *testing.T) {
	var r reader
	hash := func(text string) (terms []term) {
		for w := range textOf(text) {
			terms = append(terms, hashOf(w))
		}
		return terms
	}
	r.read(textOf("the owl and the barn owl hunt mice"))
	for _, c := range []struct {
		anchor string
		from   int
		around string
		next   int
	}{
		{"barn owl", 0, "the owl and the hunt mice", 6},
		{"owl", 0, "the and the barn owl hunt mice", 2},
		{"owl", 2, "the owl and the barn hunt mice", 6},
		{"eagle", 2, "", 2},
		{"", 3, "", 3},
		{"mice eat", 3, "", 3},
	} {
		around, next := r.around(hash(c.anchor), c.from)
		if !slices.Equal(around, hash(c.around)) || next != c.next {
			t.Errorf("%q from %d: next %d, want %d", c.anchor, c.from, next, c.next)
		}
	}
}

// TestHarvest: the recent pages are the last ones.
func TestHarvest(t *testing.T) {
	var h harvest
	for i := range 3 * vocab.RecentPages {
		h.add(i < 2*vocab.RecentPages && i%2 == 0)
	}
	if all, recent := h.Ratio(); all < 0.33 || all > 0.34 || recent != 0 {
		t.Errorf("ratios %v, %v", all, recent)
	}
	h.add(true)
	if h.Recent != 1 {
		t.Errorf("%d recent pages", h.Recent)
	}
}

// BenchmarkAdd measures a page of 1,000 words and 50 links.
func BenchmarkAdd(b *testing.B) {
	a := newAuthor(b)
	for b.Loop() {
		a.pages++
		url := mustParse(b, fmt.Sprintf("http://bird.test/%d", a.pages))
		links := make([]Link, 50)
		for i := range links {
			links[i] = Link{URL: mustParse(b, fmt.Sprintf("http://to.test/%d", a.IntN(10_000))), Text: "bird1 any2"}
		}
		a.Add(&url, textOf(prose(a.Rand, "bird", 0.2, 1000)), links)
	}
}
