package collection_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/indexer"
	"anatomy/internal/test/testweb"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/vocab"
	"anatomy/weburl"
)

// TestLinksAddUp: the report of every page lists just the links that the pages in the repository
// have, and what they pass on, with what the bored surfer and the pages without links bring, is the
// page's rank (BP98 §2.1).
func TestLinksAddUp(t *testing.T) {
	dir := testweb.CrawlBoth(t, 22, 100)
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{Options: pagerank.Options{Tolerance: 1e-12}})
	testweb.Must(t, err)
	all := testweb.Records(t, dir)
	byURL := map[vocab.Fingerprint]vocab.DocID{}
	nodes, others, dangled := 0, 0, 0.0
	for doc, r := range all {
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		byURL[u.Fingerprint()] = doc
	}
	in, fetched := map[vocab.DocID][]string{}, map[vocab.DocID]bool{}
	var buffer indexer.Buffer
	for doc, page := range testweb.Bodies(t, dir, all) {
		parsed, err := indexer.Parse(&page, &buffer)
		testweb.Must(t, err)
		fetched[doc] = true
		for _, l := range parsed.Links {
			u, err := weburl.Parse(l.Target)
			if err != nil {
				continue
			}
			if target := testweb.Canonical(all, byURL[u.Fingerprint()]); target != 0 && target != doc && l.Flags&vocab.NoFollow == 0 && !slices.Contains(in[target], all[doc].URL) {
				in[target] = append(in[target], all[doc].URL)
			}
		}
	}
	l, err := collection.OpenLinks(dir)
	testweb.Must(t, err)
	defer l.Close()
	reports := map[vocab.DocID]*collection.LinkReport{}
	for doc := range all {
		if testweb.Canonical(all, doc) != doc {
			continue
		}
		r, err := l.Of(t.Context(), doc, math.MaxInt)
		testweb.Must(t, err)
		if !fetched[doc] && len(in[doc]) == 0 {
			if others++; r.Rank != 0 {
				t.Errorf("%s was not fetched, nothing links to it, and its rank is %g", r.URL, r.Rank)
			}
			continue
		}
		reports[doc] = r
		nodes++
		if !slices.ContainsFunc(r.Out, func(o collection.OutLink) bool { return !o.NoFollow && !o.Broken }) {
			dangled += r.Rank
		}
	}
	if nodes < 50 || others == 0 {
		t.Fatalf("only %d pages, and %d that were not fetched and have no links", nodes, others)
	}
	for doc, r := range reports {
		var from []string
		sum := 0.0
		for _, s := range r.In {
			from = append(from, s.URL)
			sum += s.Share
		}
		slices.Sort(from)
		slices.Sort(in[doc])
		if !slices.Equal(from, in[doc]) || r.InCount != len(from) || r.URL != all[doc].URL {
			t.Errorf("document %d: links from %v, want %v", doc, from, in[doc])
		}
		rest := (1 - pagerank.DefaultDamping + pagerank.DefaultDamping*dangled) / float64(nodes)
		if math.Abs(sum-r.FromLinks) > 1e-12 || math.Abs(r.FromLinks+rest-r.Rank) > 1e-6*r.Rank+1e-9 {
			t.Errorf("%s: links bring %g, the rest %g; its rank is %g", r.URL, r.FromLinks, rest, r.Rank)
		}
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		if found, err := l.Doc(u); err != nil || found != doc {
			t.Errorf("%s is document %d, %v; want %d", r.URL, found, err, doc)
		}
	}
}

// TestLinksReports: broken links and orphans are those of a walk over the pages; the edges exported
// are as many as were ranked.
func TestLinksReports(t *testing.T) {
	w := testweb.New(t)
	w.Page("a.test/", `<a href=/there>there</a> <a href=/gone>gone away</a> <a href=/moved>moved</a> <a href=/nf rel=nofollow>nf</a>`)
	w.Page("a.test/there", `<a href=/><img src=x.png></a> <a href=/gone>gone too</a>`)
	w.Redirect("a.test/moved", "/gone")
	w.Page("a.test/alone", `<a href=/there>there</a>`)
	w.Page("a.test/listed", `listed, <a href=/there>there</a>`)
	w.Body("a.test/robots.txt", "text/plain", "Sitemap: http://a.test/map.txt")
	w.Body("a.test/map.txt", "text/plain", "http://a.test/listed")
	w.Redirect("a.test/start", "/alone")
	dir := t.TempDir()
	testweb.Crawl(t, w.Options(dir, "http://a.test/", "http://a.test/start"))
	l, err := collection.OpenLinks(dir)
	testweb.Must(t, err)
	defer l.Close()

	broken, err := l.Broken(t.Context(), 10, nil)
	testweb.Must(t, err)
	var said []string
	for _, b := range broken {
		for _, in := range b.From {
			said = append(said, fmt.Sprint(path(b.URL), " ", b.Count, " ", path(in.URL), " ", in.Texts))
		}
	}
	if want := []string{"/gone 2 / [gone away moved]", "/gone 2 /there [gone too]"}; !slices.Equal(said, want) {
		t.Errorf("broken: %q, want %q", said, want)
	}

	if broken, err = l.Broken(t.Context(), 10, []string{"a.test/go*"}); err != nil || len(broken) > 0 {
		t.Errorf("broken links to what is removed: %v, %v", broken, err)
	}

	var orphans []string
	seeds, err := l.Seeds()
	testweb.Must(t, err)
	testweb.Must(t, l.Orphans(t.Context(), func(doc vocab.DocID, url string) error {
		orphans = append(orphans, fmt.Sprint(path(url), " ", seeds[doc]))
		return nil
	}))
	slices.Sort(orphans)
	if want := []string{"/alone true", "/listed false"}; !slices.Equal(orphans, want) || len(seeds) != 2 {
		t.Errorf("orphans: %q, want %q", orphans, want)
	}

	var edges bytes.Buffer
	testweb.Must(t, l.Export(t.Context(), &edges, true))
	if got := strings.Count(edges.String(), "\n"); got != 4 || !strings.Contains(edges.String(), "/alone\thttp://a.test") {
		t.Errorf("edges:\n%s", &edges)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Broken(ended, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interruption: %v", err)
	}
}

// path is a URL from the path on.
func path(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return err.Error()
	}
	return u.Path()
}

// TestCanonical compares the documents that redirects and copies lead to with the records.
func TestCanonical(t *testing.T) {
	dir := testweb.CrawlBoth(t, 22, 100)
	all := testweb.Records(t, dir)
	links := collection.NewSharedLinks(dir)
	defer links.Close()
	aliases := 0
	for doc, r := range all {
		want := testweb.Canonical(all, doc)
		if want == doc {
			continue
		}
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		if got, err := links.Canonical(u); got != want || err != nil {
			t.Errorf("%s leads to document %d, want %d: %v", r.URL, got, want, err)
		}
		aliases++
	}
	if aliases == 0 {
		t.Fatal("no page is an alias")
	}
	u, err := weburl.Parse("http://nobody.invalid/")
	testweb.Must(t, err)
	if doc, err := links.Canonical(u); doc != 0 || err != nil {
		t.Errorf("a URL that nothing links to leads to document %d: %v", doc, err)
	}
}
