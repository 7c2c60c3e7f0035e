package upkeep_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/disk/translations"
	"anatomy/internal/test/testweb"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/vocab"
	"anatomy/weburl"
)

// TestSplit checks that shards hold together what one folder holds: every page, record, link, anchor
// text and rank, and that they answer as it does.
func TestSplit(t *testing.T) {
	dir := testweb.CrawlBoth(t, 7, 60)
	want := recordsOf(t, dir)
	const weights = "weights.json"
	testweb.Must(t, os.WriteFile(filepath.Join(dir, weights), []byte("{}\n"), 0o600))
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "split")
			report, err := upkeep.Split(t.Context(), dir, to, n)
			testweb.Must(t, err)
			testweb.Checked(t, to)
			if kept, err := os.ReadFile(filepath.Join(to, weights)); err != nil || string(kept) != "{}\n" {
				t.Fatalf("the weights of the folder became %q, %v", kept, err)
			}
			used, mentioned := 0, 0
			for _, s := range report.Shards {
				if mentioned += s.Foreign; s.Pages > 0 {
					used++
				}
			}
			if n > 1 && (used < 2 || mentioned == 0) {
				t.Fatalf("%d shards have pages, and mention %d documents of others", used, mentioned)
			}
			testweb.SameMaps(t, "records", recordsOf(t, to), want)
			compareAnswers(t, dir, to)
			compareLinks(t, dir, to, want)
			compareSites(t, dir, to, want)
		})
	}
}

// recordsOf describes what the document indexes of a collection keep of each of its documents, by
// URL, and each stored page.
func recordsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	m, err := shards.Read(dir)
	testweb.Must(t, err)
	dirs, err := shards.Folders(dir)
	testweb.Must(t, err)
	found := map[string]string{}
	for i, dir := range dirs {
		all := testweb.Records(t, dir)
		bodies := testweb.Bodies(t, dir, all)
		for doc, r := range all {
			u := testweb.MustParse(t, r.URL)
			if m != nil && m.Of(&u) != i {
				continue
			}
			if _, twice := found[r.URL]; twice {
				t.Errorf("%s is in two shards", r.URL)
			}
			if f := r.Fetch; f != nil {
				f.Address = 0
				if f.Alias != 0 {
					r.URL += " " + all[f.Alias].URL
					f.Alias = 0
				}
				r.URL += fmt.Sprintf(" %+v", *f)
			}
			url := u.String()
			r.Doc, r.Fetch = 0, nil
			found[url] = fmt.Sprintf("%+v", r)
			if page, ok := bodies[doc]; ok {
				page.Doc = 0
				found[url] += fmt.Sprintf(" %+v", page)
			}
		}
		testweb.Must(t, docindex.Read(dir, func(db *docindex.DB) error {
			seeds, err := db.Seeds()
			for _, doc := range seeds {
				found[all[doc].URL] += " seed"
			}
			return errors.Join(err, db.EachDuplicate(func(of, doc vocab.DocID) (bool, error) {
				found[all[doc].URL] += " duplicate of " + all[of].URL
				return true, nil
			}))
		}))
	}
	return found
}

// compareAnswers compares the answers to some queries in all but DocIDs.
func compareAnswers(t *testing.T, one, other string) {
	t.Helper()
	a, b := testweb.OpenSite(t, one), testweb.OpenSite(t, other)
	if n, m := a.Searcher.Stats(), b.Searcher.Stats(); n.Documents != m.Documents || n.Ranked != m.Ranked {
		t.Errorf("%d documents and %d ranks in one folder, %d and %d in shards", n.Documents, n.Ranked, m.Documents, m.Ranked)
	}
	results := 0
	for _, query := range []string{
		"page", "search engine", `"the crawler"`, "links anchor text", "page -engine", "intitle:index", "site:museum.test page",
		"link:museum.test", "robots sitemap", "crawlr", "w1 w2", "ranking lang:en", "sort:date page", "the of a",
	} {
		for _, offset := range []int{0, 10} {
			r := searcher.Request{Query: query, Limit: 10, Offset: offset, Explain: true, Within: time.Minute}
			x, y := answerOf(t, a, r), answerOf(t, b, r)
			if x != y {
				t.Errorf("%s: in one folder\n%s\nin shards\n%s", query, x, y)
			}
			results += strings.Count(x, "http")
		}
	}
	if results < 100 {
		t.Fatalf("all queries together have %d results", results)
	}
}

