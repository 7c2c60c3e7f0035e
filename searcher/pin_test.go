package searcher_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"anatomy/searcher"
	"anatomy/searcher/pins"
	"anatomy/searcher/reload"
)

// A pinBoard is a file of pins that a test changes.
type pinBoard struct {
	t       *testing.T
	path    string
	version time.Time
	table   *pins.Table
	file    *pins.File
}

func newPinBoard(t *testing.T) *pinBoard {
	b := &pinBoard{t: t, path: filepath.Join(t.TempDir(), "pins"), version: time.Unix(1e9, 0)}
	var err error
	b.file, err = reload.Open(b.path, func(string) (*pins.Table, error) { return b.table, nil }, func(err error) { t.Error(err) })
	must(t, err)
	return b
}

// set makes the searcher use some pins.
func (b *pinBoard) set(s *searcher.Searcher, all ...pins.Pin) {
	var problems []pins.Problem
	if b.table, problems = pins.New(all); len(problems) > 0 {
		b.t.Fatal(problems)
	}
	must(b.t, os.WriteFile(b.path, nil, 0o600))
	b.version = b.version.Add(time.Second)
	must(b.t, os.Chtimes(b.path, b.version, b.version))
	_, err := s.Refresh()
	must(b.t, err)
}

// listed returns all results of a request, page by page.
func listed(t failer, s *searcher.Searcher, r searcher.Request) (all []searcher.Result, last *searcher.Response) {
	for {
		r.Offset, r.Within = len(all), time.Hour
		resp, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		all = append(all, resp.Results...)
		if !resp.Next {
			return all, resp
		}
	}
}

// TestPins checks that the pinned page comes first if it meets the filters of the query and of the
// preferences and is on no blocked site, that the other results are those without pins in the same order, that the number of
// results is the one that can be listed, and that nothing else changes.
func TestPins(t *testing.T) {
	shown, absent, withheld := 0, 0, 0
	for _, candidates := range []int{1, 5, 1000} {
		c := collect(11, 3)
		c.Candidates = candidates
		f := newFolder(t)
		plain := f.hold(c)
		board := newPinBoard(t)
		s := f.open(searcher.Options{
			Candidates: candidates, Weights: c.Weights, Links: c.Links, Pins: board.file, AnswerBytes: 1 << 20,
		})
		all := urls()
		conditions := []string{"", "", "site:x.org", "site:y.com/dir", "-(page)", "-site:xx.org", "lang:en", "lang:ja -(c d)", "inurl:absent"}
		rapid.Check(t, func(rt *rapid.T) {
			words := rapid.SliceOfN(rapid.SampledFrom(lexicon), 1, 4).Draw(rt, "words")
			condition := rapid.SampledFrom(conditions).Draw(rt, "conditions")
			url := rapid.SampledFrom(append([]string{"http://absent.org/"}, all...)).Draw(rt, "url")
			sites := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x.org", "y.com", "127.0.0.1"}), 0, 1, rapid.ID)
			r := searcher.Request{
				Query: strings.TrimSpace(strings.Join(words, " ") + " " + condition),
				Limit: rapid.IntRange(1, 20).Draw(rt, "limit"), Ungrouped: rapid.Bool().Draw(rt, "ungrouped"),
				Strict: rapid.Bool().Draw(rt, "strict"), Explain: rapid.Bool().Draw(rt, "explain"),
			}
			blocked := sites.Draw(rt, "block")
			if filters := rapid.SampledFrom([]string{"", "", "site:x.org", "-site:y.com", "lang:en"}).Draw(rt, "filters"); len(blocked) > 0 || filters != "" {
				r.Preferences = &searcher.Preferences{Block: blocked, Filters: filters}
			}
			slices.Reverse(words)
			board.set(s, pins.Pin{
				Queries: []string{"another query", strings.ToUpper(strings.Join(words, "  "))}, URL: url,
				Title: "Title", Note: "Note",
			})
			want, before := listed(rt, plain, r)
			got, after := listed(rt, s, r)
			if before.Listed() != len(want) || after.Listed() != len(got) {
				rt.Fatalf("%+v: %d of %d results are listed, with a pin %d of %d",
					r, len(want), before.Listed(), len(got), after.Listed())
			}
			same := r
			same.Query, same.Strict = strings.TrimSpace("info:"+url+" "+condition), true
			allowed, err := plain.Search(context.Background(), same)
			if err != nil {
				rt.Fatal(err)
			}
			pinned := len(allowed.Results) == 1 && allowed.Results[0].URL == url && condition != "inurl:absent"
			if pinned {
				shown++
				if len(got) == 0 || got[0].URL != allowed.Results[0].URL || got[0].Title != "Title" ||
					got[0].Pin == nil || got[0].Pin.Note != "Note" || len(got[0].Missing) > 0 {
					rt.Fatalf("%+v: %+v, want first %s", r, got, url)
				}
				if at := slices.IndexFunc(want, func(w searcher.Result) bool { return w.Doc == got[0].Doc }); at >= 0 {
					want = slices.Delete(want, at, at+1)
				}
				e, err := s.Explain(context.Background(), r, url)
				if err != nil || !e.Pinned || e.Score != got[0].Score && before.Most == 0 {
					rt.Fatalf("%+v: %s scores %d, is explained by %+v, %v", r, url, got[0].Score, e, err)
				}
				got = got[1:]
			} else if len(want) == 0 {
				absent++
			} else {
				withheld++
			}
			if len(got) != len(want) {
				rt.Fatalf("%+v: %d results beside the pin, want %d", r, len(got), len(want))
			}
			for i := range got {
				if got[i].Doc != want[i].Doc || got[i].Score != want[i].Score || got[i].Pin != nil {
					rt.Fatalf("%+v: number %d is %+v, want %+v", r, i, got[i], want[i])
				}
			}
		})
	}
	if shown == 0 || absent == 0 || withheld == 0 {
		t.Errorf("pages were pinned %d times; %d and %d queries had none", shown, absent, withheld)
	}
}

// TestNoPins checks that results by date, near-duplicates of a page, measures of ranking and exports
// have no pins.
func TestNoPins(t *testing.T) {
	f := newFolder(t)
	f.add(pagesOf(textPage(1, "http://x.org/1", "red"), textPage(2, "http://x.org/2", "blue")), bare)
	f.publish()
	board := newPinBoard(t)
	s := f.open(searcher.Options{Pins: board.file})
	board.set(s, pins.Pin{Queries: []string{"red"}, URL: "http://x.org/2"})
	for _, c := range []struct {
		r    searcher.Request
		want int
	}{
		{searcher.Request{Query: "red"}, 2}, {searcher.Request{Query: "red", Ungrouped: true}, 2},
		{searcher.Request{Query: "red sort:date"}, 1}, {searcher.Request{Query: "red", Similar: 1}, 1},
		{searcher.Request{Query: "red", Bare: true}, 1},
	} {
		if got, resp := listed(t, s, c.r); len(got) != c.want || resp.Listed() != c.want {
			t.Errorf("%+v: %d results, %d are listed; want %d", c.r, len(got), resp.Listed(), c.want)
		}
	}
	n := 0
	resp, err := s.All(t.Context(), searcher.Request{Query: "red"}, 0, func(*searcher.Result) error {
		n++
		return nil
	})
	if err != nil || n != 1 || resp.Total != 1 {
		t.Errorf("an export has %d results of %d, %v", n, resp.Total, err)
	}
	board.set(s)
	if got, _ := listed(t, s, searcher.Request{Query: "red"}); len(got) != 1 {
		t.Errorf("without the pin: %d results", len(got))
	}
}
