package suggest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"anatomy/analysis"
	"anatomy/searcher/query"

	"pgregory.net/rapid"
)

// bruteDistance computes the optimal string alignment by the whole matrix.
func bruteDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func bruteNear(words []Word, word string, reach, least int) (found []Near) {
	for _, w := range words {
		if w.DF < least {
			continue
		}
		if d := bruteDistance([]rune(word), []rune(w.Text)); d >= 1 && d <= reach {
			found = append(found, Near{w, d})
		}
	}
	slices.SortFunc(found, func(a, b Near) int { return strings.Compare(a.Text, b.Text) })
	return found
}

// TestNear compares Near with measuring all words.
func TestNear(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abcé]{3,10}`)
		b := NewBuilder(1000)
		var all []Word
		for i, w := range rapid.SliceOfNDistinct(word, 1, 60, rapid.ID[string]).Draw(t, "words") {
			df := MinDF + i*i%600
			all = append(all, Word{w, df})
			b.Add([]byte(w), df)
		}
		d := b.Dictionary()
		asked := word.Draw(t, "asked")
		for reach := 1; reach <= 2; reach++ {
			for _, least := range []int{0, 5, 20, 100, 300} {
				got, want := d.Near(asked, reach, least), bruteNear(all, asked, reach, least)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("near %q at %d, of %d pages: %v, want %v", asked, reach, least, got, want)
				}
				found += len(got)
			}
		}
	})
	if found == 0 {
		t.Error("nothing was ever near")
	}
}

func TestNearRefuses(t *testing.T) {
	b := NewBuilder(10)
	b.Add([]byte("word"), 5)
	d := b.Dictionary()
	for _, word := range []string{"", "wo", "w0rd", "v1.0", strings.Repeat("a_", 20), "東京都庁", "ไทยคำ", strings.Repeat("a", 1<<20), "wor\x00d", "\xff\xfeabc"} {
		if got := d.Near(word, 2, 0); got != nil {
			t.Errorf("%.20q: %v", word, got)
		}
	}
	for _, reach := range []int{-1, 0, 3} {
		if d.Near("wordy", reach, 0) != nil {
			t.Errorf("reach %d finds something", reach)
		}
	}
	var none *Dictionary
	if none.Near("word", 1, 0) != nil || none.Begin("w", func(string) bool { return true }, 3) != nil {
		t.Error("no dictionary knows words")
	}
}

// TestBuilderIsBounded checks that a builder keeps the most frequent words, whatever their order
// and number.
func TestBuilderIsBounded(t *testing.T) {
	b := NewBuilder(100)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(5000) {
		b.Add([]byte("word"+letters(i)), i)
		if len(b.kept) > 200 {
			t.Fatalf("%d words are held", len(b.kept))
		}
	}
	d := b.Dictionary()
	if d.Len() != 100 || slices.Min(d.df) != 4900 {
		t.Errorf("%d words, the rarest of %d pages", d.Len(), slices.Min(d.df))
	}
}

func letters(i int) string {
	b := []byte("aaaa")
	for at := 3; i > 0; at-- {
		b[at] = 'a' + byte(i%26)
		i /= 26
	}
	return string(b)
}

func TestCompletions(t *testing.T) {
	c := NewCollector(100)
	c.AddTitle("Garbage Collection | The Site", 3)
	c.AddTitle("GARBAGE collection — The Site", 2)
	c.AddTitle("Garbage trucks: a \"history\" (part 2)", 4)
	c.AddTitle("Gärbage", 1)
	c.AddTitle("os.path - Common path-names", 1)
	c.AddTitle("東京都の歴史", 1)
	c.AddTitle("-x OR (y", 1)
	c.AddTitle("5.11. Table Partitioning", 1)
	c.AddTitle("Chapter 7.\u00a0Queries", 1)
	c.AddTitle("C++ Templates", 1)
	c.AddTitle("C# and Crystal", 2)
	c.AddTitle("Zsh 5.1 released", 1)
	c.AddTitle(strings.Repeat("long ", 1000), 9)
	c.AddTitle("git-rebase(1) Manual Page", 1)
	c.AddTitle("git-stash(1)", 1)
	c.AddTitle("ArrayList (Java SE 17 & JDK 17)", 1)
	c.AddTitle("PostgreSQL 15.20 Documentation", 1)
	c.AddTitle("std::vector< _Tp, _Alloc > Class Template Reference", 1)
	c.AddTitle("(2.0)", 1)
	all := c.Completions()
	for typed, want := range map[string][]string{
		"garb":      {"garbage collection", "garbage trucks", "gärbage"},
		"GÄRB":      {"garbage collection", "garbage trucks", "gärbage"},
		"garbage ":  {"garbage collection", "garbage trucks"},
		"garbage c": {"garbage collection"},
		"the":       {"the site"},
		"a his":     {"a history part 2"},
		"os.p":      {"os.path"},
		"common pa": {"common path-names"},
		"東京":        {"東京都の歴史"},
		"x":         {"x or y"},
		"table p":   {"table partitioning"},
		"5.11":      {"5.11 table partitioning"},
		"quer":      {"queries"},
		"c++":       {"c++ templates"},
		"c+":        {"c++ templates"},
		"c++ t":     {"c++ templates"},
		"c#":        {"c# and crystal"},
		"c":         {"c# and crystal", "c++ templates", "chapter 7 queries", "common path-names"},
		"zsh 5":     {"zsh 5.1 released"},
		"git st":    {"git stash"},
		"git-st":    {"git-stash"},
		"GIT.ST":    {"git.stash"},
		"arrayl":    {"arraylist"},
		"postg":     {"postgresql documentation"},
		"std::vec":  {"std::vector"},
		"std vec":   {"std::vector"},
		"2":         {"2.0"},
		"":          nil, " ": nil, "zzz": nil, "gärbage": {"garbage collection", "garbage trucks"}, "long": nil,
		strings.Repeat("garb", 1<<18): nil,
	} {
		if got := all.Begin(typed, 10); !slices.Equal(got, want) {
			t.Errorf("%.20q: %q, want %q", typed, got, want)
		}
	}
	if got := all.Begin("g", 1); len(got) != 1 || all.Begin("g", 0) != nil || all.Begin("g", -1) != nil {
		t.Errorf("limits are not kept: %q", got)
	}
}

// fakeEvidence counts pairs of words as they are written, such as "read csv", as long as it has
// time.
type fakeEvidence struct {
	pairs map[string]int
	left  int            // pairs for which there is time
	words map[string]int // document frequencies; nil if each word is on one page
}

func (e *fakeEvidence) Over() bool   { return e.left < 0 }
func (*fakeEvidence) Documents() int { return 1000 }

func (e *fakeEvidence) Pages(word string) int {
	if e.words == nil {
		return 1
	}
	return e.words[word]
}

func (e *fakeEvidence) Pairs(first, second string, enough int) (n int, all bool) {
	if e.left--; e.left < 0 {
		return 0, false
	}
	n = e.pairs[first+" "+second]
	return min(n, enough), n < enough
}

// TestPropose completes words, names and titles: the first word by its frequency, before the titles if
// it is no word yet, and others by the word before them, after the titles.
func TestPropose(t *testing.T) {
	words, names, titles := NewBuilder(100), NewNameBuilder(100), NewCollector(100)
	for word, df := range map[string]int{
		"vector": 50, "vectors": 60, "vectorize": 3, "csv": 9, "csharp": 90, "top": 80, "git": 70, "how": 60, "write": 20, "rebase": 5, "read_csv": 1, "x_1": 1, "x86": 4,
		"1234": 1000, "42nd": 3,
	} {
		words.Add([]byte(word), df)
		names.Add([]byte(word), df)
	}
	for _, title := range []string{"How to write tests", "git-rebase Documentation", "std::vector - Reference", "Vector Class", "Vectors", "42nd CSV", "An x86", "tools.vet"} {
		titles.AddTitle(title, 1)
	}
	s := &Sources{words.Dictionary(), names.Dictionary(), titles.Completions(), &fakeEvidence{
		pairs: map[string]int{"read csv": 4, "std vectors": 9, "std vector": 8, "git rebase": 1, "x vectors": 1, "rebase vectors": 1, "tar x86": 1, "git write": 1, "git how": 1}, left: 1000,
	}, func(owner, separator, prefix string) (names []string) {
		for _, name := range []string{"vector", "vectorcall", "lru_cache"} {
			if owner == "tools" && separator == "." && strings.HasPrefix(name, prefix) && len(name) > len(prefix) {
				names = append(names, name)
			}
		}
		return names
	}}
	for typed, want := range map[string][]string{
		"std::vec":    {"std::vector", "std::vectors"},
		"vec":         {"vectors", "vector class", "vector", "vectorize"},
		"vector":      {"vector class", "vectors", "vectorize"},
		"std vectori": nil, // no title has it
		"read cs":     {"read csv"},
		"rare cs":     nil, // no pair is known
		"tar -x":      nil, // an option
		"tar x":       {"tar x86"},
		"read_":       {"read_csv"},
		"tools.l":     {"tools.lru_cache"},
		"git Tools.":  {"git Tools.vector", "git Tools.vectorcall", "git Tools.lru_cache"},
		"tools.ve":    {"tools.vet", "tools.vector", "tools.vectorcall"}, // one is a title
		"tools::l":    nil,
		"tools l":     nil,
		"git w":       {"git write"},
		"git h":       nil,
		"how to":      {"how to write tests"},
		"git re":      {"git rebase documentation", "git rebase"},
		"x_":          {"x_1"},
		"12":          nil,
		"42":          {"42nd", "42nd csv"},
		"site:x vec":  {"site:x vectors", "site:x vector", "site:x vectorize"},
		"site:x csv":  nil,
		"http://vec":  nil, "www.vec": nil, "git http://x.test/vec": nil,
		`"git" rebase vec`: {`"git" rebase vectors`},
		`rebase "git" vec`: {`rebase "git" vectors`, `rebase "git" vector`, `rebase "git" vectorize`},
		"site:vec":         nil, `"std vec`: nil, "-vec": nil, "": nil,
	} {
		if got := s.Propose(typed, 10); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	// The evidence counts one pair, so that "vector" is not looked up.
	s.Evidence = &fakeEvidence{pairs: map[string]int{"rebase vectors": 1, "rebase vector": 1}, left: 1}
	if got, want := s.Propose("rebase vec", 10), []string{"rebase vectors"}; !slices.Equal(got, want) {
		t.Errorf("without time: %q, want %q", got, want)
	}
	titles = NewCollector(100)
	titles.AddTitle("Methods of random forests in C++", 1)
	s.Titles, s.Evidence = titles.Completions(), &fakeEvidence{}
	if got, want := s.Propose("a random fo", 10), []string{"a random forests"}; !slices.Equal(got, want) {
		t.Errorf("pair of a title: %q, want %q", got, want)
	}
}