func answerOf(t *testing.T, s *collection.Site, r searcher.Request) string {
	t.Helper()
	resp, err := s.Search(t.Context(), r)
	testweb.Must(t, err)
	var b strings.Builder
	for i := range resp.Results {
		result := &resp.Results[i]
		page, err := s.Page(t.Context(), result.Doc)
		if err == nil {
			fmt.Fprintf(&b, "%s %q %x\n", page.URL, page.ContentType, vocab.ContentOf(page.Body))
		} else if !errors.Is(err, collection.ErrNotFound) {
			t.Error(err)
		}
		versions, err := s.Versions(t.Context(), result.Doc)
		if err != nil || err == nil && page != nil && len(versions.Pages) == 0 {
			t.Errorf("%s has the versions %v, %v", result.URL, versions, err)
		}
		fmt.Fprintf(&b, "%+v\n", *result.Explanation)
		result.Doc, result.Explanation = 0, nil
		fmt.Fprintf(&b, "%+v\n", *result)
	}
	resp.Results, resp.Took, resp.State, resp.Cached = nil, 0, "", 0
	fmt.Fprintf(&b, "%+v\n", *resp)
	return b.String()
}

// compareLinks compares the links of all documents, what does not exist, and what nothing links to.
func compareLinks(t *testing.T, one, other string, urls map[string]string) {
	t.Helper()
	a, err := collection.OpenLinks(one)
	testweb.Must(t, err)
	defer a.Close()
	b, err := collection.OpenLinks(other)
	testweb.Must(t, err)
	defer b.Close()
	in, out := 0, 0
	for url := range urls {
		x, y := linksOf(t, a, url), linksOf(t, b, url)
		in, out = in+x.InCount, out+x.OutCount
		if math.Abs(x.FromLinks-y.FromLinks) > 1e-12 {
			t.Errorf("links bring %s %g in one folder and %g in shards", url, x.FromLinks, y.FromLinks)
		}
		x.FromLinks = y.FromLinks
		if fmt.Sprintf("%+v", x) != fmt.Sprintf("%+v", y) {
			t.Errorf("%s: in one folder\n%+v\nin shards\n%+v", url, x, y)
		}
	}
	if in == 0 || out == 0 {
		t.Fatalf("%d links to and %d from documents", in, out)
	}
	x, y := graphOf(t, a), graphOf(t, b)
	testweb.SameLists(t, "links", y, x)
}

// linksOf returns the links of a document in the order of URLs, without DocIDs.
func linksOf(t *testing.T, l *collection.Links, url string) *collection.LinkReport {
	t.Helper()
	doc, err := l.Doc(testweb.MustParse(t, url))
	testweb.Must(t, err)
	r, err := l.Of(t.Context(), doc, math.MaxInt)
	testweb.Must(t, err)
	r.Doc = 0
	for i := range r.In {
		r.In[i].Doc = 0
		slices.Sort(r.In[i].Texts)
	}
	for i := range r.Out {
		r.Out[i].Doc = 0
	}
	slices.SortFunc(r.In, func(a, b collection.InLink) int { return cmp.Compare(a.URL, b.URL) })
	slices.SortFunc(r.Out, func(a, b collection.OutLink) int { return cmp.Compare(a.URL, b.URL) })
	return r
}

// graphOf returns all links that ranks are computed from, those to documents that do not exist, and
// the documents without links to them.
func graphOf(t *testing.T, l *collection.Links) []string {
	t.Helper()
	var b strings.Builder
	testweb.Must(t, l.Export(t.Context(), &b, true))
	lines := strings.Split(b.String(), "\n")
	broken, err := l.Broken(t.Context(), 0, nil)
	testweb.Must(t, err)
	for _, link := range broken {
		lines = append(lines, fmt.Sprintf("%d links to %s, which does not exist", link.Count, link.URL))
	}
	seeds, err := l.Seeds()
	testweb.Must(t, err)
	testweb.Must(t, l.Orphans(t.Context(), func(doc vocab.DocID, url string) error {
		lines = append(lines, fmt.Sprint("no link to ", url, ", a seed: ", seeds[doc]))
		return nil
	}))
	slices.Sort(lines)
	return lines
}

