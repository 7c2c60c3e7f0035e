package query

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"   \t\n":                                "",
		"page rank":                              "page rank",
		"Zürich  café":                           "Zürich café",
		`"new york" times`:                       `"new york" times`,
		`“new york„`:                             `"new york"`,
		`open "quote is closed`:                  `open "quote is closed"`,
		`"`:                                      "",
		`""`:                                     "",
		`a"b c"d`:                                `a "b c" d`,
		"jaguar -car":                            "jaguar -car",
		`jaguar -"sports car"`:                   `jaguar -"sports car"`,
		"go -site:example.org":                   "go -site:example.org",
		"-only -negatives":                       "-only -negatives",
		"a - b":                                  "a b",
		"git commit --amend":                     "git commit --amend",
		"well-known":                             `"well-known"`,
		"->":                                     "->",
		"$? && $?":                               "$? &&",
		"a -> b":                                 "a b",
		"-> site:example.org":                    "site:example.org ->",
		"-> -aa":                                 "-aa",
		"||":                                     "||",
		"|| &&":                                  "&&",
		"a || b":                                 "a OR b",
		"-> OR =>":                               "-> =>",
		"(->) -(=>) intitle:->":                  "",
		"<<<<=":                                  "",
		"2.0 1.2.3 v2.0":                         `"2.0" "1.2.3" "v2.0"`,
		"a b OR c":                               "a (b OR c)",
		"a|b|c d":                                "(a OR b OR c) d",
		"a or b":                                 "a or b",
		"OR a OR OR b OR":                        "a OR b",
		"OR":                                     "",
		"a AND b":                                "a b",
		`"OR" "AND"`:                             `"OR" "AND"`,
		"((a))":                                  "a",
		"(a b) c":                                "a b c",
		"(a b) OR (c d)":                         "(a b) OR (c d)",
		"a OR (b OR c)":                          "a OR b OR c",
		")a((b":                                  "a b",
		"()":                                     "",
		"tar -x":                                 "tar x",
		"make -j4":                               "make j4",
		"-opt-bisect-limit -std=c11 -e-mail":     `"opt-bisect-limit" "std=c11" -"e-mail"`,
		`-"a-b-c=d" -x:b=c -site:a-b-c.org -(=)`: `-"a-b-c=d" -"x:b=c" -site:a-b-c.org`,
		"-6 (a -V) -p|b -Ü":                      "6 a V (p OR b) -Ü",
		`-"x" -(y) -intitle:z -c++`:              `-"x" -(y) -intitle:z -(c)`,
		"-()":                                    "",
		"-(a b)":                                 "-(a b)",
		"-(-aa)":                                 "aa",
		"a OR -bb":                               "a OR -bb",
		"a A á":                                  "a",
		"site:Example.org":                       "site:example.org",
		"site:https://example.org/dir/":          "site:example.org/dir",
		"site:*.example.org":                     "site:example.org",
		"site:":                                  "site",
		"site: x":                                "site x",
		"SITE:example.org x":                     "site:example.org x",
		"site:w.org/wiki/Go_(game) x":            "site:w.org/wiki/Go_(game) x",
		"(site:w.org/a) x":                       "site:w.org/a x",
		"intitle:anatomy search":                 "intitle:anatomy search",
		`InTitle:"large scale" -inurl:old`:       `intitle:"large scale" -inurl:old`,
		"intitle:large-scale":                    `intitle:"large-scale"`,
		"inanchor:here intext:there":             "inanchor:here intext:there",
		`inalt:fox InAlt:"red fox"`:              `inalt:fox inalt:"red fox"`,
		"intitle:(a OR b) c":                     "(intitle:a OR intitle:b) c",
		"intitle: a":                             "intitle a",
		"intitle:intitle:a":                      "intitle:a",
		"lang:DE-at x":                           "lang:de x",
		"x -language:fr":                         "x -lang:fr",
		"lang:german":                            `"lang:german"`,
		"filetype:pdf | ext:.HTM":                "filetype:pdf OR filetype:html",
		"filetype:exe":                           `"filetype:exe"`,
		`a product:"Acme DB" -version:"2.0" b`:   "a product:acme-db -version:2.0 b",
		`a lang:"de" type:"x y"`:                 "a lang:de type \"x y\"",
		"after:2024-05-06 before:2024/06":        "after:2024-05-06 before:2024-06-01",
		"x 2020..2024":                           "x after:2020-01-01 before:2025-01-01",
		"2024..2020":                             `"2024..2020"`,
		"before:2024-02-30":                      `"before:2024-02-30"`,
		"after:yesterday":                        `"after:yesterday"`,
		"after:1969":                             `"after:1969"`,
		"link:https://Example.org/a b":           "link:example.org/a b",
		"link:Example.org -link:x.org/":          "link:example.org -link:x.org/",
		"related:x.org | INFO:x.org/A?b":         "related:x.org/ OR info:x.org/A?b",
		"(cache:w.org/Go_(game)) x":              "cache:w.org/Go_(game) x",
		"(cache:w.org/Go_(x y) z":                "cache:w.org/Go_ x y z",
		"site:w.org/a( x":                        "site:w.org/a x",
		"cache:coherence link: info:a.":          `"cache:coherence" link info:a/`,
		"related:ftp://x.org/ info:x/y":          `"related:ftp://x.org" info:x/y`,
		"-info:[::1]/a/../b%7e#c":                "-info:[::1]/b~",
		`"a * b" "* c *" "d*e" "f * * . g"`:      `"a * b" "c" "d*e" "f * * . g"`,
		"a * b":                                  "a b",
		`"a b"~5 "c d"~ "e f"~3x "g"~2`:          `"a b"~5 "c d" "e f" 3x "g"`,
		`"a b a os.path 東京都"~0999999999`:         `"a b a os.path 東京都"~1000`,
		`-intitle:"a b"~1`:                       `-intitle:"a b"~1`,
		`a AROUND(3) b`:                          `"a b"~3`,
		`x OR a AROUND(3) "b c" y`:               `(x OR "a" AROUND(3) "b c") y`,
		`-(a AROUND(3) "b c")`:                   `-("a" AROUND(3) "b c")`,
		`a AROUND(1) b AROUND(2) c`:              `"a b"~1 "b c"~2`,
		`(a OR b) AROUND(1) c`:                   `"a c"~1 OR "b c"~1`,
		`a AROUND(1) (b OR "c d" e)`:             `("a b"~1 OR "a" AROUND(1) "c d") "a e"~1`,
		`東京都 AROUND(1) a`:                        `"東京 a"~1 "京都 a"~1`,
		`intitle:(a AROUND(1) b)`:                `intitle:"a b"~1`,
		`inurl:a AROUND(1) inbody:b`:             `inurl:a intext:b`,
		`a AROUND(1) -bb`:                        `a -bb`,
		`AROUND(1) a AROUND(2) OR AROUND(3)`:     "a",
		`AROUND a AROUND() around(2) b`:          "AROUND a 2 b",
		`a AROUND(2) a`:                          `"a a"~2`,
		`allintitle: a "b c" -dd`:                `intitle:a intitle:"b c" -intitle:dd`,
		`a allinurl:b | c (inanchor:d e) f`:      `a (inurl:b OR inurl:c) inanchor:d inurl:e inurl:f`,
		`(allintext:a b) c -allinanchor:d e`:     `intext:a intext:b c -inanchor:d inanchor:e`,
		`allintitle:a allintitle:b allinurl:`:    `intitle:a intitle:b intitle:allinurl`,
		`inurl:+a inbody:+"b" intitle:+`:         `inurl:"a" intext:"b"`,
		"foo:bar":                                `"foo:bar"`,
		"C++ c#":                                 "C++ c#",
		"a:b":                                    `"a:b"`,
		"https://example.org/a?b=1":              `"example.org/a?b=1"`,
		"f(x)":                                   "f x",
		"+++ & !":                                "+++ & !",
		"東京":                                     "東京",
		"ทีมรับ -ภาษาไทย":                   `ทีม รับ -"ภาษาไทย"`,
		"東京都 +pages":                        `東京都 "pages"`,
		`"東京都" "pages" page -東京都`:           `"東京都" "pages" page -"東京都"`,
		"検索エンジン 京":                          "検索 エンジン 京",
		"東京OR intitle:京":                    `東京 "OR" intitle:京`,
		`צה"ל`:                              `"צה"ל"`,
		"½":                                 "½",
		"a\x00b\xffc":                       "a b c",
		"[citation needed] {x} \\ ' ^2 ~ *": "citation needed x 2",
	} {
		q := Parse(text)
		if got := q.String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		again(t, q)
	}
}