func TestCollectorIsBounded(t *testing.T) {
	c := NewCollector(50)
	for i := range 5000 {
		c.AddTitle(fmt.Sprint("title number ", i), float64(i%1000))
		if len(c.phrases) > 100 {
			t.Fatalf("%d phrases are held", len(c.phrases))
		}
	}
	if n := c.Completions().Len(); n == 0 || n > 50 {
		t.Errorf("%d phrases are kept", n)
	}
}

// TestOrderOfTitles checks that completions do not depend on the order in which titles are added.
func TestOrderOfTitles(t *testing.T) {
	titles := []string{"Red-Fox", "red fox", "Red Fox - Animals", "Animals", "red fish", "Red. Fox"}
	r := rand.New(rand.NewPCG(1, 1))
	var want *Completions
	for range 50 {
		c := NewCollector(MaxPhrases)
		for _, i := range r.Perm(len(titles)) {
			c.AddTitle(titles[i], 1/float64(3+i))
		}
		got := c.Completions()
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %+v", got, want)
		}
	}
	if got := want.Begin("red f", 9); len(got) != 2 || got[0] != "red fox" {
		t.Errorf("completions are %q", got)
	}
}

// TestSwapped: two letters are swapped, of whatever script, and none is another one.
func TestSwapped(t *testing.T) {
	for _, c := range []struct {
		typed, meant string
		want         bool
	}{
		{"teh", "the", true}, {"слвоо", "слово", true}, {"thr", "the", false}, {"слоро", "слово", false}, {"то", "тот", false},
	} {
		if got := swapped(c.typed, c.meant); got != c.want {
			t.Errorf("%s for %s: %v", c.typed, c.meant, got)
		}
	}
}