// compareSites compares the traces of all URLs and the reports on all sites, in all but DocIDs and
// addresses.
func compareSites(t *testing.T, one, other string, urls map[string]string) {
	t.Helper()
	a, b := testweb.OpenSite(t, one), testweb.OpenSite(t, other)
	sites := map[string]bool{}
	for url := range urls {
		u := testweb.MustParse(t, url)
		sites[weburl.SiteOf(u.Hostname())] = true
		if x, y := traceOf(t, a, url), traceOf(t, b, url); x != y {
			t.Errorf("%s: in one folder\n%s\nin shards\n%s", url, x, y)
		}
	}
	for site := range sites {
		x, errX := a.Report(t.Context(), site, 5)
		y, errY := b.Report(t.Context(), site, 5)
		if errX != nil || errY != nil {
			t.Errorf("%s: %v, %v", site, errX, errY)
			continue
		}
		for _, r := range []*collection.SiteReport{x, y} {
			r.PageRank = float64(float32(r.PageRank))
			for i := range r.Pages {
				r.Pages[i].Doc = 0
			}
		}
		if fmt.Sprintf("%+v", x) != fmt.Sprintf("%+v", y) {
			t.Errorf("%s: in one folder\n%+v\nin shards\n%+v", site, x, y)
		}
	}
}

func traceOf(t *testing.T, s *collection.Site, url string) string {
	t.Helper()
	trace, err := s.Trace(t.Context(), url)
	testweb.Must(t, err)
	trace.Doc, trace.Shards = 0, 0
	for i := range trace.Records {
		r := &trace.Records[i]
		if r.Doc = 0; r.Fetch != nil {
			r.Fetch.Place = ""
			last := i == len(trace.Records)-1
			if leads := r.Fetch.LeadsTo + r.Fetch.SameAs; !last && leads == 0 {
				t.Errorf("%s: record %d leads nowhere", url, i)
			}
			r.Fetch.LeadsTo, r.Fetch.SameAs = 0, 0
			r.URL += fmt.Sprintf(" %+v", *r.Fetch)
			r.Fetch = nil
		}
	}
	for i := range trace.Alike {
		trace.Alike[i].Doc = 0
	}
	return fmt.Sprintf("%+v", *trace)
}

// TestSplitLargeSite checks that a site with most pages is divided by host.
func TestSplitLargeSite(t *testing.T) {
	w := testweb.New(t)
	var seeds []string
	for i := range 12 {
		host := fmt.Sprintf("h%d.large.test/", i)
		w.Page(host, fmt.Sprintf(`<title>Host %d</title><p>heron %d <a href="http://h%d.large.test/">next</a>`, i, i, (i+1)%12))
		seeds = append(seeds, "http://"+host)
	}
	w.Page("small.test/", "<title>Small</title><p>heron")
	o := w.Options(filepath.Join(t.TempDir(), "data"), append(seeds, "http://small.test/")...)
	testweb.Crawl(t, o)
	to := filepath.Join(t.TempDir(), "split")
	report, err := upkeep.Split(t.Context(), o.Dir, to, 3)
	testweb.Must(t, err)
	testweb.Checked(t, to)
	if !slices.Equal(report.Hosts, []string{"large.test"}) {
		t.Errorf("divided by host: %v", report.Hosts)
	}
	for i, s := range report.Shards {
		if s.Pages == 0 || s.Pages > 9 {
			t.Errorf("shard %d has %d of 13 pages", i, s.Pages)
		}
	}
}

