package presentation

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// passageOf returns the passage of a page for a query whose terms are equally rare.
func passageOf(title, text, q string) Passage {
	s := snippeterOf(q)
	s.Explain = true
	return s.Passage(title, text, "", vocab.Controls{})
}

// snippeterOf returns a Snippeter for a query whose terms are equally rare.
func snippeterOf(q string) *Snippeter {
	root := query.Parse(q).Root
	if prose := root.Prose(); prose != nil {
		root = prose
	}
	t := scoring.NewTerms(root, "", nil, &scoring.Arena{})
	for i := range t.IDF {
		t.IDF[i] = scoring.Point
	}
	return NewSnippeter(root, t, &SnippetArena{})
}

// outlined returns a text whose lines "## heading #id" begin sections, by the number of their signs.
func outlined(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if level > 0 {
			heading, id, _ := strings.Cut(strings.TrimSpace(line[level:]), " #")
			line = string(vocab.SectionMark{Level: level, ID: id}.Append(nil)) + heading
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// name returns a section as "path > heading #id".
func name(s *Section) string {
	if s.Heading == "" {
		return "page"
	}
	return strings.Join(append(s.Path, s.Heading), " > ") + " #" + s.ID
}

func TestSection(t *testing.T) {
	guide := outlined("# Guide ¶ #guide", "About fruit.", "## Apples #apples", "They are red.", "They grow on trees.",
		"### Peeling an apple #peel", "Use a knife.", "## Pears", "Pears are green. A knife is sharp.", "### Boxes\uf0c1 #boxes",
		"#### In a box #in", "A box of figs.")
	for _, c := range []struct{ query, section, snippet, more string }{
		{"guide", "page", "[Guide] About fruit. Apples They are red.", ""},
		{"apples", "Guide > Apples #apples", "They are red. They grow on trees.", ""},
		{"apples trees", "Guide > Apples #apples", "They are red. They grow on [trees].", ""},
		{"apples peeling", "Guide > Apples > Peeling an apple #peel", "Use a knife.", "Guide > Apples #apples"},
		{"pears knife", "Guide > Pears #", "[Pears] are green. A [knife] is sharp.", ""},
		{"boxes", "Guide > Pears > Boxes #boxes", "In a box A box of figs.", ""},
		{"peeling pears", "Guide > Pears #", "[Pears] are green. A knife is sharp.", "Guide > Apples > Peeling an apple #peel"},
		{"nothing", "page", "About fruit. Apples They are red.", ""},
	} {
		p := passageOf("Guide – the site", guide, c.query)
		var more []string
		for i := range p.More {
			more = append(more, name(&p.More[i]))
		}
		if got := name(&p.Section); got != c.section || strings.Join(more, ", ") != c.more {
			t.Errorf("%s: section %q, more %q, want %q, %q", c.query, got, more, c.section, c.more)
		}
		if got := marked(p.Snippet); !strings.HasPrefix(got, c.snippet) {
			t.Errorf("%s: snippet %q, want %q", c.query, got, c.snippet)
		}
	}
}

// TestSectionOfName checks that of the sections whose headings have the whole query, with the title, one
// whose heading is the query wins, then one whose heading begins with it.
func TestSectionOfName(t *testing.T) {
	for _, c := range []struct{ query, headings, want string }{
		{"networks", "authorized clients (default: $networks)|networks (default: see output)", "networks (default: see output)"},
		{"postfix networks", "authorized clients (default: $networks)|networks (default: see output)", "networks (default: see output)"},
		{"networks", "networks style|2.1 networks", "2.1 networks"},
		{"networks", "networks_style|¶ networks", "¶ networks"},
		{"inner join", "inner and outer join|inner join", "inner join"},
		{"inner join", "the inner join|join inner tables", "join inner tables"},
		{"networks clients", "clients of networks|networks", "clients of networks"},   // the second lacks a word
		{"postfix networks", "the postfix networks|networks", "the postfix networks"}, // as well
		{"postfix", "all about postfix|postfix networks", "all about postfix"},        // the title is the query
		{"how to find the networks", "all networks|networks", "all networks"},         // prose
		{`"inner join"`, "all inner join|inner join", "inner join"},
		{"temp file", "delete|createTempFile|exists", "createTempFile"},
		{"temp file", "createTempFile|of temp files|temp file", "temp file"},
		{"how to create the file", "file|getParent|create_new_file|path", "create_new_file"},
	} {
		lines := []string{"# Postfix", "Parameters."}
		for i, heading := range strings.Split(c.headings, "|") {
			lines = append(lines, "## "+heading, strings.Repeat(heading+". ", 3-i))
		}
		got := passageOf("Postfix", outlined(lines...), c.query).Section.Heading
		if got != strings.TrimLeft(c.want, "¶ ") {
			t.Errorf("%s in %s: section %q, want %q", c.query, c.headings, got, c.want)
		}
	}
}

// TestPartsOfSubwords: the sum of a section names words that only identifiers of headings have.
func TestPartsOfSubwords(t *testing.T) {
	section := passageOf("Postfix", outlined("# Postfix", "Parameters.", "## createTempFile", "One.", "### Rights", "The owner of the rights."), "temp rights").Section
	var parts []string
	for _, p := range section.Parts {
		parts = append(parts, p.Word+" "+p.Where)
	}
	if section.Heading != "Rights" || strings.Join(parts, ", ") != "Temp path, Rights heading, Rights text" {
		t.Errorf("%s: %q", section.Heading, parts)
	}
}

// TestWants checks when a longer beginning of a text is read.
func TestWants(t *testing.T) {
	long := outlined("# Guide", "About apples, pears and figs.", "## Apples", "They are red.")
	for _, c := range []struct {
		text, query string
		want        int
	}{
		{long, "apples", 0},
		{long, "guide apples", 0},         // the title has a word
		{long, "pears", LongSnippetBytes}, // the top of the page has it, and a section may explain it
		{long, "apples cherries", LongestSnippetBytes},
		{long, "how to peel the apples", 0}, // prose, of which no page needs to have all
		{long, "red", LongSnippetBytes},     // a section may be named so
		{long, "guide red", LongSnippetBytes},
		{long, "red apples", 0},          // no name
		{"apples and pears", "pears", 0}, // a text without sections
		{"apples and pears", "cherries", LongestSnippetBytes},
	} {
		s := snippeterOf(c.query)
		s.Passage("Guide – the site", c.text, "", vocab.Controls{})
		if got := s.Wants(); got != c.want {
			t.Errorf("%s: %d in %q", c.query, got, c.text)
		}
	}
}

// TestSnippetOfEmptySection checks that the snippet of a section without text is that of a section
// below it, and never of one beside it or after the section around it. A page whose text ends at the heading
// is shown without the section.
func TestSnippetOfEmptySection(t *testing.T) {
	for _, c := range []struct{ query, lines, section, want string }{
		{"empty", "## Empty #a|## Other #b|Unrelated text.", "a", ""},
		{"empty", "## Around|### Empty #a|## Other #b|Unrelated text.", "a", ""},
		{"empty", "## Other #b|Some text.|## Empty #a", "", "Other Some text. [Empty]"},
		{"empty", "## Empty #a|### Below|Its text.|## Other #b|Unrelated text.", "a", "Below Its text."},
		{"empty", "####### Empty #a|####### Alias #b|Text of both.|####### Other #c|Its text.", "a", "Text of both."},
		{"empty", "####### Empty #a|####### Alias #b|######## Below #c|Its text.", "a", "Below Its text."},
		{"empty", "######## Empty #a|####### Other #b|Unrelated text.", "a", ""},
		{"empty", "## Empty, a heading that is too long for that of a menu #a|\tapple|\tpear empty|## Other #b|\tfig", "a", "apple pear [empty]"},
		{"empty", "## Empty, a heading that is too long for that of a menu #a|\tapple|\tpear", "a", "apple pear"},
	} {
		p := passageOf("Page", outlined(strings.Split(c.lines, "|")...), c.query)
		if got := marked(p.Snippet); p.Section.ID != c.section || got != c.want {
			t.Errorf("%s: section %q, snippet %q, want %q", c.lines, p.Section.ID, got, c.want)
		}
	}
}

// TestPhraseAcrossSections checks that the snippet of a section is text of that section alone, also
// where a phrase begins in it and ends in the next.
func TestPhraseAcrossSections(t *testing.T) {
	word := rapid.SampledFrom([]string{"apple", "pear", "fig"})
	words := rapid.SliceOfN(word, 1, 4)
	rapid.Check(t, func(rt *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(2, 5).Draw(rt, "sections") {
			lines = append(lines, fmt.Sprintf("## %s #%d", word.Draw(rt, "heading"), i), strings.Join(words.Draw(rt, "text"), " "))
		}
		q := `pear "` + strings.Join(words.Draw(rt, "phrase"), " ") + `"`
		p := passageOf("Page", outlined(lines...), q)
		snippet := strings.NewReplacer("[", "", "]", "").Replace(marked(p.Snippet))
		if at, err := strconv.Atoi(p.Section.ID); err == nil && snippet != lines[2*at+1] {
			rt.Fatalf("%s in %q: section %d, snippet %q", q, lines, at, snippet)
		}
	})
	lines := outlined("## Pear #pear", "All about the apple", "## Tree #tree", "A tree has leaves.")
	if got := marked(passageOf("Page", lines, `pear "apple tree"`).Snippet); got != "All about the apple" {
		t.Errorf("snippet %q", got)
	}
}

// TestSectionOfMenu checks that the heading of a menu begins no section, and that a text that was cut
// within a mark is read up to there.
func TestSectionOfMenu(t *testing.T) {
	text := outlined("# Fruit #fruit", "All of it.", "## On this page #toc") + "\tapples\n\tpears\n" + outlined("## Apples #apples", "Red.")
	if got := passageOf("Fruit", text, "page"); got.Section.Heading != "" {
		t.Errorf("section %s", name(&got.Section))
	}
	for n := range text {
		p := passageOf("Fruit", text[:n], "apples toc")
		if got := fmt.Sprint(p.Snippet, p.Section); strings.ContainsAny(got, "\f\t") {
			t.Fatalf("%d bytes: %q", n, got)
		}
	}
}

func TestSectionFragment(t *testing.T) {
	for _, c := range []struct{ heading, id, want string }{
		{"x", "json.dumps", "#json.dumps"},
		{"x", `get(int, "x")%`, "#get(int,%20%22x%22)%25"},
		{"Mixed-case, & more", "", "#:~:text=Mixed%2Dcase%2C%20%26%20more"},
		{"Long heading" + cutMark, "", "#:~:text=Long%20heading"},
	} {
		if got := (&Section{Heading: c.heading, ID: c.id}).Fragment(); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.heading, c.id, got, c.want)
		}
	}
}

