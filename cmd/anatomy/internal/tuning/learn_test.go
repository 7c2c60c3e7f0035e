package tuning

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
	"anatomy/web/admin"
)

// colours and animals give queries of two words.
var (
	colours = []string{"amber", "violet", "crimson", "indigo"}
	animals = []string{"heron", "badger", "otter"}
)

// crawlPairs crawls a web in which each query of a colour and an animal has a page with a heading of both
// words and one whose text has them often.
func crawlPairs(t *testing.T) (dir string, web *testweb.Web) {
	dir, web = filepath.Join(t.TempDir(), "data"), testweb.New(t)
	var links strings.Builder
	for _, colour := range colours {
		for _, animal := range animals {
			name := colour + "-" + animal
			fmt.Fprintf(&links, `<a href="/t/%s">one</a> <a href="/x/%s">two</a> `, name, name)
			web.Page("pairs.test/t/"+name, "<title>Notes from a walk</title><h2>"+colour+" "+animal+"</h2><p>Along the river on a cold day.")
			text := strings.Repeat("The "+colour+" "+animal+" sleeps. ", 4)
			web.Page("pairs.test/x/"+name, "<title>Field report</title><p>"+text+"Seen near the bridge.")
		}
	}
	web.Page("pairs.test/", "<title>All</title>"+links.String())
	testweb.Crawl(t, web.Options(dir, "http://pairs.test/"))
	return dir, web
}

// TestLearn judges results, learns weights from that, looks at the changed order, and keeps and discards
// the weights. An open searcher ranks by those that are kept, and by the default ones afterwards.
func TestLearn(t *testing.T) {
	dir, _ := crawlPairs(t)
	weights, err := quality.OpenWeights(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	s, err := searcher.Open(dir, searcher.Options{Tuned: weights, AnswerBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := func(query string) string {
		t.Helper()
		if _, err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
		return testweb.Results(t, s, query)[0].URL
	}
	state := s.Stats().State
	tuned := New(dir)
	say := func(string) {}
	if said, err := tuned.Learn(t.Context(), say); err == nil || !strings.Contains(err.Error(), "No query is judged") {
		t.Errorf("without judged queries: %q, %v", said, err)
	}
	wrong := map[string]string{} // by query, what is first and will be judged wrong
	for _, colour := range colours {
		for _, animal := range animals {
			query := colour + " " + animal
			wrong[query] = first(query)
			right := strings.NewReplacer("/t/", "/x/", "/x/", "/t/").Replace(wrong[query])
			for url, mark := range map[string]admin.Mark{wrong[query]: admin.Wrong, right: admin.Right} {
				if _, err := tuned.SetMark(query, url, mark); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var progress []string
	said, err := tuned.Learn(t.Context(), func(text string) { progress = append(progress, text) })
	if err != nil || !strings.HasPrefix(said, "MRR@10 1.0000, was 0.5000") || len(progress) == 0 {
		t.Fatalf("%q, %v, %q", said, err, progress)
	}
	p := tuned.Proposal()
	if p == nil || p.Queries != 12 || p.Before.MRR10 != .5 || p.After.MRR10 != 1 || p.Before.Queries != 12 || p.Cut || len(p.Changed) == 0 {
		t.Fatalf("%+v", p)
	}
	if p.Others == nil || p.Others.MRR10 != 1 || p.Low != .5 {
		t.Errorf("on others: %+v, from %g", p.Others, p.Low)
	}
	if len(p.Orders) != 12 || p.Same != 0 {
		t.Fatalf("%d orders, %d the same", len(p.Orders), p.Same)
	}
	for _, o := range p.Orders {
		if b, a := o.Before[0], o.After[0]; b.URL != wrong[o.Query] || b.Mark != admin.Wrong || a.URL != o.Before[1].URL || a.Mark != admin.Right ||
			b.Other != 2 || a.Other != 2 || o.Before[1].Other != 1 {
			t.Errorf("%s: %+v", o.Query, o)
		}
	}
	const query = "violet otter"
	if first(query) != wrong[query] || tuned.HasWeights() {
		t.Error("weights count before they are kept")
	}
	if _, err := tuned.KeepWeights(p.Number + 1); err == nil {
		t.Error("another proposal was kept")
	}
	if _, err := tuned.KeepWeights(p.Number); err != nil || !tuned.HasWeights() || tuned.Proposal() != nil {
		t.Fatalf("not kept: %v", err)
	}
	if got := first(query); got == wrong[query] || s.Stats().State == state {
		t.Errorf("%s is still first, state %s", got, s.Stats().State)
	}
	if err := quality.WithWeights(dir, "", func(own *searcher.Searcher) error {
		if got := testweb.Results(t, own, query)[0].URL; got == wrong[query] {
			t.Errorf("on the command line %s is still first", got)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	// Nothing is better than these.
	if said, err := tuned.Learn(t.Context(), say); err != nil || !strings.Contains(said, "No other weights") || tuned.Proposal() != nil {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := tuned.DropWeights(); err != nil {
		t.Fatal(err)
	}
	if got := first(query); got != wrong[query] || s.Stats().State != state {
		t.Errorf("by the default weights %s is first", got)
	}
	if _, err := tuned.DropWeights(); err != nil {
		t.Errorf("the default weights again: %v", err)
	}
	if _, err := tuned.Learn(t.Context(), say); err != nil {
		t.Fatal(err)
	}
	p = tuned.Proposal()
	if err := tuned.DiscardWeights(p.Number); err != nil || tuned.Proposal() != nil || tuned.DiscardWeights(p.Number) == nil {
		t.Errorf("not discarded: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tuned.Learn(ended, say); err == nil {
		t.Error("learnt although the server ended")
	}
	// A file that is wrong changes nothing, and is an error where it is opened.
	var failed []error
	later, err := quality.OpenWeights(dir, func(err error) { failed = append(failed, err) })
	if err != nil || later.Content() != nil {
		t.Fatalf("%v, %v", later.Content(), err)
	}
	if err := os.WriteFile(quality.OwnWeights(dir), []byte(`{"Lenght": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if later.Reload(); len(failed) != 1 || later.Content() != nil {
		t.Errorf("%v, %v", failed, later.Content())
	}
	if _, err := quality.OpenWeights(dir, func(error) {}); err == nil {
		t.Error("wrong weights were opened")
	}
}

// TestLearnFromWrong: queries of which only wrong pages are known move these down.
func TestLearnFromWrong(t *testing.T) {
	dir, _ := crawlPairs(t)
	tuned := New(dir)
	if err := quality.WithWeights(dir, "default", func(s *searcher.Searcher) error {
		for _, colour := range colours {
			query := colour + " heron"
			if _, err := tuned.SetMark(query, testweb.Results(t, s, query)[0].URL, admin.Wrong); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := tuned.Learn(t.Context(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	p := tuned.Proposal()
	if p == nil || p.Before.Queries != 0 || p.Others != nil || len(p.Orders) != 4 {
		t.Fatalf("%+v", p)
	}
	for _, o := range p.Orders {
		if slices.ContainsFunc(o.After[:1], func(p admin.Place) bool { return p.Mark == admin.Wrong }) {
			t.Errorf("%s: a wrong page is first: %+v", o.Query, o.After)
		}
	}
}
