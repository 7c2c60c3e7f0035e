package prefsfile

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"anatomy/searcher"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
)

// manuals is the lens of example.
var manuals = []*params.Lens{{Name: "Manuals", Only: []string{"example.net/manual"}, Lang: []string{"de"}, Query: "-filetype:pdf"}}

// example is a file with all keys but those of empty lists.
const example = `version = 1
raise = [
  'docs.example.org',
  'example.net/manual'
]
block = [
  'ads.example.com'
]
lang = ['de', 'en']
num = 20
tab = true
instant = true
theme = 'dark'

[[lens]]
name = 'Manuals'
only = [
  'example.net/manual'
]
lang = ['de']
query = '-filetype:pdf'
`

func TestWrite(t *testing.T) {
	f := &params.Preferences{
		Preferences: searcher.Preferences{Raise: []string{"docs.example.org", "example.net/manual"}, Block: []string{"ads.example.com"}, Lang: "de,en"},
		Num:         20, Tab: true, Instant: true, Theme: "dark",
	}
	got, err := Write(f, manuals)
	if err != nil || string(got) != example {
		t.Errorf("%v: wrote\n%s", err, got)
	}
	again, lenses, problems := Read(messages.English(), got)
	if !reflect.DeepEqual(again, f) || !reflect.DeepEqual(lenses, manuals) {
		t.Errorf("read %+v, %+v, %v", again, lenses, problems)
	}
	if got, err = Write(&params.Preferences{}, nil); string(got) != "version = 1\n" {
		t.Errorf("%v: nothing is written as\n%s", err, got)
	}
}

// TestRead: a file edited by hand is read as an address with the same preferences is.
func TestRead(t *testing.T) {
	f, _, problems := Read(messages.English(), []byte("\ufeff# mine\r\nversion = 1 # of the form\r\ntheme = \"auto\"\r\n\"block\" = [\"*://*.Spam.test/*\", \"https://ads.test/\", 'spam.test', # twice\r\n]\r\nlang = []\r\ntab = false\r\n"))
	want := &params.Preferences{Preferences: searcher.Preferences{Block: []string{"spam.test", "ads.test"}}}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("read %+v, %v", f, problems)
	}
}

// TestDocument: the file of doc/query.md is read.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("../../../doc/query.md")
	if err != nil {
		t.Fatal(err)
	}
	_, file, _ := strings.Cut(string(document), "```toml\n")
	file, _, ok := strings.Cut(file, "```")
	f, lenses, problems := Read(messages.English(), []byte(file))
	want, _, _ := Read(messages.English(), []byte(example))
	if !ok || !reflect.DeepEqual(f, want) || !reflect.DeepEqual(lenses, manuals) {
		t.Errorf("%s\nis read as %+v, %v", file, f, problems)
	}
}

// TestProblems: each problem names its line, and all are found at once.
func TestProblems(t *testing.T) {
	many := func(n int, of string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(of, i))
		}
		return strings.Join(all, ",\n")
	}
	for file, want := range map[string]string{
		"":                               "1: The line version = 1 is missing.",
		"theme = \"dark\"":               "1: The line version = 1 is missing.",
		"version = 2\nnum = 3":           "1: The version of the file is 2. This server reads version 1.",
		"version = '1'":                  "1: The version of the file is '1'. This server reads version 1.",
		"version = 1\nraise = [\n":       "2: This is not TOML: array is incomplete.",
		"version = 1\nversion = 1":       "2: This is not TOML: ",
		"version = 1\nraise = \"a\xff\"": "2: This is not TOML: ",
		"version = 1\nblock = [\n'a.test',\n'no!host',\n'b c',\n'..']":                                    "4: “no!host” is not a site. Write example.org or example.org/docs.|5: “b c” is not a site. Write example.org or example.org/docs.|6: “..” is not a site. Write example.org or example.org/docs.",
		"version = 1\nraise = 'a.test'\nlower = [1]\npin = [['a.test']]\nblock = {}":                      "2: raise must be a list of texts in quotes.|3: lower must be a list of texts in quotes.|4: pin must be a list of texts in quotes.|5: block must be a list of texts in quotes.",
		"version = 1\nnum = 0\ntab = 'yes'\ninstant = 1\ntheme = 'pink'\nlang = ['de', 'x!']":             "2: num must be a whole number from 1 to 100.|3: tab must be true or false.|4: instant must be true or false.|5: theme must be \"light\", \"dark\" or \"auto\".|6: “x!” is not a language. Write de, en or pt-br.",
		"version = 1\nnum = 1_000\ntheme = true":                                                          "2: num must be a whole number from 1 to 100.|3: theme must be \"light\", \"dark\" or \"auto\".",
		"version = 1\nlove = 1\na.b = 1\n[c]\nd = 1\n[[e]]":                                               "2: There is no preference “love”.|3: There is no preference “a.b”.|4: There is no preference “c”.|6: There is no preference “e”.",
		"version = 1\nblock = [\n" + many(101, "'s%d.test'") + "]":                                        "103: This is one site more than the limit of 100.",
		"version = 1\n[[lens]]\nname = 1\nonly = 'a.test'\nraise = ['no!']\nlang = ['x!']\nlove = 1":      "3: name must be a text in quotes.|4: only must be a list of texts in quotes.|5: “no!” is not a site. Write example.org or example.org/docs.|6: “x!” is not a language. Write de, en or pt-br.|7: There is no rule “love” of lenses.",
		"version = 1\n[[lens]]\nonly = ['a.test']":                                                        "2: The lens needs a name of up to 40 characters.",
		"version = 1\n[[lens]]\nname = 'a'\nraise = ['a.test']\n[[lens]]\nname = 'a'\nblock = ['b.test']": "5: There is another lens with this name.",
		"version = 1\n[[lens]]\nname = 'a'\nquery = 'some words'":                                         "2: Filters are up to 64 operators without words: ",
		"version = 1\n[[lens]]\nname = 'a'\n[[love]]\nb = 1\n[[lens.c]]":                                  "4: There is no preference “love”.|6: There is no preference “lens.c”.",
		"version = 1\nlang = [" + many(21, "'de-x%d'") + "]":                                              "2: There are 21 languages; the limit is 20.",
	} {
		f, _, problems := Read(messages.English(), []byte(file))
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Text))
		}
		if all := strings.Join(got, "|"); f != nil || !strings.HasPrefix(all, want) || !strings.HasSuffix(want, ": ") && all != want {
			t.Errorf("%.80q: %+v, %s", file, f, all)
		}
	}
	if _, _, problems := Read(messages.English(), []byte("version = 1\nblock = ["+many(500, "'!%d'")+"]")); len(problems) != maxProblems {
		t.Errorf("%d problems are reported", len(problems))
	}
}

