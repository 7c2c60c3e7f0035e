package searcher_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

func manyPages(t testing.TB, n int) *folder {
	f := newFolder(t)
	s := pagesOf()
	for i := range n {
		words := []string{"common", fmt.Sprint("n", i)}
		if i%2 == 0 {
			words = append(words, "even")
		}
		s.Documents = append(s.Documents, textPage(vocab.DocID(i+1), fmt.Sprintf("http://h%d.org/%d", i%10, i), words...))
	}
	f.add(s, bare)
	f.publish()
	return f
}

// TestLongPage checks that a section far from the beginning of a page is found.
func TestLongPage(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://a.org/errors", "e0499")), func(d *oracle.Document) vocab.DocInfo {
		info := bare(d)
		info.Text = "Errors\n" + strings.Repeat("One line of many.\n", 10_000) + "\f2e\fE0499\nA second mutable borrow.\n"
		return info
	})
	f.publish()
	resp, err := f.open(searcher.Options{}).Search(context.Background(), searcher.Request{Query: "E0499"})
	must(t, err)
	if len(resp.Results) != 1 || resp.Results[0].Section.ID != "e" || len(resp.Results[0].Snippet) == 0 ||
		resp.Results[0].Snippet[0].Text != "A second mutable borrow." {
		t.Errorf("%+v", resp.Results)
	}
}

func TestRequestBounds(t *testing.T) {
	s := manyPages(t, 500).open(searcher.Options{})
	for _, c := range []struct {
		offset, limit, results int
		next                   bool
	}{
		{0, 0, 10, true}, {0, -1, 10, true}, {-5, 3, 3, true}, {0, 1000, 100, true}, {490, 10, 10, false}, {495, 10, 5, false}, {500, 10, 0, false}, {1 << 40, 10, 0, false},
	} {
		resp, err := s.Search(context.Background(), searcher.Request{Query: "common", Offset: c.offset, Limit: c.limit})
		must(t, err)
		if len(resp.Results) != c.results || resp.Next != c.next || resp.Total != 500 || !resp.Exact {
			t.Errorf("offset %d limit %d: %d results of %d, next %v", c.offset, c.limit, len(resp.Results), resp.Total, resp.Next)
		}
		if c.results == 0 && resp.Why == "" {
			t.Errorf("offset %d: no reason", c.offset)
		}
	}
}

func TestWhy(t *testing.T) {
	s := manyPages(t, 20).open(searcher.Options{})
	for text, want := range map[string]string{
		"":                    "empty",
		" \n":                 "empty",
		"!!":                  "“!!”",
		"…":                   "no words",
		"sort:date":           "no words",
		"-common":             "only excludes",
		"common OR -even":     "only excludes",
		"common absent":       "“absent”",
		"foo bar":             "“foo”, “bar”",
		"n1 n2":               "all of the query",
		"site:nowhere.org":    "all of the query",
		`"even common"`:       "all of the query",
		"intitle:common even": "all of the query",
	} {
		resp, err := s.Search(context.Background(), searcher.Request{Query: text, Strict: true})
		must(t, err)
		if len(resp.Results) != 0 || !strings.Contains(resp.Why, want) {
			t.Errorf("%q: %d results, %q, want %q", text, len(resp.Results), resp.Why, want)
		}
	}
}

