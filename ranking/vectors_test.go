package ranking_test

import (
	"bytes"
	"errors"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/internal/test/testweb"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/searcher/reload"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/web"
)

// TestRankByName: each query may name the vector that counts. Results, explanations and what the answer
// says of the vector follow it, as they would if it were the default one; a vector that is removed is
// unknown from then on, and a name that is none never touches a file.
func TestRankByName(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	s := testweb.OpenSearcher(t, dir)
	const query = "page"
	ask := func(name string) *searcher.Response {
		t.Helper()
		r, err := s.Search(t.Context(), searcher.Request{Query: query, Rank: name, Explain: true, Limit: searcher.MaxLimit})
		testweb.Must(t, err)
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
	if plain.Rank.Name != ranking.Default || plain.Rank.Computed.IsZero() || len(plain.Results) < 10 {
		t.Fatalf("%d results by %+v", len(plain.Results), plain.Rank)
	}
	without := ask("none")
	if without.Rank != (searcher.RankUsed{}) || slices.Equal(scores(plain), scores(without)) {
		t.Errorf("without ranks: %+v", without.Rank)
	}
	testweb.Must(t, ranking.Remove(dir, ranking.Default))
	_, err = s.Refresh()
	testweb.Must(t, err)
	removed := ask("")
	if !slices.Equal(scores(removed), scores(without)) || !slices.Equal(testweb.URLs(removed.Results), testweb.URLs(without.Results)) {
		t.Error("a query without ranks is answered unlike one of a folder without them")
	}
	_, err = ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	_, err = s.Refresh()
	testweb.Must(t, err)
	museum := ranking.Options{Options: pagerank.Options{Damping: 0.5}, Personalize: []ranking.TeleportTarget{{Spec: "museum.test", Weight: 1}}, Name: "museum"}
	_, err = ranking.Compute(t.Context(), dir, museum)
	testweb.Must(t, err)
	named := ask("museum")
	if named.Rank.Name != "museum" || named.Rank.Personalized != "museum.test" {
		t.Errorf("the answer says %+v", named.Rank)
	}
	if slices.Equal(scores(plain), scores(named)) || !slices.Equal(scores(plain), scores(ask(ranking.Default))) {
		t.Error("the scores do not follow the name")
	}
	e, err := s.Explain(t.Context(), searcher.Request{Query: query, Rank: "museum"}, named.Results[0].URL)
	if err != nil || e.Score != named.Results[0].Score {
		t.Errorf("explained as %+v, %v; the score is %d", e, err, named.Results[0].Score)
	}
	museum.Name = "" // the default one from here: what the name gave
	_, err = ranking.Compute(t.Context(), dir, museum)
	testweb.Must(t, err)
	_, err = s.Refresh()
	testweb.Must(t, err)
	if !slices.Equal(scores(ask("")), scores(named)) || !slices.Equal(scores(ask("museum")), scores(named)) {
		t.Error("a vector gives other scores by name than as the default")
	}
	testweb.Must(t, ranking.Remove(dir, "museum"))
	if err := ranking.Remove(dir, "museum"); !errors.Is(err, ranking.ErrNoVector) || !strings.Contains(err.Error(), "there are default") {
		t.Errorf("removed twice: %v", err)
	}
	if err := ranking.Remove(dir, "pages"); err == nil {
		t.Error("PageRank as published was removed")
	}
	half := ranking.Options{Name: "half"}
	half.Damping = 0.5
	_, err = ranking.Compute(t.Context(), dir, half)
	testweb.Must(t, err)
	if v, err := rankvector.ReadFolder(dir, "pages"); err != nil || v.Damping != pagerank.DefaultDamping {
		t.Errorf("ranks of another name are taken for PageRank as published: %v, %v", v, err)
	}
	testweb.Must(t, ranking.Remove(dir, "half"))
	for _, o := range []ranking.Options{{Name: "pages"}, {Name: "pages", Personalize: []ranking.TeleportTarget{{Spec: "museum.test", Weight: 1}}}} {
		if _, err := ranking.Compute(t.Context(), dir, o); err == nil || !strings.Contains(err.Error(), "reserved for plain PageRank") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	_, err = s.Refresh()
	testweb.Must(t, err)
	for _, name := range []string{"museum", "../rank/default", "Default", "x y"} {
		_, err := s.Search(t.Context(), searcher.Request{Query: query, Rank: name})
		if unknown := new(searcher.UnknownRankError); !errors.As(err, &unknown) || !slices.Equal(unknown.Known, []string{"default", "pages", "previous"}) {
			t.Errorf("asked by %q: %v", name, err)
		}
		w := httptest.NewRecorder()
		site, err := collection.OpenSite(dir, s, nil)
		testweb.Must(t, err)
		defer site.Close()
		web.New(web.Options{Collection: site}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/api/v1/search?q=page&rank="+strings.ReplaceAll(name, " ", "+"), nil))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "there are default") {
			t.Errorf("the API on rank=%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestRanking: searches that name no vector use that of Options.Ranking as if they named it, and a name
// in the request counts more. Without such a vector the default one counts, which is reported once.
func TestRanking(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	compute := func(name string) {
		t.Helper()
		o := ranking.Options{}
		if name != "" {
			o = ranking.Options{Name: name, Personalize: []ranking.TeleportTarget{{Spec: "museum.test", Weight: 1}}}
		}
		_, err := ranking.Compute(t.Context(), dir, o)
		testweb.Must(t, err)
	}
	compute("")
	file := filepath.Join(t.TempDir(), "name")
	write := func(name string) {
		t.Helper()
		testweb.Must(t, os.WriteFile(file, []byte(name), 0o600))
	}
	write("museum")
	read := func(path string) (string, error) {
		content, err := os.ReadFile(path)
		return string(content), err
	}
	name, err := reload.Open(file, read, func(err error) { t.Error(err) })
	testweb.Must(t, err)
	var reported []string
	s, err := searcher.Open(dir, searcher.Options{
		Ranking: name, AnswerBytes: 1 << 20, OnNoRank: func(err *searcher.UnknownRankError) { reported = append(reported, err.Error()) },
	})
	testweb.Must(t, err)
	t.Cleanup(func() { testweb.Must(t, s.Close()) })
	check := func(used string, reports int) {
		t.Helper()
		_, err := s.Refresh()
		testweb.Must(t, err)
		for _, r := range []struct{ asked, used string }{{"", used}, {used, used}, {ranking.Default, ranking.Default}} {
			for range 2 { // the second may be from the cache
				request := searcher.Request{Query: "page", Rank: r.asked, Limit: searcher.MaxLimit}
				got, err := s.Search(t.Context(), request)
				testweb.Must(t, err)
				request.Rank = r.used
				want, err := s.Search(t.Context(), request)
				testweb.Must(t, err)
				if got.Rank != want.Rank || got.Rank.Name != r.used || !slices.Equal(testweb.URLs(got.Results), testweb.URLs(want.Results)) || got.Results[0].Score != want.Results[0].Score {
					t.Errorf("rank=%s: ranked by %+v, want %+v", r.asked, got.Rank, want.Rank)
				}
				e, err := s.Explain(t.Context(), searcher.Request{Query: "page", Rank: r.asked}, got.Results[0].URL)
				testweb.Must(t, err)
				at := slices.IndexFunc(e.Parts, func(p searcher.Part) bool { return p.Name == "pagerank" })
				if e.Score != got.Results[0].Score || strings.Contains(e.Parts[at].Detail, " by the vector "+r.used) == (r.used == ranking.Default) {
					t.Errorf("rank=%s: explained as %+v", r.asked, e)
				}
			}
		}
		if s.Stats().Rank != used || len(reported) != reports {
			t.Errorf("%s is used, want %s; reports %q", s.Stats().Rank, used, reported)
		}
	}
	check(ranking.Default, 1)
	check(ranking.Default, 1)
	compute("museum")
	check("museum", 1)
	site, err := collection.OpenSite(dir, s, nil)
	testweb.Must(t, err)
	defer site.Close()
	holdings, err := site.Holdings(t.Context())
	testweb.Must(t, err)
	for i, r := range holdings.Ranks {
		if r.Used != (r.Name == "museum") || r.Used != (i == 0) {
			t.Errorf("vector %d of the admin page: %+v", i, r)
		}
	}
	compute("") // the snapshot changes, the vector does not
	check("museum", 1)
	testweb.Must(t, ranking.Remove(dir, "museum"))
	check(ranking.Default, 2)
	write("pages")
	check("pages", 2)
	write("")
	check(ranking.Default, 2)
	if !strings.HasPrefix(reported[1], `there is no rank vector "museum"; there are default`) {
		t.Errorf("reported %q", reported)
	}
}

// TestRankAges checks that a vector is listed with its age, and as stale after more links changed
// than the bound.
func TestRankAges(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	status := func() ranking.VectorStatus {
		t.Helper()
		all, err := ranking.List(dir)
		testweb.Must(t, err)
		if len(all) != 2 || all[0].Name != ranking.Default {
			t.Fatalf("vectors %+v", all)
		}
		return all[0]
	}
	if r := status(); r.Stale || r.Changed != 0 || r.Pages == 0 || r.Computed.IsZero() {
		t.Errorf("just computed: %+v", r)
	}
	v, err := rankvector.ReadFolder(dir, rankvector.Default)
	testweb.Must(t, err)
	now := v.LinkChanges
	for then, stale := range map[uint64]bool{now: false, now * 19 / 20: false, now / 2: true, now * 2: true, 0: false} {
		v.LinkChanges = then
		testweb.Must(t, rankvector.Publish(dir, rankvector.Default, v))
		if r := status(); r.Stale != stale {
			t.Errorf("%d changes then, %d now: %+v", then, now, r)
		}
	}
	testweb.Must(t, datadir.PublishRank(dir, "broken", []byte("anatrank")))
	if _, err := ranking.List(dir); err == nil || !strings.Contains(err.Error(), "--name broken") {
		t.Errorf("a damaged vector: %v", err)
	}
}

// TestReplacedLinks: ranks are stale if links were replaced by as many others, and not if pages were
// fetched again with the links that they had.
func TestReplacedLinks(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	changed := func() float64 {
		t.Helper()
		all, err := ranking.List(dir)
		testweb.Must(t, err)
		return all[0].Changed
	}
	// fetch adds a run with the links of all pages, each as change returns it, and merges all runs.
	fetch := func(run string, change func(linkdb.Target) linkdb.Target) (links int) {
		t.Helper()
		m, err := datadir.ReadManifest(dir)
		testweb.Must(t, err)
		old := linkdb.Paths(dir, m.Links)
		set, err := linkdb.OpenSet(old)
		testweb.Must(t, err)
		defer set.Close()
		w, err := linkdb.Create(datadir.Links(dir, "again-"+run))
		testweb.Must(t, err)
		for source, err := range set.RawLinks() {
			testweb.Must(t, err)
			for i, to := range source.Targets {
				source.Targets[i] = change(to)
			}
			links += len(source.Targets)
			w.Links(source)
		}
		testweb.Must(t, w.Finish())
		testweb.Must(t, linkdb.Merge(append(old, datadir.Links(dir, "again-"+run)), datadir.Links(dir, run)))
		m.Links = []string{run}
		testweb.Must(t, datadir.WriteManifest(dir, m))
		return links
	}
	links := fetch("same", func(to linkdb.Target) linkdb.Target { return to })
	if got := changed(); got != 0 {
		t.Errorf("the same links: %v of them changed", got)
	}
	n := 0
	fetch("other", func(to linkdb.Target) linkdb.Target {
		if n++; n%5 == 0 {
			to.Flags ^= vocab.NoFollow
		}
		return to
	})
	if got, want := changed(), float64(links/5)/float64(links); got != want {
		t.Errorf("a fifth of the links is replaced: %v of them changed, want %v", got, want)
	}
}

// TestRankMethods: topics computed at a time are what they are alone; a page's host rank is that of its
// host; harmonic centrality is higher near the links; TrustRank's seeds are pages that lead far.
func TestRankMethods(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	topics, err := ranking.ReadTopics(strings.NewReader("a museum.test\nb glossary.test 2\nb http://museum.test/\n"))
	testweb.Must(t, err)
	reports, err := ranking.ComputeTopics(t.Context(), dir, topics, pagerank.Options{})
	testweb.Must(t, err)
	for i, topic := range topics {
		alone, err := ranking.Compute(t.Context(), dir, ranking.Options{Personalize: topic.Targets, Name: "alone"})
		testweb.Must(t, err)
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
	hosts, err := ranking.Compute(t.Context(), dir, ranking.Options{Method: ranking.ByHosts})
	testweb.Must(t, err)
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
	harmonic, err := ranking.Compute(t.Context(), dir, ranking.Options{Method: ranking.ByHarmonic})
	testweb.Must(t, err)
	sum := 0.0
	for _, r := range harmonic.Vector.Ranks {
		sum += float64(r)
	}
	if harmonic.Name != "harmonic" || sum < 0.9999 || sum > 1.0001 || harmonic.Residuals[len(harmonic.Residuals)-1] != 0 {
		t.Errorf("harmonic: sum %g, %+v", sum, harmonic)
	}
	seeds, err := ranking.TrustSeeds(t.Context(), dir, 3, pagerank.Options{})
	if err != nil || len(seeds) != 3 || seeds[0].URL == "" || seeds[0].Rank < seeds[1].Rank {
		t.Errorf("seeds %+v, %v", seeds, err)
	}
}

// TestExportedGraph: the ranks of the exported graph, by docID or by URL, are PageRank as published in the
// data folder, for the same pages: all that were fetched or are linked to.
func TestExportedGraph(t *testing.T) {
	dir := testweb.CrawlBoth(t, 23, 100)
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	v, err := rankvector.ReadFolder(dir, rankvector.Plain)
	testweb.Must(t, err)
	l, err := collection.OpenLinks(dir)
	testweb.Must(t, err)
	defer l.Close()
	records := testweb.Records(t, dir)
	for _, urls := range []bool{false, true} {
		var list, out bytes.Buffer
		testweb.Must(t, l.Export(t.Context(), &list, urls))
		if !bytes.Contains(list.Bytes(), []byte("# node ")) {
			t.Fatal("no page is without links")
		}
		_, err := pagerank.RankEdges(t.Context(), &list, &out, pagerank.Options{SelfLinks: true})
		testweb.Must(t, err)
		ranks := map[string]float64{}
		for line := range strings.Lines(out.String()) {
			node, rank, _ := strings.Cut(strings.TrimSpace(line), "\t")
			ranks[node], err = strconv.ParseFloat(rank, 64)
			testweb.Must(t, err)
		}
		n, off := 0, 0.0
		for doc, rank := range v.Ranks {
			if rank == 0 {
				continue
			}
			n++
			name := strconv.Itoa(doc)
			if urls {
				name = records[vocab.DocID(doc)].URL
			}
			off += math.Abs(ranks[name] - float64(rank))
		}
		if n < 100 || n != len(ranks) || off > 1e-7 { // float32 rounds each rank
			t.Errorf("by URL %v: %d pages have ranks, %d in the list; they differ by %g", urls, n, len(ranks), off)
		}
	}
}

// TestDiff compares the vectors of a crawl with what is known of them.
func TestDiff(t *testing.T) {
	dir := testweb.CrawlBoth(t, 24, 100)
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
	testweb.Must(t, err)
	_, err = ranking.Compute(t.Context(), dir, ranking.Options{Method: ranking.ByHosts})
	testweb.Must(t, err)
	same, err := ranking.Diff(dir, "pages", "pages")
	testweb.Must(t, err)
	if same.Kendall != 1 || same.Moved != 0 || same.Pages < 100 || len(same.Gainers)+len(same.Losers) > 0 ||
		len(same.Shared) != 2 || same.Shared[1] != (ranking.SharedTop{First: 100, Pages: 100}) {
		t.Errorf("a vector and itself: %+v", same)
	}
	there, err := ranking.Diff(dir, "pages", "hosts")
	testweb.Must(t, err)
	back, err := ranking.Diff(dir, "hosts", "pages")
	testweb.Must(t, err)
	if there.Pages != same.Pages || there.Kendall >= 1 || there.Kendall <= -1 || there.Moved == 0 || there.Shared[0].Pages == 10 {
		t.Errorf("pages and hosts: %+v", there)
	}
	if math.Abs(there.Kendall-back.Kendall) > 1e-12 || there.Moved != back.Moved || !slices.Equal(there.Shared, back.Shared) {
		t.Errorf("%+v one way, %+v the other", there, back)
	}
	if len(there.Gainers) != len(back.Losers) || there.Gainers[0].URL != back.Losers[0].URL || there.Gainers[0].Rank != back.Losers[0].Before {
		t.Errorf("gained %+v one way, lost %+v the other", there.Gainers, back.Losers)
	}
	_, err = ranking.Compute(t.Context(), dir, ranking.Options{Name: "one", Personalize: []ranking.TeleportTarget{{Spec: there.Gainers[0].URL, Weight: 1}}})
	testweb.Must(t, err)
	for _, names := range [][2]string{{"pages", "one"}, {"one", "pages"}} {
		d, err := ranking.Diff(dir, names[0], names[1])
		testweb.Must(t, err)
		if d.Pages != same.Pages || len(d.Gainers) == 0 || len(d.Losers) == 0 {
			t.Errorf("%v: %+v", names, d)
		}
	}
	if _, err := ranking.Diff(dir, "pages", "absent"); !errors.Is(err, ranking.ErrNoVector) {
		t.Errorf("no vector: %v", err)
	}
}

// TestWarmStart: ranks of a folder that did not change are computed again in fewer iterations, though some
// URLs have no rank.
func TestWarmStart(t *testing.T) {
	dir := testweb.CrawlBoth(t, 25, 100)
	testweb.Must(t, ranking.Remove(dir, ranking.Default))
	var iterations []int
	for _, damping := range []float64{0.5, 0.85, 0.85} {
		r, err := ranking.Compute(t.Context(), dir, ranking.Options{Options: pagerank.Options{Damping: damping}})
		testweb.Must(t, err)
		iterations = append(iterations, len(r.Residuals))
		if r.Pages == len(r.Vector.Ranks)-1 {
			t.Fatal("all URLs have a rank")
		}
	}
	if iterations[2] > iterations[1]/2 {
		t.Errorf("iterations of three runs: %v", iterations)
	}
}

// TestHarmonicWithoutLinks: a page that has no links and that none leads to has a rank.
func TestHarmonicWithoutLinks(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", "<title>One</title>alone")
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
	testweb.Crawl(t, o)
	for _, method := range []ranking.Method{ranking.ByVouchers, ranking.ByPages, ranking.ByHosts, ranking.ByHarmonic} {
		r, err := ranking.Compute(t.Context(), o.Dir, ranking.Options{Method: method})
		testweb.Must(t, err)
		if r.Pages != 1 || r.Vector.Pages() != 1 || r.Dangled != 1 {
			t.Errorf("%v: %+v", method, r)
		}
	}
}

// TestRestore: a default vector of another kind keeps the one that it replaces, ranks of the same kind keep
// none, and restoring exchanges the two, in every shard.
func TestRestore(t *testing.T) {
	whole, _ := testweb.CrawlDemo(t)
	split := filepath.Join(t.TempDir(), "split")
	_, err := upkeep.Split(t.Context(), whole, split, 2)
	testweb.Must(t, err)
	for _, dir := range []string{whole, split} {
		_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
		testweb.Must(t, err)
		ranks := func(name string) (all []float32) {
			t.Helper()
			dirs, err := shards.Folders(dir)
			testweb.Must(t, err)
			for _, dir := range dirs {
				v, err := rankvector.ReadFolder(dir, name)
				testweb.Must(t, err)
				if v != nil {
					all = append(all, v.Ranks...)
				}
			}
			return all
		}
		if err := ranking.Restore(dir); !errors.Is(err, ranking.ErrNoVector) {
			t.Errorf("restored without a previous vector: %v", err)
		}
		before := ranks(ranking.Default)
		_, err = ranking.Compute(t.Context(), dir, ranking.Options{
			Name: ranking.Default, Personalize: []ranking.TeleportTarget{{Spec: "ranking.test", Weight: 1}},
		})
		testweb.Must(t, err)
		personal := ranks(ranking.Default)
		if slices.Equal(before, personal) || !slices.Equal(ranks(rankvector.Previous), before) {
			t.Fatal("the replaced vector was not kept")
		}
		for _, want := range [][]float32{before, personal} {
			testweb.Must(t, ranking.Restore(dir))
			if !slices.Equal(ranks(ranking.Default), want) {
				t.Fatal("the previous vector is not the default")
			}
		}
		testweb.Must(t, ranking.Restore(dir))
		_, err = ranking.Compute(t.Context(), dir, ranking.Options{}) // of the kind of the default
		testweb.Must(t, err)
		if !slices.Equal(ranks(rankvector.Previous), personal) {
			t.Error("ranks of the same kind replaced the previous vector")
		}
	}
}
