package tuning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/config"
	"anatomy/eval"
	"anatomy/searcher/query"
)

// TestTuning checks that synonyms, pins and judged queries reach their files, that comments of these
// stay, that an open searcher gets them without a restart, and that wrong ones change nothing.
func TestTuning(t *testing.T) {
	dir := t.TempDir()
	const before = "# ask ada\nschema = 1\n[crawl]\ndelay = '5s' # slow\n"
	if err := os.WriteFile(config.Path(dir), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "synonyms.txt"), []byte("left = over\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	same, err := rules.OpenSynonyms(dir, func(err error) { t.Error(err) })
	if err != nil || same.Content().Of("left") != nil {
		t.Fatalf("a file that is not named: %v, %v", same.Content(), err)
	}
	pinned, err := rules.OpenPins(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	tuned := New(dir)
	do := func(result string, err error) {
		t.Helper()
		if err != nil || result == "" {
			t.Errorf("%q, %v", result, err)
		}
	}
	do(tuned.AddSynonyms(" postgres  = PostgreSQL "))
	do(tuned.AddSynonyms("js = javascript"))
	do(tuned.AddPin(" Wi-Fi ", "http://a.test/wlan", "", "New"))
	do(tuned.AddPin("lunch", "http://a.test/menu", "Menu", ""))
	do(tuned.AddJudged("wifi  password", "http://a.test/wlan"))
	do(tuned.AddJudged("lunch", "http://a.test/menu"))
	do(tuned.AddJudged("wifi password", "http://a.test/wlan2"))
	do(tuned.AddJudged("wifi password", "http://a.test/wlan"))
	files := func() (all string) {
		for _, name := range []string{"anatomy.toml", "synonyms.txt", "judged.tsv"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all += string(text) + "---\n"
		}
		return all
	}
	want := before + `
[search]
synonyms = 'synonyms.txt'

[[search.pins]]
queries = ['Wi-Fi']
url = 'http://a.test/wlan'
note = 'New'

[[search.pins]]
queries = ['lunch']
url = 'http://a.test/menu'
title = 'Menu'
---
left = over
postgres = PostgreSQL
js = javascript
---
wifi password	http://a.test/wlan	http://a.test/wlan2
lunch	http://a.test/menu
---
`
	if got := files(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if judged, err := eval.ReadTSV(strings.NewReader(strings.Split(want, "---\n")[2]), "f"); err != nil || len(judged) != 2 {
		t.Errorf("%v, %v", judged, err)
	}
	same.Reload()
	pinned.Reload()
	if got := same.Content().Of("postgres"); len(got) != 1 || got[0] != "postgresql" {
		t.Errorf("synonyms %q", got)
	}
	if pin, _ := pinned.Content().Of(query.Parse("wi fi")); pin == nil || pin.URL != "http://a.test/wlan" {
		t.Errorf("pin %+v", pin)
	}
	for name, change := range map[string]func() (string, error){
		"is also pinned to": func() (string, error) { return tuned.AddPin("LUNCH", "http://b.test/", "", "") },
		"not a valid URL":   func() (string, error) { return tuned.AddPin("x", "javascript:x", "", "") },
		"list of words":     func() (string, error) { return tuned.AddPin("x OR y", "http://b.test/", "", "") },
		"no synonym":        func() (string, error) { return tuned.AddSynonyms("x") },
		"several words":     func() (string, error) { return tuned.AddSynonyms("x = y z") },
		"Enter words":       func() (string, error) { return tuned.AddSynonyms("# x") },
		"Enter a query":     func() (string, error) { return tuned.AddJudged(" ", "http://b.test/") },
		"is not a valid":    func() (string, error) { return tuned.AddJudged("x", "b") },
	} {
		if result, err := change(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, %v", name, result, err)
		}
	}
	if got := files(); got != want {
		t.Errorf("a wrong change left\n%s", got)
	}
}
