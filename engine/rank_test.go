package engine_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/engine"
	"anatomy/indexer"
	"anatomy/internal/test/testweb"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

// TestRanksReorderResults: another damping, or a preferred site, changes the order of results of a
// running searcher, without a restart and without a rebuild; every score stays the sum of its
// explanation.
func TestRanksReorderResults(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	m, err := datadir.ReadManifest(dir)
	testweb.Must(t, err)
	s := testweb.OpenSearcher(t, dir)
	queries := []string{"crawler", "anchor text", "page", "index OR ranking", "robots", "the", "site:museum.test", "site:glossary.test a", "intitle:the"}
	d := newDrawer(rand.New(rand.NewPCG(1, 1)), naiveIndex(t, dir))
	for range 100 {
		queries = append(queries, d.query())
	}
	orders := func() map[string]string {
		found, n := map[string]string{}, 0
		for _, query := range queries {
			all := explained(t, s, query)
			for _, r := range all {
				sum := searcher.Score(0)
				for _, part := range r.Explanation.Parts {
					sum += part.Points
				}
				if n++; sum != r.Score {
					t.Errorf("%s: %s: parts add up to %d, the score is %d", query, r.URL, sum, r.Score)
				}
			}
			found[query] = strings.Join(testweb.URLs(all), " ")
		}
		if n < 500 {
			t.Fatalf("only %d results", n)
		}
		return found
	}
	swap := func(o ranking.Options) (report *ranking.Report, changed int, after map[string]string) {
		t.Helper()
		before := orders()
		report, err := ranking.Compute(t.Context(), dir, o)
		testweb.Must(t, err)
		if _, err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
		after = orders()
		for query := range before {
			if before[query] != after[query] {
				changed++
			}
			if len(strings.Fields(before[query])) != len(strings.Fields(after[query])) {
				t.Errorf("%s: other results, not another order", query)
			}
		}
		return report, changed, after
	}
	first := orders()
	if _, changed, _ := swap(ranking.Options{Options: pagerank.Options{Damping: 0.3}}); changed < 5 {
		t.Errorf("damping 0.3 changes the order of results for %d queries of %d", changed, len(queries))
	}
	report, changed, _ := swap(ranking.Options{Personalize: []ranking.TeleportTarget{{Spec: "museum.test", Weight: 1}}})
	if changed < 5 || report.Teleport == 0 {
		t.Errorf("personalised to museum.test, the order changes for %d queries of %d; %d pages preferred", changed, len(queries), report.Teleport)
	}
	if !slices.ContainsFunc(report.Gainers, func(p ranking.RankedPage) bool { return p.URL == "http://museum.test/" }) {
		t.Errorf("personalised to museum.test, most gained %+v", report.Gainers)
	}
	if i, err := collection.ReadInventory(dir); err != nil || !strings.Contains(i.Rank, "personalised to museum.test") {
		t.Errorf("the inventory says %+v, %v", i, err)
	}
	if _, err := ranking.Compute(t.Context(), dir, ranking.Options{Personalize: []ranking.TeleportTarget{{Spec: "nobody.example", Weight: 1}}}); !errors.Is(err, ranking.ErrNoSuchPage) || !strings.Contains(err.Error(), "nobody.example") {
		t.Errorf("personalised to nobody: %v", err)
	}
	if _, _, last := swap(ranking.Options{}); true {
		testweb.SameMaps(t, "order with the first ranks again", last, first)
	}
	if after, err := datadir.ReadManifest(dir); err != nil || !sameIndex(after, m) {
		t.Errorf("the index was %+v and is %+v, %v", m, after, err)
	}
}

// sameIndex reports whether two manifests differ in their rank vectors at most, which are published
// whenever they are computed.
func sameIndex(a, b datadir.Manifest) bool {
	for _, m := range []*datadir.Manifest{&a, &b} {
		m.Generation, m.Next, m.Ranks = 0, 0, nil
	}
	return reflect.DeepEqual(a, b)
}

// TestRankOfCrawl: the ranks of a crawled web are those of a dense computation over the links of the
// pages in the repository.
func TestRankOfCrawl(t *testing.T) {
	dir := testweb.CrawlBoth(t, 21, 100)
	all := testweb.Records(t, dir)
	byURL := map[vocab.Fingerprint]vocab.DocID{}
	for doc, r := range all {
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		byURL[u.Fingerprint()] = doc
	}
	out := map[vocab.DocID]map[vocab.DocID]bool{}
	isNode := map[vocab.DocID]bool{} // fetched, or linked to
	var buffer indexer.Buffer
	for doc, page := range testweb.Bodies(t, dir, all) {
		parsed, err := indexer.Parse(&page, &buffer)
		testweb.Must(t, err)
		out[doc] = map[vocab.DocID]bool{}
		isNode[doc] = true
		for _, l := range parsed.Links {
			u, err := weburl.Parse(l.Target)
			if err != nil {
				continue
			}
			if target := testweb.Canonical(all, byURL[u.Fingerprint()]); target != 0 && target != doc && l.Flags&vocab.NoFollow == 0 {
				out[doc][target] = true
				isNode[target] = true
			}
		}
	}
	nodes := slices.Sorted(maps.Keys(isNode))
	for _, damping := range []float64{0.85, 0.5} {
		_, err := ranking.Compute(t.Context(), dir, ranking.Options{Options: pagerank.Options{Damping: damping, Tolerance: 1e-12}})
		testweb.Must(t, err)
		v, err := rankvector.ReadFolder(dir, rankvector.Plain)
		testweb.Must(t, err)
		n := float64(len(nodes))
		rank := map[vocab.DocID]float64{}
		for _, doc := range nodes {
			rank[doc] = 1 / n
		}
		for range 200 {
			next, dangling := map[vocab.DocID]float64{}, 0.0
			for _, doc := range nodes {
				if len(out[doc]) == 0 {
					dangling += rank[doc]
				}
				for target := range out[doc] {
					next[target] += damping * rank[doc] / float64(len(out[doc]))
				}
			}
			for _, doc := range nodes {
				next[doc] += (1-damping)/n + damping*dangling/n
			}
			rank = next
		}
		sum, wrong := 0.0, 0
		for doc, got := range v.Ranks {
			want := rank[vocab.DocID(doc)]
			sum += float64(got)
			if math.Abs(float64(got)-want) > 1e-7*want+1e-9 { // a float32 has seven digits
				if wrong++; wrong < 5 {
					r := all[vocab.DocID(doc)]
					t.Errorf("damping %g: document %d has %.9g, want %.9g; %v", damping, doc, got, want, &r)
				}
			}
		}
		if math.Abs(sum-1) > 1e-5 || wrong > 0 {
			t.Errorf("damping %g: %d ranks of %d are wrong; they add up to %.9f", damping, wrong, len(nodes), sum)
		}
	}
}