// again checks that a query parsed from its own String means the same.
func again(t interface{ Errorf(string, ...any) }, q Query) {
	back := Parse(q.String())
	once(back.Root)
	once(q.Root)
	if !reflect.DeepEqual(back.Root, q.Root) {
		t.Errorf("%q parses to %q", q, back)
	}
}

// once resets Times and Joint.
func once(n *Node) {
	if n == nil {
		return
	}
	n.Times, n.Joint = min(n.Times, 1), false
	for _, kid := range n.Kids {
		once(kid)
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"a":                           "a 1",
		"a b a A a":                   "a 4, b 1",
		`a "a b" a "a b" "a"`:         `a 2, "a b" 2, "a" 1`,
		"(a OR b OR a) c":             "a 2, b 1, c 1",
		"intitle:a a intitle:a":       "intitle:a 2, a 1",
		"東京都 東京":                      "東京 2, 京都 1",
		"site:a.org site:a.org a -bb": "a 1",
	} {
		var got []string
		for _, n := range Parse(text).Root.PositiveWords() {
			got = append(got, fmt.Sprint(n, " ", n.Times))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		cut  string
	}{
		"many words":     {strings.Repeat("a b c d e f g h i j ", 1000), "8192 bytes"},
		"distinct words": {numbers(1000), "64 words"},
		"one long word":  {strings.Repeat("a", 1<<20), "8192 bytes"},
		"long phrase":    {`"` + strings.Repeat("x ", 500), "64 words"},
		"many sites":     {strings.Repeat("site:a.org ", 70), "64 words"},
		"deep":           {strings.Repeat("(", 1000) + "a" + strings.Repeat(")", 1000) + " b", "16 deep"},
		"deep negation":  {strings.Repeat("-(x ", 1000), "64 words"},
		"deep fields":    {strings.Repeat("intitle:", 1000) + "a", ""},
		"bars":           {strings.Repeat("|", 8000), ""},
		"quotes":         {strings.Repeat(`"`, 8000), ""},
		"minuses":        {strings.Repeat("-", 8000), ""},
		"stars":          {`"a ` + strings.Repeat("* ", 4000) + `b"`, ""},
		"arounds":        {strings.Repeat("a AROUND(999999999) ", 300), "64 words"},
		"pairs":          {"(" + strings.Repeat("a OR b OR ", 30) + numbers(40) + ") AROUND(2) (" + numbers(40) + ")", "64 words"},
		"groups":         {strings.Repeat("(", 16) + "a OR b" + strings.Repeat(" AROUND(1) c)", 16), ""},
		"all titles":     {strings.Repeat("x OR allintitle:y ", 300), "64 words"},
		"controls":       {strings.Repeat("\x00\x1b\x7f", 2000), ""},
		"multibyte end":  {"a" + strings.Repeat("é", 5000), "8192 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			q := Parse(c.text)
			if said := strings.Join(q.Cut, "; "); c.cut == "" && said != "" || !strings.Contains(said, c.cut) {
				t.Errorf("says %q, want %q", said, c.cut)
			}
			if n := len(leaves(q.Root)); n > MaxWords {
				t.Errorf("%d words", n)
			}
			if d := depth(q.Root); d > 2*MaxDepth+2 {
				t.Errorf("%d deep", d)
			}
			again(t, q)
		})
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, i, " ")
	}
	return b.String()
}