// TestBlockList: lists that extensions share are distinguished from files of preferences, and block
// their sites.
func TestBlockList(t *testing.T) {
	f := &params.Preferences{Preferences: searcher.Preferences{Raise: []string{"b.test"}, Block: []string{"mine.test"}}}
	list := "! of spam\n# and ads\n\n*://*.a.test/*\r\n@*://b.test/* # no more\nhttps://c.test/dir/\n"
	if !IsBlockList([]byte(list)) {
		t.Error("a list of sites is taken for a file")
	}
	if problems := AddBlockList(messages.English(), f, []byte(list)); problems != nil || len(f.Raise) != 0 || !reflect.DeepEqual(f.Block, []string{"mine.test", "a.test", "b.test", "c.test/dir"}) {
		t.Errorf("%v, %+v", problems, f)
	}
	for _, file := range []string{example, "# mine\n" + example, "\"version\" = 1", "[a]", "", "# nothing"} {
		if IsBlockList([]byte(file)) {
			t.Errorf("%q is taken for a list of sites", file)
		}
	}
	problems := AddBlockList(messages.English(), f, []byte("a.test\nno!\n\n..\n"))
	if len(problems) != 2 || problems[0].Line != 2 || problems[1].Line != 4 {
		t.Errorf("problems %v", problems)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "s%d.test\n", i)
	}
	if problems = AddBlockList(messages.English(), &params.Preferences{}, []byte(many.String())); len(problems) != 1 || problems[0].Line != 101 {
		t.Errorf("problems of a long list: %v", problems)
	}
}

// FuzzRead: whatever a file has, it has problems with lines of it, or preferences within the bounds
// that are written and read as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("version = 1\nraise = [\"a.test\", '*://*.b.test/*']\nlang = [\"DE-x\"]\n[a]\nb.c = {d = [1, {}]}"))
	f.Add([]byte("version = 1\n[[lens]]\nname='a'\nonly=['*://*.b.test/*']\nquery=' OR site:a'\n[[lens]]\nname='b'\nlang=['DE-at','de']"))
	f.Add([]byte("a.test\n!x\n*://*.b.test/*\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > MaxBytes {
			return
		}
		p, lenses, problems := Read(messages.English(), file)
		if IsBlockList(file) {
			p, lenses = &params.Preferences{}, nil
			problems = AddBlockList(messages.English(), p, file)
		}
		if len(problems) > maxProblems+1 || (p == nil) && len(problems) == 0 {
			t.Fatalf("%+v, problems %v", p, problems)
		}
		lines := 1 + strings.Count(string(file), "\n")
		for _, problem := range problems {
			if problem.Line < 1 || problem.Line > lines || problem.Text == "" {
				t.Fatalf("of %d lines: %+v", lines, problem)
			}
		}
		if len(problems) > 0 {
			return
		}
		if p.Sites() > searcher.MaxPreferred || strings.Count(p.Lang, ",") >= searcher.MaxLanguages || p.Num > searcher.MaxLimit {
			t.Fatalf("beyond the bounds: %+v", p)
		}
		for _, l := range lenses {
			if problem := CheckLens(messages.English(), l); problem != "" {
				t.Fatalf("%+v: %s", l, problem)
			}
		}
		written, err := Write(p, lenses)
		if err != nil {
			t.Fatal(err)
		}
		if again, same, problems := Read(messages.English(), written); problems != nil || !reflect.DeepEqual(again.Values(), p.Values()) || !reflect.DeepEqual(same, lenses) {
			t.Fatalf("%+v, %+v is written as\n%sand read as %+v, %+v, %v", p, lenses, written, again, same, problems)
		}
	})
}