// ranksNear computes ranks with the teleport set of one URL.
func ranksNear(dir, url string) ([]float32, error) {
	_, err := ranking.Compute(context.Background(), dir, ranking.Options{Personalize: []ranking.TeleportTarget{{Spec: url, Weight: 1}}, Name: "one"})
	if err != nil {
		return nil, err
	}
	v, err := rankvector.ReadFolder(dir, "one")
	if err != nil {
		return nil, err
	}
	return v.Ranks, nil
}

// TestRankTargets: the pages of a teleport target share its weight, and the teleport goes to
// targets by weight. A URL that redirects is the page that it leads to. The sums of the report are right, and it lists the pages that lose most.
func TestRankTargets(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	targets, err := ranking.ReadTeleportTargets(strings.NewReader("# trusted\nmuseum.test 3\nhttp://glossary.test/\n\nmuseum.test/nowhere 9\n"))
	testweb.Must(t, err)
	// almost no damping: ranks are the distribution of the teleport
	r, err := ranking.Compute(t.Context(), dir, ranking.Options{Options: pagerank.Options{Damping: 1e-6}, Personalize: targets, Name: "trusted"})
	testweb.Must(t, err)
	if r.Personalized != "3 targets" || len(r.Missing) != 1 || r.Compared || r.Moved != 0 || len(r.Losers) > 0 {
		t.Errorf("report %+v", r)
	}
	if r.Hosts[0].Host != "museum.test" || math.Abs(r.Hosts[0].Share-0.75) > 1e-4 || r.Hosts[1].Host != "glossary.test" || r.Half > r.Hosts[0].Pages {
		t.Errorf("half of all rank on %d pages; hosts %+v", r.Half, r.Hosts)
	}
	share, pages := 0.0, 0
	for _, l := range r.Levels {
		share, pages = share+l.Share, pages+l.Pages
	}
	if math.Abs(share-1) > 1e-4 || pages < r.Teleport || len(r.Residuals) != r.Vector.Iterations {
		t.Errorf("the levels hold %d pages with %g of rank; %d residuals", pages, share, len(r.Residuals))
	}
	r, err = ranking.Compute(t.Context(), dir, ranking.Options{Name: "trusted"})
	testweb.Must(t, err)
	if !r.Compared || len(r.Losers) == 0 || !strings.HasPrefix(r.Losers[0].URL, "http://glossary.test/") && !strings.HasPrefix(r.Losers[0].URL, "http://museum.test/") || r.Moved < 0.1 {
		t.Errorf("moved %g, losers %+v", r.Moved, r.Losers)
	}
	want, err := ranksNear(dir, "http://museum.test/far-room")
	testweb.Must(t, err)
	got, err := ranksNear(dir, "http://museum.test/chain/1") // which redirects to it
	testweb.Must(t, err)
	if !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
		t.Error("a URL that redirects has other ranks than the page")
	}
	if _, err := ranksNear(dir, "http://museum.test/loop"); !errors.Is(err, ranking.ErrNoSuchPage) {
		t.Errorf("from a URL that redirects to itself: %v", err)
	}
	if v, err := rankvector.ReadFolder(dir, rankvector.Default); err != nil || v.Personalized != "" || v.Damping != pagerank.DefaultDamping {
		t.Errorf("the current vector was touched: %+v, %v", v, err)
	}
	for _, name := range []string{"../x", "A", "-x", ".", "a/b", strings.Repeat("a", 65)} {
		if _, err := ranking.Compute(t.Context(), dir, ranking.Options{Name: name}); err == nil {
			t.Errorf("a vector named %q", name)
		}
	}
}

// TestRankEmpty: a folder without links has nothing to rank, and says so.
func TestRankEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c, err := engine.Open(t.Context(), engine.Options{Dir: dir})
	testweb.Must(t, err)
	testweb.Must(t, c.Run(t.Context()))
	testweb.Must(t, c.Close())
	if _, err := ranking.Compute(t.Context(), dir, ranking.Options{}); !errors.Is(err, pagerank.ErrNoNodes) {
		t.Errorf("Rank of an empty folder: %v", err)
	}
	testweb.Checked(t, dir)
	if _, err := ranking.Compute(t.Context(), filepath.Join(t.TempDir(), "absent"), ranking.Options{}); !errors.Is(err, datadir.ErrNone) {
		t.Errorf("Rank of no folder: %v", err)
	}
}
