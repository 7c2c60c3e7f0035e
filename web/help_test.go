package web

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"anatomy/searcher/query"
	"anatomy/web/internal/params"
	"anatomy/web/pages"
)

// All that the table of doc/query.md explains is on the help page, and every example there is a link to
// a search for something.
func TestHelp(t *testing.T) {
	s := fullServer()
	body := get(t, s, "/help", http.StatusOK)
	linked := map[string]bool{}
	for _, m := range regexp.MustCompile(`<a href="(/search\?[^"]*)"><code>`).FindAllStringSubmatch(body, -1) {
		target := html.UnescapeString(m[1])
		get(t, s, target, http.StatusOK)
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query().Get("q")
		if root := query.Parse(q).Root; root == nil || !root.Positive() {
			t.Errorf("%s asks for nothing", q)
		}
		linked[q] = true
	}
	doc, err := os.ReadFile("../doc/query.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "|---|")
	table, _, _ = strings.Cut(table, "\n\n")
	examples := 0
	for _, row := range strings.Split(table, "\n")[1:] {
		cell := strings.Split(strings.ReplaceAll(row, `\|`, "\x00"), "|")[1]
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			examples++
			if q := strings.ReplaceAll(m[1], "\x00", "|"); !linked[q] {
				t.Errorf("the help page does not have %s", q)
			}
		}
	}
	if examples < 10 || len(linked) < 15 {
		t.Errorf("%d examples in the document, %d on the page", examples, len(linked))
	}
}

// The form writes queries that mean what its fields say.
func TestAdvanced(t *testing.T) {
	s := newServerOf(Options{Collection: newFake(), Now: func() time.Time { return time.Date(2026, 3, 31, 1, 2, 3, 0, time.UTC) }})
	for form, want := range map[string]string{
		"all=one+two":                           "one two",
		"phrase=%22new+york%22":                 `"new york"`,
		"any=cat+dog":                           "(cat OR dog)",
		"any=cat":                               "cat",
		"all=a&none=b+%22c+d%22":                `a -b -"c d"`,
		"all=a&none=-b+--c+-+-%22d+e%22":        `a -b -c -"d e"`,
		"all=a&none=-":                          "a",
		"all=a&site=x.org,y.org%2Fz":            "a (site:x.org OR site:y.org/z)",
		"all=a&notsite=x.org+y.org":             "a -site:x.org -site:y.org",
		"title=one+%E2%80%9Ctwo+three%E2%80%9D": `intitle:one intitle:"two three"`,
		"url=blog&anchor=manual":                "inurl:blog inanchor:manual",
		"all=a&phrase=%22%22&any=+&num=20":      "a",
		"all=a&lang=de-AT,+PT&filetype=pdf":     "a (lang:de OR lang:pt) filetype:pdf",
		"lang=de&from=2024-02-28&to=2024-02-28": "lang:de after:2024-02-28 before:2024-02-29",
		"all=a&time_range=week&filetype=":       "a after:2026-03-24",
		"all=a&sort=date":                       "a sort:date",
	} {
		w := do(t, s, http.MethodGet, "/advanced?"+form)
		u, err := url.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusSeeOther || u.Path != "/search" || u.Query().Get("q") != want {
			t.Errorf("%s: %d, to %s, want q=%s", form, w.Code, u, want)
		}
		if root := query.Parse(want).Root; root == nil || query.Parse(root.String()).Root.String() != root.String() {
			t.Errorf("%s is not understood", want)
		}
	}
	if u := do(t, s, http.MethodGet, "/advanced?all=a&num=20&block=b.test").Header().Get("Location"); u != "/search?num=20&q=a&block=b.test" {
		t.Errorf("number and preferences are lost: %s", u)
	}
	for _, form := range []string{"", "?all=", "?phrase=%22", "?other=x"} {
		if body := get(t, s, "/advanced"+form, http.StatusOK); strings.Count(body, "<input id=") != len(pages.AdvancedFields) {
			t.Errorf("%s: no form", form)
		} else if !strings.Contains(body, `<option value="de" lang="de">Deutsch</option>`) {
			t.Errorf("%s: the languages of the collection are not offered", form)
		}
	}
	for _, form := range []string{"lang=%22x", "filetype=exe", "from=yesterday", "to=2024-02-30", "to=0001-01-01", "from=2024-01-01&from=2024-01-01", "time_range=decade", "all=a&all=b", "all=a&num=0", "all=a&num=x", "all=" + strings.Repeat("a", params.MaxQuery+1), "any=" + strings.Repeat("a+", 1000) + "b&title=" + strings.Repeat("b+", 1000) + "c"} {
		get(t, s, "/advanced?"+form, http.StatusBadRequest)
	}
	get(t, s, "/advanced?all="+url.QueryEscape(hostileQuery), http.StatusSeeOther)
}