// TestSectionOracle compares the sections with a plain reading of the definition: points of each
// section, the first of the best wins, and further ones have a word in their heading.
func TestSectionOracle(t *testing.T) {
	word := rapid.SampledFrom([]string{"apple", "pear", "fig", "tree"})
	rapid.Check(t, func(rt *rapid.T) {
		var lines []string
		for range rapid.IntRange(1, 8).Draw(rt, "sections") {
			level := rapid.IntRange(1, 4).Draw(rt, "level")
			lines = append(lines, strings.Repeat("#", level)+" "+word.Draw(rt, "heading")+" one",
				strings.Join(rapid.SliceOfN(word, 1, 4).Draw(rt, "text"), " "))
		}
		q := strings.Join(rapid.SliceOfNDistinct(word, 1, 3, rapid.ID).Draw(rt, "query"), " OR ")
		p := passageOf("tree", outlined(lines...), q)
		want, more := plainSections("tree", lines, strings.Split(q, " OR "))
		got := "page"
		if p.Section.Heading != "" {
			got = name(&p.Section) + fmt.Sprint(p.Section.Score)
		}
		for _, s := range append(p.More, p.Section) {
			sum := scoring.Score(0)
			for _, part := range s.Parts {
				sum += part.Points
			}
			if sum != s.Score {
				rt.Fatalf("%q in %q: parts %v of %s do not add up to %d", q, lines, s.Parts, s.Heading, s.Score)
			}
		}
		var further []string
		for i := range p.More {
			further = append(further, name(&p.More[i])+fmt.Sprint(p.More[i].Score))
		}
		if got != want || strings.Join(further, ", ") != strings.Join(more, ", ") {
			rt.Fatalf("%q in %q\ngot  %s, %q\nwant %s, %q", q, lines, got, further, want, more)
		}
	})
}

