package presentation

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// snippetOf returns the snippet of a page for a query whose terms are equally rare.
func snippetOf(title, text, description, q string) []Fragment {
	root := query.Parse(q).Root
	t := scoring.NewTerms(root, "", nil, &scoring.Arena{})
	for i := range t.IDF {
		t.IDF[i] = scoring.Point
	}
	return NewSnippeter(root, t, &SnippetArena{}).Passage(title, text, description, vocab.Controls{}).Snippet
}

// marked returns fragments as text, with marked ones in brackets.
func marked(fragments []Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		if f.Mark {
			b.WriteString("[" + f.Text + "]")
		} else {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("Nothing of interest stands in this sentence. ", 20)
	for name, c := range map[string]struct{ text, description, query, want string }{
		"short text":          {"The anatomy of a search engine.", "", "search", "The anatomy of a [search] engine."},
		"several words":       {"Search engines index. We search.", "", "engines search", "[Search] [engines] index. We [search]."},
		"accents and case":    {"In ZÜRICH, a Café.", "", "zurich cafe", "In [ZÜRICH], a [Café]."},
		"phrase, not words":   {"york is old. New York is new, but york is old.", "", `"new york"`, "york is old. [New York] is new, but york is old."},
		"words, not in words": {"research and search", "", "search", "research and [search]"},
		"negative unmarked":   {"cat and dog", "", "cat -dog", "[cat] and dog"},
		"chinese phrase":      {"我們在東京大學學習。", "", "東京", "我們在[東京]大學學習。"},
		"bigrams":             {"一个数据库系统", "", "数据 据库", "一个[数据库]系统"},
		"overlapping":         {"new york city", "", `"new york" york`, "[new york] city"},
		"blocks":              {"Title\nFirst word here\nlast", "", "word", "Title First [word] here last"},
		"description":         {"Some text.", "A page about cats.", "cats", "A page about [cats]."},
		"beginning":           {"Some text.", "", "absent", "Some text."},
		"nothing":             {"", "", "absent", ""},
		"sentence start":      {filler + "Here is the answer to it all. " + filler, "", "answer", "Here is the [answer] to it all."},
		"nearest pair":        {"apple. " + filler + "An apple pie is near. " + filler + "pie", "", "apple pie", "An [apple] [pie] is near."},
		"two windows":         {"First the apple comes. " + filler + filler + "Later there is a pie.", "", "apple pie", "First the [apple] comes."},
		"menus left out":      {"\tapple home\nThe apple is red.\n\tnext apple", "", "apple", "The [apple] is red."},
		"heading of a menu":   {"Navigation\n\thome\nThe Apple¶\nThe apple is red.\nThis Page\n\tnext", "", "apple", "The [apple] is red."},
		"before a menu":       {"The apple is red.\n\thome", "", "apple", "The [apple] is red."},
		"in a menu alone":     {"\tapple home\nIt is red.", "A page.", "apple", "[apple] home It is red."},
		"heading left out":    {"The Apple¶\nThe apple is red.", "", "apple", "The [apple] is red."},
		"a longer heading":    {"The apple tree\nThe apple is red.", "", "apple", "The [apple] tree The [apple] is red."},
		"part of a word":      {"The app\nThe apple is red.", "", "apple", "The app The [apple] is red."},
		"in a heading alone":  {"The apple\nIt is red.", "A page.", "apple", "The [apple] It is red."},
		"nothing but heading": {"The apple", "", "absent", "The apple"},
		"nothing but menus":   {"\thome\n\tnext", "", "absent", "home next"},
		"icons":               {"\ue900 Red\uf0c1 apple \U000f0001 is\n\ue901 ripe \ue902", "", "apple", "Red [apple] is ripe "},
		"icons in a phrase":   {"red\ue900 \ue901 apples", "", `"red apples"`, "[red apples]"},
		"permalinks":          {"Pears ¶\nRed¶ apples are\nripe", "", "apples", "Pears Red [apples] are ripe"},
		"icons alone":         {"\ue900 \ue901", "", "absent", ""},
		"deep in the text":    {strings.Repeat(filler, 20) + "The needle lies here.", "", "needle", "The [needle] lies here."},
	} {
		t.Run(name, func(t *testing.T) {
			got := marked(snippetOf("The apple (fruit)", c.text, c.description, c.query))
			if len(c.text) < 200 && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if n := utf8.RuneCountInString(got); n > 230 {
				t.Errorf("%d characters: %q", n, got)
			}
			if name == "two windows" && strings.Count(got, " … ") != 1 || name == "two windows" && !strings.HasSuffix(got, "Later there is a [pie].") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestSnippetIsText checks that the fragments of a snippet occur in the text, in order, and are not
// too long.
func TestSnippetIsText(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "c", " ", " ", "\n", "\v", "\v  ", "\n\v", "\v\n", "\n\x1f", ". ", "東", "京", "é", "wort", "…", "\u0301", "😀", strings.Repeat("x", 300), strings.Repeat("long ", 1000), "<b>", "。", "\xff"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(rt, "text"), "")
		q := rapid.SampledFrom([]string{"a", "a b", `"a b" c`, "東京", "wort OR a", "absent", "x long"}).Draw(rt, "query")
		fragments := snippetOf("A", text, "", q)
		flat := shown(text)
		columns := 0
		for _, f := range fragments {
			for part := range strings.SplitSeq(f.Text, "…") {
				part = strings.Trim(withoutIndent(part), " \n")
				at := strings.Index(flat, part)
				if at < 0 {
					rt.Fatalf("%q: %q is not in it, or out of order", text, part)
				}
				if f.Mark {
					flat = flat[at:]
				}
			}
			if f.Text == "" {
				rt.Fatal("an empty fragment")
			}
			columns += utf8.RuneCountInString(f.Text)
		}
		if columns > 560 { // a term of the query may be long
			rt.Fatalf("%d characters", columns)
		}
	})
}

// shown returns a text as snippets show it, without indentation.
func shown(text string) string {
	between := regexp.MustCompile("[\n\v\x1f]+").ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.Contains(s, "\x1f"):
			return " | "
		case strings.Contains(s, "\v"):
			return "\v"
		}
		return " "
	})
	return withoutIndent(strings.ReplaceAll(between, "\v", "\n"))
}

