package tuning

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/config"
	"anatomy/eval"
	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/web/admin"
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
	var o searcher.Options
	err := rules.OpenSearch(dir, &o, func(stays string, err error) { t.Error(stays, err) })
	same, pinned := o.Synonyms, o.Pins
	if err != nil || same.Content().Of("left") != nil {
		t.Fatalf("a file that is not named: %v, %v", same.Content(), err)
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
	do(tuned.SetMark("wifi  password", "http://a.test/wlan", admin.Right))
	do(tuned.SetMark("lunch", "http://a.test/menu", admin.Right))
	do(tuned.SetMark("wifi password", "http://a.test/wlan2", admin.Right))
	do(tuned.SetMark("WiFi password", "http://a.test/wlan", admin.Right))
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
		"Enter a query":     func() (string, error) { return tuned.SetMark(" ", "http://b.test/", admin.Right) },
		"is not a valid":    func() (string, error) { return tuned.SetMark("x", "b", admin.Wrong) },
	} {
		if result, err := change(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, %v", name, result, err)
		}
	}
	if got := files(); got != want {
		t.Errorf("a wrong change left\n%s", got)
	}
}

// TestMarks follows the file of judged queries through marks that are set, changed and taken back. Lines
// and pages that others wrote stay.
func TestMarks(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "judged.tsv")
	const own = "mine\thttp://a.test/1 http://a.test/one\thttp://a.test/2\r\n\nother\td7\n"
	if err := os.WriteFile(name, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	tuned := New(dir)
	for i, c := range []struct {
		query, url string
		mark       admin.Mark
		want       string
	}{
		{"mine", "http://a.test/2", admin.Right, own},
		{"mine", "http://a.test/3", admin.None, own},
		{"unknown", "http://a.test/3", admin.None, own},
		{" Mine ", "https://a.test/2/index.html", admin.None, own},
		{"Mine", "http://a.test/3", admin.Wrong, "mine\thttp://a.test/1 http://a.test/one\thttp://a.test/2\t-http://a.test/3\n\nother\td7\n"},
		{"mine", "https://a.test/one", admin.Wrong, "mine\thttp://a.test/1\thttp://a.test/2\t-http://a.test/3\t-https://a.test/one\n\nother\td7\n"},
		{"mine", "https://a.test/3", admin.Right, "mine\thttp://a.test/1\thttp://a.test/2\t-https://a.test/one\thttps://a.test/3\n\nother\td7\n"},
		{"new\tquery", "http://a.test/4", admin.Wrong, "mine\thttp://a.test/1\thttp://a.test/2\t-https://a.test/one\thttps://a.test/3\n\nother\td7\nnew query\t-http://a.test/4\n"},
		{"new query", "http://a.test/4", admin.None, "mine\thttp://a.test/1\thttp://a.test/2\t-https://a.test/one\thttps://a.test/3\n\nother\td7\n"},
	} {
		if _, err := tuned.SetMark(c.query, c.url, c.mark); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != c.want {
			t.Errorf("%d: %q\nwant %q, %v", i, text, c.want, err)
		}
	}
	marks, err := tuned.Marks("MINE", []string{"https://a.test/1/", "http://a.test/1", "http://a.test/one", "http://a.test/4"})
	if want := []admin.Mark{admin.None, admin.Right, admin.Wrong, admin.None}; err != nil || !slices.Equal(marks, want) {
		t.Errorf("%q, %v", marks, err)
	}
	if _, err := tuned.DropJudged("Mine"); err != nil {
		t.Fatal(err)
	}
	judged, err := tuned.Judged()
	if err != nil || len(judged) != 1 || judged[0].Query != "other" || !slices.Equal(judged[0].Right, []string{"d7"}) {
		t.Errorf("%+v, %v", judged, err)
	}
	for _, query := range []string{strings.Repeat("x", 3000), "a\x00b"} {
		if _, err := tuned.SetMark(query, "http://a.test/", admin.Right); err == nil {
			t.Errorf("%.20q was judged", query)
		}
	}
	if err := os.WriteFile(name, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tuned.SetMark("x", "http://a.test/", admin.Right); err == nil {
		t.Error("a file that is too large was read")
	}
}
