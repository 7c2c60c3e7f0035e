package config

import (
	"os"
	"strings"
	"testing"
)

// TestSearchEdits adds pins and the name of a file of synonyms to files of several forms. Comments
// and other lines stay where no rewrite is needed, and what is read afterwards is what was written.
func TestSearchEdits(t *testing.T) {
	const pin = "\n[[search.pins]]\nqueries = ['wi \"fi\"', 'wlan']\nurl = 'http://a.test/'\nnote = 'new'\n"
	for name, c := range map[string]struct{ before, after string }{
		"nothing": {"", ""},
		"no table": {
			"# why\nschema = 1\n", "# why\nschema = 1\n\n[search]\nsynonyms = 'own.txt'\n" + pin,
		},
		"a table": {
			"schema = 1\n[search]\nname = \"A\" # ours\n# the end of it\n[crawl]\ndelay = '5s'",
			"schema = 1\n[search]\nname = \"A\" # ours\nsynonyms = 'own.txt'\n# the end of it\n[crawl]\ndelay = '5s'\n" + pin,
		},
		"pins": {
			"schema = 1\n[search] # s\nsynonyms = 'x' # x\n[[search.pins]] # first\nqueries=['a']\nurl='http://b.test/'\n",
			"schema = 1\n[search] # s\nsynonyms = 'own.txt' # x\n[[search.pins]] # first\nqueries=['a']\nurl='http://b.test/'\n" + pin,
		},
		"inline": {"schema = 1\nsearch = { name = 'A', pins = [{queries=['a'], url='http://b.test/'}] }\n", ""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			dir := t.TempDir()
			conf := New(dir)
			if c.before != "" {
				if err := os.WriteFile(Path(dir), []byte(strings.ReplaceAll(c.before, "\n", end)), 0o600); err != nil {
					t.Fatal(err)
				}
				var err error
				if conf, err = Read(dir); err != nil {
					t.Fatal(name, err)
				}
			}
			pins := len(conf.Search.Pins)
			conf.Search.Synonyms = "own.txt"
			conf.Search.Pins = append(conf.Search.Pins, Pin{Queries: []string{`wi "fi"`, "wlan"}, URL: "http://a.test/", Note: "new"})
			if err := conf.Write(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			again, err := Read(dir)
			if err != nil || len(again.Search.Pins) != pins+1 || again.Search.Pins[pins].Note != "new" || again.Search.Synonyms != "own.txt" {
				t.Errorf("%s: %+v, %v", name, again, err)
			}
			if want := strings.ReplaceAll(c.after, "\n", end); want != "" && string(conf.content) != want {
				t.Errorf("%s:\n%s\nwant\n%s", name, conf.content, want)
			}
		}
	}
}

// TestSearchKeys sets and unsets keys of [search]. Other lines and comments stay, and a value that is no list or
// neither true nor false where that is wanted is refused.
func TestSearchKeys(t *testing.T) {
	dir := t.TempDir()
	before := "schema = 1\n[search] # s\nname = 'A' # n\naccent = '#000000'\n# p\n[[search.pins]]\nqueries = ['a']\nurl = 'http://b.test/'\n"
	if err := os.WriteFile(Path(dir), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		key    string
		values []string
	}{{"login", []string{"1"}}, {"login", []string{"true", "true"}}, {"name", []string{"A", "B"}}} {
		if err := c.Search.Set(wrong.key, wrong.values); err == nil {
			t.Errorf("%+v is not refused", wrong)
		}
	}
	for key, values := range map[string][]string{"name": {"B"}, "login": {"true"}, "languages": {"de", "en"}} {
		if err := c.Search.Set(key, values); err != nil {
			t.Fatal(key, err)
		}
	}
	if !c.Search.Unset("accent") || c.Search.Unset("ranking") {
		t.Error("accent is not unset, or ranking is")
	}
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	want := "schema = 1\n[search] # s\nname = 'B' # n\nlanguages = ['de', 'en']\nlogin = true\n# p\n[[search.pins]]\nqueries = ['a']\nurl = 'http://b.test/'\n"
	if got, err := os.ReadFile(Path(dir)); err != nil || string(got) != want {
		t.Errorf("%s\nwant\n%s (%v)", got, want, err)
	}
}