// TestSplitVersions: pages that are versions of each other stay so when they are in several shards.
func TestSplitVersions(t *testing.T) {
	const sites, pages = 6, 4
	w := testweb.New(t)
	var seeds []string
	for page := range pages {
		for site := range sites {
			url := fmt.Sprintf("site%d.test/%d", site, page)
			w.Page(url, fmt.Sprintf("<title>Heron %d</title><p>heron of site %d, %s", page, site, strings.Repeat(fmt.Sprintf("word%d%d ", site, page), 9)))
			seeds = append(seeds, "http://"+url)
		}
	}
	o := w.Options(filepath.Join(t.TempDir(), "data"), seeds...)
	testweb.Crawl(t, o)
	groups := make([]translations.Group, pages)
	for doc, r := range testweb.Records(t, o.Dir) {
		var site, page int
		if _, err := fmt.Sscanf(r.URL, "http://site%d.test/%d", &site, &page); err == nil {
			lang := string(rune('a'+site)) + "a"
			groups[page] = append(groups[page], translations.Version{Doc: doc, Lang: lang, Evidence: translations.URL, Confidence: 100})
		}
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b translations.Version) int { return cmp.Compare(a.Doc, b.Doc) })
	}
	testweb.Must(t, translations.Publish(o.Dir, groups))
	to := filepath.Join(t.TempDir(), "split")
	report, err := upkeep.Split(t.Context(), o.Dir, to, 3)
	testweb.Must(t, err)
	testweb.Checked(t, to)
	if used := slices.IndexFunc(report.Shards, func(s upkeep.SplitShard) bool { return s.Pages == sites*pages }); used >= 0 {
		t.Fatalf("all pages are in shard %d", used)
	}
	answers := make([]string, 2)
	for i, dir := range []string{o.Dir, to} {
		resp, err := testweb.OpenSite(t, dir).Search(t.Context(), searcher.Request{Query: "heron", Limit: 20})
		testweb.Must(t, err)
		if len(resp.Results) != pages {
			t.Errorf("%d results for %d pages", len(resp.Results), pages)
		}
		for _, r := range resp.Results {
			answers[i] += fmt.Sprintln(r.URL, r.Score)
			for _, v := range r.Versions {
				answers[i] += fmt.Sprintln("\t", v.URL, v.Lang)
			}
			if len(r.Versions) != sites-1 {
				t.Errorf("%s has %d other versions, want %d", r.URL, len(r.Versions), sites-1)
			}
		}
	}
	if answers[0] != answers[1] {
		t.Errorf("in one folder\n%sin shards\n%s", answers[0], answers[1])
	}
}

// TestSplitRefuses checks that a folder that is not complete is not divided, that nothing that is
// there is overwritten, and that a failure leaves nothing behind.
func TestSplitRefuses(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", "<title>One</title><p>heron")
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
	testweb.Crawl(t, o)
	used := t.TempDir()
	testweb.Must(t, os.WriteFile(filepath.Join(used, "file"), nil, 0o600))
	if _, err := upkeep.Split(t.Context(), o.Dir, used, 2); !errors.Is(err, upkeep.ErrNotEmpty) {
		t.Errorf("a folder with a file: %v", err)
	}
	to := filepath.Join(t.TempDir(), "split")
	m, err := datadir.ReadManifest(o.Dir)
	testweb.Must(t, err)
	testweb.Must(t, os.Rename(datadir.Segment(o.Dir, m.Segments[0]), filepath.Join(o.Dir, "away")))
	if _, err := upkeep.Split(t.Context(), o.Dir, to, 2); err == nil {
		t.Error("a folder without its segment is divided")
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
		t.Errorf("a failure leaves %v, %v", left, err)
	}
	testweb.Must(t, os.Rename(filepath.Join(o.Dir, "away"), datadir.Segment(o.Dir, m.Segments[0])))
	m.Merged = false
	testweb.Must(t, datadir.WriteManifest(o.Dir, m))
	if _, err := upkeep.Split(t.Context(), o.Dir, to, 2); !errors.Is(err, upkeep.ErrNotMerged) {
		t.Errorf("an index that is not merged: %v", err)
	}
	m.Merged, m.Indexed = true, 1
	testweb.Must(t, datadir.WriteManifest(o.Dir, m))
	if _, err := upkeep.Split(t.Context(), o.Dir, to, 2); !errors.Is(err, upkeep.ErrNotMerged) {
		t.Errorf("an index without the pages: %v", err)
	}
}

