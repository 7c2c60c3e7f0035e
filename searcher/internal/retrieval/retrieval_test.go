package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A corpus is a segment with the terms of its documents: by ordinal, field and position.
type corpus struct {
	part Part
	docs [][vocab.Fields][]string
}

var (
	hitTypes = []vocab.HitType{vocab.Plain, vocab.Title}
	fieldsIn = map[query.Field]vocab.Field{query.InTitle: vocab.TitleField, query.InText: vocab.Body}
)

// newCorpus returns a segment of n random documents, of which some are dead. Term wN is in one of 2^N
// positions.
func newCorpus(t *testing.T, r *rand.Rand, n int, dead bool) *corpus {
	c := &corpus{docs: make([][vocab.Fields][]string, n)}
	dir := t.TempDir() + "/segment"
	w, err := segment.Create(dir, segment.Options{})
	must(t, err)
	defer w.Abort()
	lists := map[string][]vocab.Ordinal{}
	hits := map[string]map[vocab.Ordinal][]vocab.Hit{}
	for i := range c.docs {
		ord := vocab.Ordinal(i)
		for _, ht := range hitTypes {
			f := ht.Field()
			for position := range uint32(r.IntN(12)) {
				word := fmt.Sprint("w", bits.TrailingZeros64(r.Uint64()|1<<7))
				c.docs[i][f] = append(c.docs[i][f], word)
				if hits[word] == nil {
					hits[word] = map[vocab.Ordinal][]vocab.Hit{}
				}
				if !slices.Contains(lists[word], ord) {
					lists[word] = append(lists[word], ord)
				}
				hits[word][ord] = append(hits[word][ord], vocab.MakeHit(position, ht, false, vocab.NormalSize))
			}
		}
		url := fmt.Sprintf("http://h%d.org/%06d", i*5/n, i)
		words := uint32(len(c.docs[i][vocab.Body]))
		must(t, w.AddDoc(vocab.DocInfo{Doc: vocab.DocID(i + 1), URL: url, Words: words, Crawled: true}))
	}
	for word := range 8 {
		word := fmt.Sprint("w", word)
		must(t, w.StartTerm([]byte(word)))
		for _, ord := range lists[word] {
			slices.SortFunc(hits[word][ord], func(a, b vocab.Hit) int {
				return cmp.Or(cmp.Compare(a.Field(), b.Field()), cmp.Compare(a.Position(), b.Position()))
			})
			must(t, w.AddPosting(ord, hits[word][ord]))
		}
		must(t, w.EndTerm())
	}
	_, err = w.Finish()
	must(t, err)
	cache, err := segment.NewCache(segment.CacheOptions{Blocks: 1 << 20, Docs: 1 << 20})
	must(t, err)
	t.Cleanup(cache.Close)
	seg, err := segment.Open(dir, cache)
	must(t, err)
	t.Cleanup(func() { seg.Close() })
	points := make([]uint32, n)
	for i := range points {
		points[i] = r.Uint32N(300) * r.Uint32N(2) // often none
	}
	c.part = Part{Segment: seg, Name: "test", Static: NewStaticPoints(points)}
	if dead {
		c.part.Dead = NewBitmap(n)
		for range n / 9 {
			c.part.Dead.Add(vocab.Ordinal(r.IntN(n)))
		}
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// matches reports whether a document matches a query, by its terms alone.
func (c *corpus) matches(n *query.Node, ord int) bool {
	kid := func(kid *query.Node) bool { return c.matches(kid, ord) }
	switch n.Op {
	case query.And:
		return !slices.ContainsFunc(n.Kids, func(n *query.Node) bool { return !kid(n) })
	case query.Or:
		return slices.ContainsFunc(n.Kids, kid)
	case query.Not:
		return !kid(n.Kids[0])
	case query.Site:
		return strings.HasPrefix(n.Site, fmt.Sprintf("h%d.", ord*5/len(c.docs)))
	}
	for f, words := range c.docs[ord] {
		if n.In != query.Anywhere && fieldsIn[n.In] != vocab.Field(f) {
			continue
		}
		for start := range words {
			if n.Op == query.Near && nearAt(words[start:], n) || n.Op == query.Words && phraseAt(words, start, n) {
				return true
			}
		}
	}
	return false
}

func phraseAt(words []string, start int, n *query.Node) bool {
	for k, word := range n.Words {
		at := start + int(n.Offset(k))
		if at >= len(words) || words[at] != word {
			return false
		}
	}
	return true
}

// nearAt reports whether all kids, single terms, are in the window at the beginning of words, and equal
// ones as often there.
func nearAt(words []string, n *query.Node) bool {
	left := slices.Clone(words[:min(len(words), n.Within+len(n.Kids))])
	for _, kid := range n.Kids {
		at := slices.Index(left, kid.Words[0])
		if at < 0 {
			return false
		}
		left[at] = ""
	}
	return true
}

// queries have every operator and plan.
var queries = []string{
	"w0", "w3", "w7", "w0 OR w1", "w1 OR w6 OR w7", "w0 w1", "w2 w5 w1", "w0 w9", "w0 OR w9", "w9",
	`"w0 w1"`, `"w1 w0 w0"`, `"w0 * w1"`, `"w1 w2" w0`, `"w1 w4"~2`, `"w2 w0 w1"~3`, `"w2 w2"~2`, `"w1 w0 w1"~2`, "w5 AROUND(3) w5", "intitle:w1", "intitle:w1 w0", `intitle:"w0 w1"`,
	"intext:w5", "w0 -w1", "w0 -(w1 w2)", "(w1 OR w2) (w3 OR w4)", "(w1 OR w2) -w0", "site:h1.org", "site:h2.org w0", "w1 -site:h0.org",
	`w0 (w1 OR "w2 w0")`, `-w0 site:h3.org`, "(w0 w1) OR (w2 w3)",
}

// TestCollect checks that the collected documents are the best of all that match, by static points plus
// step × impact of their terms, and that counts are exact or lower bounds.
func TestCollect(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	skipped := 0
	for i, n := range []int{40, 700, 6000} {
		c := newCorpus(t, r, n, i == 1)
		var a Arena
		for _, text := range queries {
			root := query.Parse(text).Root
			for _, k := range []int{1, 10, 100} {
				a.Reset()
				terms, lists := c.open(t, r, root, &a)
				want := c.best(t, root, terms, lists)
				countTo := r.IntN(200)
				collector := a.Collector(k, 0, 0, countTo)
				must(t, a.Walk(&c.part, terms, lists, NewClock(context.Background(), 0)).Collect(root, collector))
				got := collector.Matches()
				if !slices.Equal(got, want[:min(k, len(want))]) {
					t.Fatalf("%d documents: %s: best %d are %x, want %x", n, text, k, got, want[:min(k, len(want))])
				}
				count, exact := collector.Count()
				if exact && count != len(want) || count > len(want) || !exact && count < countTo {
					t.Errorf("%d documents: %s: %d matches (exact %v), want %d", n, text, count, exact, len(want))
				}
				if !exact {
					skipped++
				}
			}
		}
	}
	if skipped == 0 {
		t.Error("no document was skipped")
	}
}

// open opens the posting lists of a query's terms, with random steps.
func (c *corpus) open(t *testing.T, r *rand.Rand, root *query.Node, a *Arena) (terms Terms, lists []*segment.PostingIterator) {
	for _, n := range root.PositiveWords() {
		for _, word := range n.Words {
			if slices.Contains(terms.Words, word) {
				continue
			}
			list, err := a.Open(c.part.Segment, segment.Full, word)
			must(t, err)
			terms.Words, terms.Steps = append(terms.Words, word), append(terms.Steps, r.Uint32N(20))
			lists = append(lists, list)
		}
	}
	return terms, lists
}

// best returns all live matches, best first.
func (c *corpus) best(t *testing.T, root *query.Node, terms Terms, lists []*segment.PostingIterator) (all []Match) {
	for i := range c.docs {
		ord := vocab.Ordinal(i)
		if c.part.Dead.Has(ord) || !c.matches(root, i) {
			continue
		}
		score := c.part.Static.points[i]
		for k, list := range lists {
			if list != nil && list.Advance(ord) && list.Ord() == ord {
				score += terms.Steps[k] * uint32(list.Impact())
			}
		}
		all = append(all, newMatch(score, ord))
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// TestIterator checks that iterators stop at exactly the matches, from any target on.
func TestIterator(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := newCorpus(t, r, 900, false)
	var a Arena
	for _, text := range queries {
		root := query.Parse(text).Root
		for range 3 {
			a.Reset()
			w := a.Walk(&c.part, Terms{}, nil, NewClock(context.Background(), 0))
			it, at := w.Iterator(root), vocab.Ordinal(0)
			matches := 0
			for {
				at += vocab.Ordinal(r.IntN(4) * r.IntN(20))
				want := at
				for want < vocab.Ordinal(len(c.docs)) && !c.matches(root, int(want)) {
					want++
				}
				if want >= vocab.Ordinal(len(c.docs)) {
					want = End
				}
				if got := it.Advance(at); got != want {
					t.Fatalf("%s: from %d on the first match is %d, want %d", text, at, got, want)
				}
				if matches++; want == End {
					break
				}
				at = want + 1
			}
			if matches > 1 && it.Cost() == 0 {
				t.Errorf("%s: cost 0 with matches", text)
			}
			must(t, w.Err())
		}
		count := 0
		for ord := range c.docs {
			if c.matches(root, ord) {
				count++
			}
		}
		if got := a.Walk(&c.part, Terms{}, nil, NewClock(context.Background(), 0)).Count(root, 100_000); got != count {
			t.Errorf("%s: %d matches counted, want %d", text, got, count)
		}
	}
}

// TestClockOver checks that walks end early when the context has ended, without an error.
// TestClockBound checks that a bound of steps ends a clock without a deadline, within a check of it.
func TestClockBound(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 100 {
		before, most := r.IntN(5000), 1+r.UintN(100_000)
		clock, steps := NewClock(context.Background(), 0), uint(0)
		for range before {
			clock.Tick()
		}
		for clock.Bound(most); !clock.Tick(); steps++ {
		}
		if steps+1 < most || steps >= most+ticksPerCheck {
			t.Fatalf("a clock of %d steps ends after %d", most, steps)
		}
	}
}

func TestClockOver(t *testing.T) {
	c := newCorpus(t, rand.New(rand.NewPCG(7, 8)), 5000, false)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	clock := NewClock(ctx, 0)
	var a Arena
	w := a.Walk(&c.part, Terms{}, nil, clock)
	if n := w.Count(query.Parse("w0").Root, 100_000); n == 0 || n >= 5000 || !clock.Over() || w.Err() != nil {
		t.Errorf("%d matches counted, over %v, error %v", n, clock.Over(), w.Err())
	}
}