func withoutIndent(text string) string {
	return regexp.MustCompile("\n *").ReplaceAllString(text, "\n")
}

// TestSnippetOfCode checks that a snippet keeps the lines of code, with the indentation relative to its first
// line, and the cells of tables.
func TestSnippetOfCode(t *testing.T) {
	code := "Some text.\n\vclass C:\v    def f(self):\v        return 1\v    def g(self):\v        return 2\v\nMore text."
	table := "Before.\n\vName\n\x1fMeaning\n\vapple\n\x1fa fruit\n\vpear\n\x1fanother\n\vAfter."
	for _, c := range []struct{ text, query, want string }{
		{code, "class", "[class] C:\n    def f(self):\n        return 1\n    def g(self): …"},
		{code, "return", "def f(self):\n    [return] 1\ndef g(self):\n    [return] 2\nMore text."},
		{table, "pear", "Before.\nName | Meaning\napple | a fruit\n[pear] | another\nAfter."},
	} {
		if got := marked(snippetOf("A", c.text, "", c.query)); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.query, got, c.want)
		}
	}
	long := "\v" + strings.Repeat("x\v", 1000)
	if got := marked(snippetOf("A", long, "", "x")); strings.Count(got, "\n") > 10 || !strings.HasSuffix(got, " …") {
		t.Errorf("%q", got)
	}
}

func BenchmarkSnippet(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, and so on it goes. ", 150) + "Then the needle is found in the haystack."
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		snippetOf("A", text, "", "needle haystack")
	}
}

// BenchmarkPassage cuts passages out of a manual with sections and menus, for a question with function
// words and for a name.
func BenchmarkPassage(b *testing.B) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "\f2s%d\fSection %d of the manual\n\tnext\n\tprevious\n", i, i)
		text.WriteString(strings.Repeat("This is how the quick brown fox jumps over a lazy dog, and so it goes. ", 12) + "\n")
	}
	text.WriteString("\f2end\fHow to read a file\nThe parser reads the file in one pass.\n")
	for _, q := range []string{"how to read a file in the parser", "parser"} {
		b.Run(q, func(b *testing.B) {
			root := query.Parse(q).Root
			if prose := root.Prose(); prose != nil {
				root = prose
			}
			t := scoring.NewTerms(root, "", nil, &scoring.Arena{})
			for i := range t.IDF {
				t.IDF[i] = scoring.Point
			}
			arena := &SnippetArena{}
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				NewSnippeter(root, t, arena).Passage("A manual", text.String(), "", vocab.Controls{})
			}
		})
	}
}

// TestFinderOfPhrases checks that only terms of phrases are looked for: function words of a question
// are not.
func TestFinderOfPhrases(t *testing.T) {
	root := query.Parse("how to sort a list").Root.Prose()
	if root == nil {
		t.Fatal("the question is no prose")
	}
	terms := scoring.NewTerms(root, "", nil, &scoring.Arena{})
	s := NewSnippeter(root, terms, &SnippetArena{})
	if len(s.base) != len(s.phrases) || len(s.base) == 0 || len(s.base) == len(terms.Words) {
		t.Errorf("%d of %d terms are looked for, for %d phrases", len(s.base), len(terms.Words), len(s.phrases))
	}
}

// TestBoundedPassage checks that a passage within a bound shows no more characters of the page than
// that, headings of sections included, whatever the page and the query are; and that it shows
// something where there is room for a word.
func TestBoundedPassage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		blocks := rapid.SliceOfN(rapid.StringMatching(`(\f[123][a-z]?\f)?[a-e]{1,9}( [a-e]{1,9}\.?| 検索| über){0,40}`), 0, 9)
		text := strings.Join(blocks.Draw(rt, "blocks"), "\n")
		q := rapid.StringMatching(`[a-e]{1,2}( [a-e]{1,2}){0,2}`).Draw(rt, "query")
		most := rapid.Uint32Range(0, 400).Draw(rt, "bound")
		root := query.Parse(q).Root
		terms := scoring.NewTerms(root, "", nil, &scoring.Arena{})
		for i := range terms.IDF {
			terms.IDF[i] = scoring.Point
		}
		s := NewSnippeter(root, terms, &SnippetArena{})
		p := s.Passage("", text, "about it", vocab.Controls{Bounded: true, MaxSnippet: most})
		n, shown := p.Section.characters(), 0
		for i := range p.More {
			n += p.More[i].characters()
		}
		for _, f := range p.Snippet {
			shown += utf8.RuneCountInString(f.Text)
		}
		if n += shown; n > int(most) {
			rt.Fatalf("%d characters with a bound of %d: %+v", n, most, p)
		}
		if free := s.Passage("", text, "about it", vocab.Controls{}); most >= 40 && len(free.Snippet) > 0 && shown == 0 {
			rt.Fatalf("nothing shown with a bound of %d: %+v", most, free)
		}
	})
}