// TestOutnumbers checks when a word beside a neighbour of its own is doubted.
func TestOutnumbers(t *testing.T) {
	e := &fakeEvidence{pairs: map[string]int{
		"regular expresion": 2, "regular expression": 60, "expression syntax": 30, "expresion file": 9, "expression file": 8,
		"a expression": 9, "many expresion": 1000, "many expression": 100_000,
	}, left: 1000}
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{"regular", "", true},
		{"regular", "syntax", true},
		{"", "syntax", true},
		{"regular", "file", false}, // the typed word is more frequent there
		{"", "file", false},
		{"a", "", false},    // too few
		{"many", "", false}, // not all pages are counted
		{"", "", false},
	} {
		words := []doubt{
			{Loose: query.Loose{Word: c.before}, df: len(c.before)}, {Loose: query.Loose{Word: "expresion"}, follows: true},
			{Loose: query.Loose{Word: c.after}, df: len(c.after), follows: true},
		}
		near := neighboursOf(words, 1, e)
		if got := near.outnumberedBy("expression", e); got != c.want {
			t.Errorf("%q before, %q after: %v", c.before, c.after, got)
		}
	}
}

// misspelt returns a speller and evidence of the words of a small index.
func misspelt() (*Speller, *fakeEvidence) {
	e := &fakeEvidence{words: map[string]int{
		"install": 200, "instal": 3, "installs": 40, "django": 50, "rank": 2, "ranks": 300, "page": 90, "pages": 100, "of": 900,
		"loads": 60, "debounce": 4, "trait": 80, "trail": 6, "bounds": 30, "keyctl": 5, "kubectl": 40, "apply": 60, "glass": 9, "fish": 8,
		"garbage": 70, "collection": 60, "tar": 30, "rust": 40,
	}, pairs: map[string]int{
		"install django": 30, "page rank": 1, "page ranks": 80, "rust trait": 40, "trait bounds": 25, "garbage collection": 50, "loads page": 60,
	}, left: 1000}
	b := NewBuilder(1000)
	for word, df := range e.words {
		b.Add([]byte(word), df)
	}
	return &Speller{Words: b.Dictionary()}, e
}

