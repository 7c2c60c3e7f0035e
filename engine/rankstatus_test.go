package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/pagerank"
	"anatomy/searcher"
	"anatomy/web"
)

// TestRankByName: each query may name the vector that counts. Results, explanations and what the answer
// says of the vector follow it, as they would if it were the default one; a vector that is removed is
// unknown from then on, and a name that is none never touches a file.
func TestRankByName(t *testing.T) {
	dir, _ := crawlDemo(t)
	_, err := Rank(t.Context(), dir, RankOptions{})
	must(t, err)
	s := openSearcher(t, dir)
	const query = "page"
	ask := func(name string) *searcher.Response {
		t.Helper()
		r, err := s.Search(t.Context(), searcher.Request{Query: query, Rank: name, Explain: true, Limit: searcher.MaxLimit})
		must(t, err)
		return r
	}
	scores := func(r *searcher.Response) (all []searcher.Score) {
		for i := range r.Results {
			sum := searcher.Score(0)
			for _, part := range r.Results[i].Explanation.Parts {
				sum += part.Points
			}
			if sum != r.Results[i].Score {
				t.Errorf("%s: the parts add up to %d, the score is %d", r.Results[i].URL, sum, r.Results[i].Score)
			}
			all = append(all, r.Results[i].Score)
		}
		return all
	}
	plain := ask("")
	if plain.Rank.Name != DefaultRank || plain.Rank.Computed.IsZero() || len(plain.Results) < 10 {
		t.Fatalf("%d results by %+v", len(plain.Results), plain.Rank)
	}
	museum := RankOptions{Options: pagerank.Options{Damping: 0.5}, Personalize: []RankPlace{{"museum.test", 1}}, Name: "museum"}
	_, err = Rank(t.Context(), dir, museum)
	must(t, err)
	named := ask("museum")
	if named.Rank.Name != "museum" || named.Rank.Personalized != "museum.test" {
		t.Errorf("the answer says %+v", named.Rank)
	}
	if slices.Equal(scores(plain), scores(named)) || !slices.Equal(scores(plain), scores(ask(DefaultRank))) {
		t.Error("the scores do not follow the name")
	}
	e, err := s.Explain(t.Context(), searcher.Request{Query: query, Rank: "museum"}, named.Results[0].URL)
	if err != nil || e.Score != named.Results[0].Score {
		t.Errorf("explained as %+v, %v; the score is %d", e, err, named.Results[0].Score)
	}
	museum.Name = "" // the default one from here: what the name gave
	_, err = Rank(t.Context(), dir, museum)
	must(t, err)
	_, err = s.Refresh()
	must(t, err)
	if !slices.Equal(scores(ask("")), scores(named)) || !slices.Equal(scores(ask("museum")), scores(named)) {
		t.Error("a vector gives other scores by name than as the default")
	}
	must(t, RemoveRank(dir, "museum"))
	if err := RemoveRank(dir, "museum"); !errors.Is(err, ErrNoRank) || !strings.Contains(err.Error(), "there are default") {
		t.Errorf("removed twice: %v", err)
	}
	for _, name := range []string{"museum", "../rank/default", "Default", "x y"} {
		_, err := s.Search(t.Context(), searcher.Request{Query: query, Rank: name})
		if unknown := new(searcher.UnknownRankError); !errors.As(err, &unknown) || !slices.Equal(unknown.Known, []string{"default"}) {
			t.Errorf("asked by %q: %v", name, err)
		}
		w := httptest.NewRecorder()
		web.New(web.Options{Search: &Site{Searcher: s, dir: dir}}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/search?q=page&rank="+strings.ReplaceAll(name, " ", "+"), nil))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "there are default") {
			t.Errorf("the API on rank=%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestRankAges: a vector is told with its age, and as stale once the links grew by more than the bound.
func TestRankAges(t *testing.T) {
	dir, _ := crawlDemo(t)
	_, err := Rank(t.Context(), dir, RankOptions{})
	must(t, err)
	status := func() RankStatus {
		t.Helper()
		all, err := Ranks(dir)
		must(t, err)
		if len(all) != 1 || all[0].Name != DefaultRank {
			t.Fatalf("vectors %+v", all)
		}
		return all[0]
	}
	if r := status(); r.Stale || r.Changed != 0 || r.Pages == 0 || r.Computed.IsZero() {
		t.Errorf("just computed: %+v", r)
	}
	path := datadir.Rank(dir)
	v, err := rankvector.Read(path)
	must(t, err)
	now := v.Recorded
	for then, stale := range map[uint64]bool{now: false, now * 19 / 20: false, now / 2: true, now * 2: true, 0: false} {
		v.Recorded = then
		must(t, rankvector.Write(path, v))
		if r := status(); r.Stale != stale {
			t.Errorf("%d links then, %d now: %+v", then, now, r)
		}
	}
	must(t, os.WriteFile(datadir.RankNamed(dir, "broken"), []byte("anatrank"), 0o644))
	if _, err := Ranks(dir); err == nil || !strings.Contains(err.Error(), "broken.rank") {
		t.Errorf("a damaged vector: %v", err)
	}
}

// TestRankMethods: topics computed at a time are what they are alone; a page's host rank is that of its
// host; harmonic centrality is higher near the links; TrustRank's seeds are pages that lead far.
func TestRankMethods(t *testing.T) {
	dir, _ := crawlDemo(t)
	topics, err := ReadRankTopics(strings.NewReader("a museum.test\nb glossary.test 2\nb http://museum.test/\n"))
	must(t, err)
	reports, err := RankTopics(t.Context(), dir, topics, pagerank.Options{})
	must(t, err)
	for i, topic := range topics {
		alone, err := Rank(t.Context(), dir, RankOptions{Personalize: topic.Places, Name: "alone"})
		must(t, err)
		r := reports[i]
		if r.Name != topic.Name || r.Teleport != alone.Teleport || len(r.Vector.Ranks) != len(alone.Vector.Ranks) || len(r.Residuals) == 0 {
			t.Fatalf("topic %s: %+v", topic.Name, r)
		}
		for doc, rank := range alone.Vector.Ranks {
			if d := r.Vector.Ranks[doc] - rank; d > 1e-7 || d < -1e-7 {
				t.Errorf("topic %s: document %d has %g, alone %g", topic.Name, doc, r.Vector.Ranks[doc], rank)
			}
		}
	}
	hosts, err := Rank(t.Context(), dir, RankOptions{Method: ByHosts})
	must(t, err)
	if hosts.Name != "hosts" || hosts.HostCount < 5 {
		t.Fatalf("%+v", hosts)
	}
	one := map[string]float64{}
	for _, p := range hosts.Top {
		host, _, _ := strings.Cut(strings.TrimPrefix(p.URL, "http://"), "/")
		if before, ok := one[host]; ok && before != p.Rank {
			t.Errorf("two pages of %s have %g and %g", host, before, p.Rank)
		}
		one[host] = p.Rank
	}
	harmonic, err := Rank(t.Context(), dir, RankOptions{Method: ByHarmonic})
	must(t, err)
	sum := 0.0
	for _, r := range harmonic.Vector.Ranks {
		sum += float64(r)
	}
	if harmonic.Name != "harmonic" || sum < 0.9999 || sum > 1.0001 || harmonic.Residuals[len(harmonic.Residuals)-1] != 0 {
		t.Errorf("harmonic: sum %g, %+v", sum, harmonic)
	}
	seeds, err := TrustSeeds(t.Context(), dir, 3, pagerank.Options{})
	if err != nil || len(seeds) != 3 || seeds[0].URL == "" || seeds[0].Rank < seeds[1].Rank {
		t.Errorf("seeds %+v, %v", seeds, err)
	}
}

// rankForEver computes the default vector again and again, by two dampings in turn.
func rankForEver(dir string) error {
	for n := 0; ; n++ {
		o := RankOptions{Options: pagerank.Options{Damping: []float64{0.3, 0.6}[n%2], Progress: func(i int, _ float64) { fmt.Println("iteration", i) }}}
		if _, err := Rank(context.Background(), dir, o); err != nil {
			return err
		}
		fmt.Println("ranked")
	}
}

// TestRankKilled: whenever a computation is killed, the vector before it is whole and in force, or the new
// one is; a computation that is stopped, or cannot write, leaves it to the last byte.
func TestRankKilled(t *testing.T) {
	dir, _ := crawlDemo(t)
	_, err := Rank(t.Context(), dir, RankOptions{Options: pagerank.Options{Damping: 0.3}})
	must(t, err)
	random := rand.New(rand.NewPCG(5, 6))
	killed := 0
	for range 8 {
		c := startChild(t, childOrder{Dir: dir, Rank: true})
		left := random.IntN(60)
		c.await(func(string) bool { left--; return left < 0 })
		c.kill()
		if _, dead := c.wait(); dead {
			killed++
		}
		v, err := rankvector.Read(datadir.Rank(dir))
		must(t, err)
		if v.Damping != 0.3 && v.Damping != 0.6 || v.Residual > v.Tolerance {
			t.Errorf("after a kill the vector is %+v", *v)
		}
	}
	if killed < 8 {
		t.Errorf("%d of 8 were killed", killed)
	}
	before, err := os.ReadFile(datadir.Rank(dir))
	must(t, err)
	for at := 1; at < 12; at += 3 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Rank(ctx, dir, RankOptions{Options: pagerank.Options{Damping: 0.8, Tolerance: 1e-14, Progress: func(i int, _ float64) {
			if i == at {
				cancel()
			}
		}}})
		cancel()
		if after, failed := os.ReadFile(datadir.Rank(dir)); !errors.Is(err, context.Canceled) || failed != nil || string(after) != string(before) {
			t.Errorf("stopped after %d iterations: %v; %v; the vector is the same: %v", at, err, failed, string(after) == string(before))
		}
	}
}