// TestHostileQueries checks that hostile queries end, and how they are understood.
func TestHostileQueries(t *testing.T) {
	s := manyPages(t, 200).open(searcher.Options{})
	var many strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&many, "n%d OR ", i)
	}
	for name, text := range map[string]string{
		"many words": many.String(), "deep": strings.Repeat("(common -(", 1000), "one letter": strings.Repeat("a", 1<<20),
		"controls": strings.Repeat("\x00\x07", 1<<16), "quotes": strings.Repeat(`"common" `, 1000), "negations": strings.Repeat("-even ", 100) + "common",
		"operators": "intitel:common sit:h1.org inurl: OR | ( -", "sites": strings.Repeat("site:org OR ", 100), "not utf-8": "common \xff\xfe",
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := s.Search(context.Background(), searcher.Request{Query: text, Within: time.Hour})
			if err != nil || resp.Partial || len(resp.Interpreted) > 10<<10 {
				t.Errorf("%v, partial %v, interpreted in %d bytes", err, resp.Partial, len(resp.Interpreted))
			}
			if cut := len(resp.Cut) > 0; cut != (len(text) > 8<<10 || name == "sites" || name == "negations") {
				if name == "quotes" || name == "deep" || name == "many words" || cut {
					t.Logf("cut: %q", resp.Cut)
				} else {
					t.Errorf("nothing is said about what was left out")
				}
			}
		})
	}
}

// TestOutOfTime checks that a query without time left sets Partial and returns what it has.
func TestOutOfTime(t *testing.T) {
	s := manyPages(t, 5000).open(searcher.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, text := range []string{"common", "common even", "common OR even", "common -n1", `"common n1" OR common`, "site:org"} {
		resp, err := s.Search(ctx, searcher.Request{Query: text})
		must(t, err)
		if resp.Exact || !resp.Partial || resp.Total >= 5000 {
			t.Errorf("%s: %d results, exact %v, partial %v", text, resp.Total, resp.Exact, resp.Partial)
		}
		if len(resp.Results) == 0 && resp.Why == "" {
			t.Errorf("%s: nothing found and no reason", text)
		}
	}
	if _, err := s.Explain(ctx, searcher.Request{Query: "common"}, "http://h1.org/1"); err != nil {
		t.Error(err)
	}
}

// TestDamagedSegment checks that other segments answer, that the response says so in words for
// visitors, and that the damage is reported with the name of the segment.
func TestDamagedSegment(t *testing.T) {
	f := manyPages(t, 300) // more: pebble tries every bit of a damaged block, in time that grows with its square
	f.add(pagesOf(textPage(9000, "http://z.org/", "common")), bare)
	f.publish()
	files, err := filepath.Glob(filepath.Join(datadir.Segment(f.dir, "000001"), "*.sst"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no tables in the segment")
	}
	hurt := 0
	var said strings.Builder
	found := damage.NewLog(slog.New(slog.NewTextHandler(&said, nil)))
	for _, path := range files {
		whole, err := os.ReadFile(path)
		must(t, err)
		for at := len(whole) / 20; at < len(whole); at += len(whole) / 5 {
			damaged := append([]byte(nil), whole...)
			damaged[at] ^= 0x55
			must(t, os.WriteFile(path, damaged, 0o644))
			s, err := searcher.Open(f.dir, searcher.Options{Damage: found})
			if err != nil {
				if !strings.Contains(err.Error(), "000001") {
					t.Errorf("the error does not name the segment: %v", err)
				}
				hurt++
				continue
			}
			resp, err := s.Search(context.Background(), searcher.Request{Query: `common "common n1"  OR even`})
			must(t, err)
			if resp.Partial {
				hurt++
				if resp.Exact || !resp.Damaged || !strings.Contains(resp.Why, "damaged") || strings.Contains(resp.Why, "000001") || resp.Total == 0 {
					t.Errorf("%d results, exact %v, and the reason is %q", resp.Total, resp.Exact, resp.Why)
				}
			}
			must(t, s.Close())
		}
		must(t, os.WriteFile(path, whole, 0o644))
	}
	if hurt == 0 {
		t.Error("no damage was found")
	}
	lines := strings.Count(said.String(), "\n")
	if n := found.Counts()[damage.Index]; n == 0 || n != lines || strings.Count(said.String(), "000001") < lines || !strings.Contains(said.String(), damage.Repair) {
		t.Errorf("%d problems of the index in %d lines\n%s", n, lines, &said)
	}
}