// plainSections returns the best section and the further ones, with their scores. Lines are headings
// and texts in turn.
func plainSections(title string, lines, words []string) (best string, more []string) {
	type section struct {
		name    string
		level   int
		heading string // with those of the title, for the top
		around  string
		points  scoring.Score
		own     bool
	}
	all := []section{{name: "page", heading: title, points: 0}}
	texts := []string{""}
	path := []string{}
	for i := 0; i < len(lines); i += 2 {
		heading := strings.TrimLeft(lines[i], "# ")
		level := len(lines[i]) - len(strings.TrimLeft(lines[i], "#"))
		if i == 0 && level == 1 {
			all[0].heading += " " + heading
			path, texts[0] = []string{heading}, lines[1]
			continue
		}
		s := section{level: level, heading: heading, around: all[0].heading}
		names, below := append([]string{}, path...), level
		var around []string
		for k := len(all) - 1; k > 0; k-- {
			if all[k].level < below {
				around, below = append([]string{all[k].heading}, around...), all[k].level
			}
		}
		s.around += " " + strings.Join(around, " ")
		s.name = strings.Join(append(append(names, around...), heading), " > ") + " #"
		all, texts = append(all, s), append(texts, lines[i+1])
	}
	top := 0
	for i := range all {
		s := &all[i]
		for _, word := range words {
			weight := scoring.Point + 1
			if strings.Contains(s.heading, word) {
				s.points += weight * headingWeight / 100
				s.own = true
			} else if strings.Contains(s.around, word) {
				s.points += weight * pathWeight / 100
			}
			if n := scoring.Score(strings.Count(texts[i], word)); n > 0 {
				s.points += weight * textWeight * n / (n + 1) / 100
			}
		}
		if s.points > all[top].points {
			top = i
		}
	}
	best = all[top].name
	if top > 0 {
		best += fmt.Sprint(all[top].points)
	}
	var others []section
	for i, s := range all {
		if i > 0 && i != top && s.own && s.points >= all[top].points*moreShare/100 {
			others = append(others, s)
		}
	}
	sort.SliceStable(others, func(a, b int) bool { return others[a].points > others[b].points })
	for _, s := range others[:min(len(others), maxMore)] {
		more = append(more, s.name+fmt.Sprint(s.points))
	}
	return best, more
}

// TestWithMenus checks that the text with menus is the text without marks, wherever it was truncated.
func TestWithMenus(t *testing.T) {
	piece := rapid.SampledFrom([]string{"\t", "\f", "\f2\f", "\f3id\f", "\n", "apple", "pie é", ""})
	marked := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "text"), "")
		want := vocab.WithoutSectionMarks(strings.ReplaceAll(text, "\t", ""))
		if got := snippeterOf("apple").withMenus(text); got != want {
			rt.Fatalf("%q: %q, want %q", text, got, want)
		}
		if want != text {
			marked++
		}
	})
	if marked == 0 {
		t.Error("no text had marks")
	}
}