func leaves(n *Node) (all []string) {
	if n == nil {
		return nil
	}
	all = append(all, n.Words...)
	for _, kid := range n.Kids {
		all = append(all, leaves(kid)...)
	}
	return all
}

func depth(n *Node) int {
	deepest := 0
	if n == nil {
		return 0
	}
	for _, kid := range n.Kids {
		deepest = max(deepest, depth(kid))
	}
	return deepest + 1
}

func TestPositive(t *testing.T) {
	for text, want := range map[string]bool{
		"a": true, "site:a.org": true, "a -bb": true, "-aa": false, "-aa -bb": false,
		"a OR -bb": false, "(a OR -bb) c": true, "-site:a.org": false, "-(a b)": false, "a OR site:b.org": true,
	} {
		if got := Parse(text).Root.Positive(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string][]Part{
		"":                      nil,
		"a b":                   nil,
		"site:x.org":            {{"site:x.org", ""}},
		"a site:x.org -bb c":    {{"site:x.org", "a -bb c"}, {"-bb", "a site:x.org c"}},
		"(a lang:de) ext:pdf":   {{"lang:de", "a filetype:pdf"}, {"filetype:pdf", "a lang:de"}},
		"a OR lang:de":          nil,
		`"a b"`:                 nil,
		`"a b" c -dd`:           {{`"a b"`, "c -dd"}, {"-dd", `"a b" c`}},
		"intitle:a b +c":        {{"intitle:a", `b "c"`}, {`"c"`, "intitle:a b"}},
		`foo-bar c++ a OR b`:    {{"a OR b", `"foo-bar" c++`}},
		`"a b"~3 c`:             {{`"a b"~3`, "c"}},
		"2020..2021 -(a b) c":   {{"after:2020-01-01", "before:2022-01-01 -(a b) c"}, {"before:2022-01-01", "after:2020-01-01 -(a b) c"}, {"-(a b)", "after:2020-01-01 before:2022-01-01 c"}},
		"sort:date a -bb":       {{"-bb", "a sort:date"}, {"sort:date", "a -bb"}},
		"sort:date":             {{"sort:date", ""}},
		"site:x.org sort:date":  {{"site:x.org", ""}, {"sort:date", "site:x.org"}},
		"site:x.org -bb":        {{"site:x.org", ""}, {"-bb", "site:x.org"}},
		"-bb sort:date":         {{"-bb", ""}, {"sort:date", ""}},
		"-bb -cc":               {{"-bb", ""}, {"-cc", ""}},
		"a -sort:date":          {{`-"sort:date"`, "a"}},
		"a (site:b|site:c) -dd": {{"site:b OR site:c", "a -dd"}, {"-dd", "a (site:b OR site:c)"}},
	} {
		if got := Parse(text).Parts(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"site:x.org":                           "",
		`new york "the city" -mets site:x.org`: "new york",
		"sort:date foo-bar lang:de intitle:x a OR b": `"foo-bar"`,
	} {
		if got := Parse(text).Plain(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestWanted(t *testing.T) {
	var got []string
	for _, n := range Parse(`a -bb (c OR intitle:"d e") site:x.org -(f OR g)`).Root.PositiveWords() {
		got = append(got, n.String())
	}
	if want := []string{"a", "c", `intitle:"d e"`}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRoundTrip checks that the String of any text parses to the same query.
func TestRoundTrip(t *testing.T) {
	pieces := []string{
		"a", "b", "Word", "naïve", "東京", "don't", "C++", "foo:bar", "OR", "AND", "|", "-", "--", "(", ")", `"`, " ", " ", " ",
		"東京都", "の", "ไทย", "--force", ".htaccess", "c#", `\d`, "$", "@x", "+", "site:", "site:example.org", "site:a.org/x(y)", "intitle:", "inurl:", "inanchor:", "intext:", "http://x.org/a",
		"link:", "related:a.org/(x", "AROUND(3)", "AROUND(", "~2", `"~7`, "*", " * ", "allintitle:", "inbody:+", "info:", "cache:x.org", "a.org", "/", "%28", "%29", "%7c", "%22", "%20", "½", "é", `ה"ה`, "\u0301", "_", "’", "ß", "->", " $? ", " => ", "2.0", ".1", "||", "1",
	}
	rapid.Check(t, func(t *rapid.T) {
		again(t, Parse(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")))
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`a "b c" -dd OR (e | f) site:x.org/y intitle:z`, `"`, "((((", "-(-(", `ה"ה`, "ﬁ ½ ŉ", "a\u200db", "intitle:-\"x", "a AROUND(2) \"b c\" (d|e) AROUND(1) \"f * g\"~4", "x allinurl: -yy (z", "link:a.org -(related:x.org/(y) | info:1.2/) cache:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { again(t, Parse(text)) })
}

func BenchmarkParse(b *testing.B) {
	text := `large-scale "hypertextual web" search OR retrieval -site:example.org intitle:anatomy`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(text)
	}
}

// TestName checks that excluded words and operators are not part of a query's name.
func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"@abbr (GNU Texinfo 6.8)":           "@abbr (GNU Texinfo 6.8)",
		"“C++” | a":                         `"C++" | a`,
		"site:example.org C++":              " C++",
		"C++ -site:example.org":             "C++ ",
		"operator-= (C++) lang:en":          "operator-= (C++) ",
		"a -(b site:c.org -d) e":            "a  e",
		"tar -x filetype:pdf sort:date":     "tar -x  ",
		`intitle:"a b" after:2020`:          `"a b" `,
		"allintitle: &c.":                   "&c.",
		"-intitle:cc site: foo:bar":         " site: foo:bar",
		"link:example.org/a_(b) 2020..2024": " ",
	} {
		if got := Parse(text).Name; got != want {
			t.Errorf("%s: the name is %q, want %q", text, got, want)
		}
	}
}

func TestLoose(t *testing.T) {
	for text, want := range map[string]string{
		"page rank":                       "page rank",
		`"new york" times`:                "times",
		"“new york” times":                "times",
		"jaguar -car -(a b) c":            "jaguar c",
		"-(a -(b)) c":                     "c",
		"well-known os.path C++ foo,":     "C foo",
		"site:x.org http://x.org/a b":     "b",
		"intitle:news (a OR -bb) inurl:c": "news a c",
		"Zürich\x00CAFÉ":                  "Zürich CAFÉ",
		`open "quote`:                     "open",
		"":                                "",
	} {
		q := Parse(text)
		var words []string
		for _, l := range q.Loose {
			words = append(words, q.Text[l.From:l.To])
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCutImages(t *testing.T) {
	for text, want := range map[string]string{
		"type:image red fox":      "red fox",
		"red TYPE:Images fox":     "red  fox",
		"(type:image) a":          "() a",
		"type:image":              "",
		"a type:image type:image": "a",
	} {
		if rest, images := CutImages(text); rest != want || !images {
			t.Errorf("%q: %q, %v", text, rest, images)
		}
	}
	for _, text := range []string{"", "type:imagery", `"type:image"`, "-type:image", "atype:image", "type: image", "type:video", "intitle:type:image"} {
		if rest, images := CutImages(text); rest != text || images {
			t.Errorf("%q: %q, %v", text, rest, images)
		}
	}
}

func TestInImages(t *testing.T) {
	for text, want := range map[string]string{
		"red fox":                             "red fox (inalt:red OR inalt:fox)",
		`fox "red fox" -den site:a.org`:       `fox "red fox" -den site:a.org (inalt:fox OR inalt:"red fox")`,
		"intitle:fox inurl:a (b OR intext:c)": "intitle:fox inurl:a (b OR intext:c) (inalt:fox OR inalt:b OR inalt:c)",
	} {
		if got := Parse(text).Root.InImages().String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := Parse("site:a.org -bb inalt:c").Root.InImages(); got != nil {
		t.Errorf("%s", got)
	}
}

func TestMinus(t *testing.T) {
	for text, want := range map[string][2]string{
		"ant -buildfile x -b-c d":   {"ant  buildfile x  b-c d", `ant -"buildfile" x -"b-c" d`},
		"-Wall":                     {" Wall", `-"Wall"`},
		"a -x --help -site:b.c":     {"a -x --help -site:b.c", "a -x --help -site:b.c"},
		`"a b" -cd`:                 {`"a b" -cd`, `"a b" -cd`},
		"a -(bc)":                   {"a -(bc)", "a -(bc)"},
		"a -é -.b":                  {"a -é -.b", "a -é -.b"},
		`find . -name "*.py" -exec`: {`find .  name "*.py"  exec`, `find . -"name" "*.py" -"exec"`},
		"a -i b.mp4 -vf c:1":        {"a -i b.mp4  vf c:1", `a -i b.mp4 -"vf" c:1`},
		"curl -sSL https://a.org":   {"curl  sSL https://a.org", `curl -"sSL" https://a.org`},
		"a site:b.org -cd":          {"a site:b.org -cd", "a site:b.org -cd"},
	} {
		q := Parse(text)
		if got := [2]string{q.Options(), q.Exclusions()}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestAfterWords(t *testing.T) {
	for text, want := range map[string]string{
		"git commit -am": `"commit am"`, "-am": "", "git -ab -cd x": `"git ab" OR "ab cd"`, "ls --all -la": `"all la"`,
		"a.b -cd": "", "git commit": "", `"git" -ab`: "",
	} {
		q := Parse(text)
		if got := q.AfterWords(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestIsCommand(t *testing.T) {
	for text, want := range map[string]bool{
		"gcc -c -lm": true, "ls --all -la": true, "make -j4 -ab": true, "find . -name": true, "cd ~ -ab": true,
		"jaguar -car": false, "-car": false, "jaguar - -car": false, "jaguar -- -car": false, "jaguar -site:a.org -car": false,
		"jaguar ... -car": false,
	} {
		if q := Parse(text); q.Command != want {
			t.Errorf("%s: %v", text, q.Command)
		}
	}
}

func TestRuns(t *testing.T) {
	for text, want := range map[string]string{
		"read csv file":               "read csv file",
		"word":                        "word",
		`read "a b" csv -dd file`:     "read | csv | file",
		"read os.path intitle:x file": "read | file",
		"a OR b":                      "",
		"":                            "",
	} {
		if got := runsOf(Parse(text).Root); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got, want := runsOf(Parse("how to read a csv +file").Root.Prose()), "how to read a csv"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func runsOf(n *Node) string {
	var all []string
	for _, run := range n.Runs() {
		var words []string
		for _, word := range run {
			words = append(words, word.Words[0])
		}
		if len(words) > 0 {
			all = append(all, strings.Join(words, " "))
		}
	}
	return strings.Join(all, " | ")
}
