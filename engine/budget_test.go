package engine_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/disk/docindex"
	"anatomy/internal/test/testweb"
	"anatomy/urlserver"
)

// TestBreedingSite: a site whose pages are all new, and lead to new ones without end, is left when a
// budget is used up. Trace of a URL that is not fetched names the budget.
func TestBreedingSite(t *testing.T) {
	words := testweb.WordsOf(600)
	for name, budget := range map[docindex.Budget]urlserver.Budget{
		docindex.URLBudget:     {URLs: 200},
		docindex.ByteBudget:    {Bytes: 100_000},
		docindex.ParsingBudget: {Parsing: 5 * time.Millisecond},
	} {
		w := testweb.New(t)
		w.Handle("maze.test", func(to http.ResponseWriter, r *http.Request) {
			to.Header().Set("Content-Type", "text/html")
			fmt.Fprint(to, "<title>a</title><p>")
			for range 150 {
				fmt.Fprint(to, words[rand.IntN(len(words))], " ")
			}
			for range 5 {
				fmt.Fprintf(to, "<a href=/%d>more</a> ", rand.Uint32())
			}
		})
		o := w.Options(filepath.Join(t.TempDir(), "data"), "http://maze.test/")
		o.URLs.SiteBudget = budget
		stats := testweb.Crawl(t, o)
		least := 20
		if name == docindex.ParsingBudget {
			least = 1 // how many pages 5 ms are enough for depends on the machine
		}
		if n := len(w.Requests()); n < least || n > 2000 { // without a budget it would not end
			t.Errorf("%s: %d pages were asked for", name, n)
		}
		isURLs := name == docindex.URLBudget
		if (stats.Waiting[name.String()] == 1) == isURLs || (stats.Traps[docindex.OverURLs.String()] > 0) != isURLs {
			t.Errorf("%s: waiting %v, refused %v", name, stats.Waiting, stats.Traps)
		}
		for _, r := range testweb.Records(t, o.Dir) {
			if r.State == docindex.Queued || r.State == docindex.Trapped {
				if trace := testweb.TraceOf(t, o.Dir, r.URL); !strings.Contains(trace, name.String()) {
					t.Errorf("%s: trace of %s:\n%s", name, r.URL, trace)
				}
				break
			}
		}
		testweb.Checked(t, o.Dir)
	}
}