// TestCheckShards checks that a check notices what shards say of one another.
func TestCheckShards(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="http://two.test/">two</a><a href="http://three.test/">three</a>`)
	w.Page("two.test/", `<title>Two</title><a href="http://one.test/">one</a>`)
	w.Page("three.test/", `<title>Three</title><a href="http://one.test/">one</a>`)
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
	testweb.Crawl(t, o)
	to := filepath.Join(t.TempDir(), "split")
	_, err := upkeep.Split(t.Context(), o.Dir, to, 2)
	testweb.Must(t, err)
	problems := func() (all []string) {
		testweb.Must(t, upkeep.Check(t.Context(), to, upkeep.CheckReport{
			Checked: func(string, string) {},
			Problem: func(err error) { all = append(all, err.Error()) },
		}))
		return all
	}
	if found := problems(); len(found) > 0 {
		t.Fatalf("whole shards have problems: %q", found)
	}
	all, err := shards.ReadForeign(to, 2)
	testweb.Must(t, err)
	if len(all[0].Docs)+len(all[1].Docs) < 2 {
		t.Fatal("the shards do not mention each other")
	}
	for shard, foreign := range all {
		for i := range foreign.Docs {
			wrong := shards.Foreign{Own: foreign.Own, Docs: slices.Clone(foreign.Docs)}
			wrong.Docs[i]++
			testweb.Must(t, wrong.Write(to, shard))
			if found := problems(); len(found) == 0 {
				t.Errorf("shard %d says that document %d is another one, and nobody notices", shard, i)
			}
		}
		testweb.Must(t, foreign.Write(to, shard))
	}
	m, err := shards.Read(to)
	testweb.Must(t, err)
	m.Suffixes = "another list"
	testweb.Must(t, m.Write(to))
	if found := strings.Join(problems(), " "); !strings.Contains(found, "another list") {
		t.Errorf("another public suffix list: %q", found)
	}
}

// TestShardRanks checks that ranks computed over shards are those computed over one folder, whatever
// the method, and that vectors are listed and removed as there.
func TestShardRanks(t *testing.T) {
	dir := testweb.CrawlBoth(t, 11, 60)
	to := filepath.Join(t.TempDir(), "split")
	_, err := upkeep.Split(t.Context(), dir, to, 3)
	testweb.Must(t, err)
	testweb.Must(t, ranking.Remove(to, ranking.Default))
	if ranks := ranksOf(t, to, ranking.Default); len(ranks) > 0 {
		t.Fatalf("after all ranks are removed there are %d", len(ranks))
	}
	for _, o := range []ranking.Options{
		{}, {Method: ranking.ByPages}, {Method: ranking.ByHosts}, {Method: ranking.ByHarmonic},
		{Name: "personal", Personalize: []ranking.TeleportTarget{{Spec: "museum.test", Weight: 1}}},
		{}, // with the ranks before as a start
	} {
		x, err := ranking.Compute(t.Context(), dir, o)
		testweb.Must(t, err)
		y, err := ranking.Compute(t.Context(), to, o)
		testweb.Must(t, err)
		if x.Pages != y.Pages || x.Links != y.Links || x.Dangled != y.Dangled || x.Teleport != y.Teleport {
			t.Errorf("%d pages, %d links, %d dangling, %d to teleport to in one folder; %d, %d, %d, %d in shards",
				x.Pages, x.Links, x.Dangled, x.Teleport, y.Pages, y.Links, y.Dangled, y.Teleport)
		}
		exact := o.Method != ranking.ByHarmonic // whose counters depend on the numbers of nodes
		if exact && x.Top[0].URL != y.Top[0].URL || x.HostCount != y.HostCount {
			t.Errorf("%s is the first of %d hosts in one folder, %s of %d in shards",
				x.Top[0].URL, x.HostCount, y.Top[0].URL, y.HostCount)
		}
		if x.Compared != y.Compared && o.Method <= ranking.ByPages && y.Moved > 1e-6 {
			t.Errorf("%g of all rank moved", y.Moved)
		}
		want, found := ranksOf(t, dir, x.Name), ranksOf(t, to, x.Name)
		if len(found) != len(want) || len(want) < 50 {
			t.Errorf("%d ranks in shards, %d in one folder", len(found), len(want))
		}
		within := 1e-6
		if !exact {
			within = 0.01
		}
		for url, rank := range want {
			if math.Abs(found[url]-rank) > within {
				t.Errorf("%s: %s has rank %g in shards, %g in one folder", x.Name, url, found[url], rank)
			}
		}
	}
	listed, err := ranking.List(to)
	testweb.Must(t, err)
	if len(listed) != 5 || listed[0].Pages != len(ranksOf(t, dir, listed[0].Name)) {
		t.Errorf("the vectors are %+v", listed)
	}
	a, err := ranking.TrustSeeds(t.Context(), dir, 5, pagerank.Options{})
	testweb.Must(t, err)
	b, err := ranking.TrustSeeds(t.Context(), to, 5, pagerank.Options{})
	testweb.Must(t, err)
	if a[0].URL != b[0].URL {
		t.Errorf("most is reached from %s in one folder, from %s in shards", a[0].URL, b[0].URL)
	}
	links, err := collection.OpenLinks(to)
	testweb.Must(t, err)
	defer links.Close()
	if r, err := links.Of(t.Context(), b[0].Doc, 1); err != nil || r.URL != b[0].URL {
		t.Errorf("document %d is %+v, %v; want %s", b[0].Doc, r, err, b[0].URL)
	}
}

// rankedDocs returns the number of pages that ranks are compared with in scores.
func rankedDocs(t *testing.T, dir string) int {
	return testweb.OpenSearcher(t, dir).Stats().Ranked
}

// TestRankedDocs checks that scores are scaled by the number of ranked pages, in shards as in one
// folder: the redirect is none.
func TestRankedDocs(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", `<title>One</title><a href="http://two.test/">two</a><a href="http://three.test/">three</a>`)
	w.Page("two.test/", "<title>Two</title>")
	w.Redirect("three.test/", "http://one.test/")
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
	testweb.Crawl(t, o)
	to := filepath.Join(t.TempDir(), "split")
	_, err := upkeep.Split(t.Context(), o.Dir, to, 2)
	testweb.Must(t, err)
	for _, dir := range []string{o.Dir, to} {
		_, err := ranking.Compute(t.Context(), dir, ranking.Options{})
		testweb.Must(t, err)
		if n := rankedDocs(t, dir); n != 2 {
			t.Errorf("%s: %d pages of 2 are ranked", dir, n)
		}
	}
}

// ranksOf returns the ranks of a vector that are not 0, by URL.
func ranksOf(t *testing.T, dir, name string) map[string]float64 {
	t.Helper()
	dirs, err := shards.Folders(dir)
	testweb.Must(t, err)
	found := map[string]float64{}
	for _, dir := range dirs {
		v, err := rankvector.ReadFolder(dir, name)
		testweb.Must(t, err)
		for doc, r := range testweb.Records(t, dir) {
			if rank := v.Rank(doc); rank > 0 {
				found[r.URL] = rank
			}
		}
	}
	return found
}

// TestSplitPrivate checks that what was fetched with credentials stays marked.
func TestSplitPrivate(t *testing.T) {
	w := testweb.New(t)
	w.Page("one.test/", "<title>One</title><p>heron")
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/")
	testweb.Crawl(t, o)
	for _, private := range []bool{false, true} {
		if private {
			testweb.Must(t, datadir.MarkPrivate(o.Dir))
		}
		to := filepath.Join(t.TempDir(), "split")
		_, err := upkeep.Split(t.Context(), o.Dir, to, 2)
		testweb.Must(t, err)
		for _, dir := range []string{to, shards.Folder(to, 0), shards.Folder(to, 1)} {
			if datadir.IsPrivate(dir) != private {
				t.Errorf("%s is private: %t, and what was split: %t", dir, !private, private)
			}
		}
	}
}