// TestGuesses checks the likeliest reading of queries that match many pages as typed.
func TestGuesses(t *testing.T) {
	for typed, want := range map[string]struct {
		text string
		sure bool
	}{
		"instal django":      {"install django", true}, // pairs decide between forms
		"instal":             {},
		"page rank":          {}, // a plural is as right
		"load page":          {},
		"glasss":             {"glass", true},
		"rust trail bounds":  {"rust trait bounds", true},
		"trail of glass":     {}, // no likelier pair
		"lodash debounce":    {"loads debounce", false},
		"lodash page":        {"loads page", true}, // two slips, but a pair
		"glassfish":          {"glass fish", false},
		"pageranks":          {"page ranks", true}, // a pair itself
		"garbge collection":  {"garbage collection", true},
		"Garbge COLECTION":   {"Garbage COLLECTION", true},
		"tar -xzf garbge":    {"tar -xzf garbage", true},
		"tar -garbge":        {}, // an option
		"tar --garbge":       {},
		"tar -instal django": {},
	} {
		s, e := misspelt()
		q := query.Parse(typed)
		q = query.Parse(q.Options())
		q.Text = typed // as options are read
		got := Guess{}
		if all, _ := s.Guesses(&q, e, func() bool { return false }); len(all) > 0 && all[0].Text != typed {
			got = all[0]
		}
		if got.Text != want.text || got.Sure != want.sure {
			t.Errorf("%s: %q, sure: %v; want %q and %v", typed, got.Text, got.Sure, want.text, want.sure)
		}
	}
}

// TestGuessesWithoutTime checks that words which the index does not have are corrected however few
// pairs are counted, and no others.
func TestGuessesWithoutTime(t *testing.T) {
	for left := range 100 {
		for typed, want := range map[string]string{"page of garbge collection": "page of garbage collection", "page of instal": "page of instal"} {
			s, e := misspelt()
			e.left = left
			q := query.Parse(typed)
			got := typed
			if all, _ := s.Guesses(&q, e, func() bool { return false }); len(all) > 0 {
				got = all[0].Text
			}
			if got != want {
				t.Errorf("%s, counting %d pairs: %q", typed, left, got)
			}
		}
	}
}

// TestSpelt checks that a correction is the word that was meant, and what was typed if that is the same word.
func TestSpelt(t *testing.T) {
	letter := rapid.SampledFrom([]string{"a", "A", "à", "À", "a\u0300", "b", "B", "b\u0301", "ß", "s", "S", "ø", "Ø", "я", "Я", "é", "É"})
	text := func(t *rapid.T, label string) string {
		return strings.Join(rapid.SliceOfN(letter, 1, 8).Draw(t, label), "")
	}
	fold := func(text string) string { return strings.Join(analysis.PhraseTerms(text), " ") }
	rapid.Check(t, func(t *rapid.T) {
		typed, other := text(t, "typed"), fold(text(t, "other"))
		if got := spelt(fold(typed), typed); got != typed {
			t.Fatalf("%q for itself: %q", typed, got)
		}
		if got := spelt(other, typed); fold(got) != other {
			t.Fatalf("%q for %q: %q", typed, other, got)
		}
		first, second := fold(typed), other
		if got := spelt(first+" "+second, typed+second); got != typed+" "+second {
			t.Fatalf("%q split: %q", typed+second, got)
		}
	})
	for typed, want := range map[string]string{
		"Bildgrößenänderung": "Bild größenänderung", "Garbge": "Garbage", "GARBGE": "GARBAGE", "Pythno": "Python", "Sgarbage": "garbage", "Narbage": "Garbage",
	} {
		if got := spelt(strings.ToLower(strings.NewReplacer("ö", "o", "ß", "ss", "ä", "a").Replace(want)), typed); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
