package collective_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// TestEqualsOneFolder crawls a web into one folder and into several shards. The shards have the same
// pages, with the same hits, anchor texts of all shards included, and the same ranks.
func TestEqualsOneFolder(t *testing.T) {
	web := testweb.Generate(t, 5, 90, 0)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	if want.links == 0 || len(want.ranks) < 50 {
		t.Fatalf("one folder has %d links and %d ranks", want.links, len(want.ranks))
	}
	for _, n := range []int{1, 3, 8} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "many")
			stats := crawl(t, web.Options(dir, web.Seed), n)
			testweb.Checked(t, dir)
			found := describe(t, dir)
			found.same(t, want)
			if pages := int(stats.Pages); pages != web.Pages {
				t.Errorf("%d pages, the web has %d", pages, web.Pages)
			}
		})
	}
}

func crawl(t *testing.T, o engine.Options, n int) engine.CrawlStats {
	t.Helper()
	c, err := collective.Open(t.Context(), o, n)
	testweb.Must(t, err)
	stats, err := run(t.Context(), c)
	testweb.Must(t, err)
	return stats
}

func run(ctx context.Context, c *collective.Crawl) (engine.CrawlStats, error) {
	err := c.Run(ctx)
	stats := c.Stats()
	if closed := c.Close(); err == nil {
		err = closed
	}
	return stats, err
}

// A description is what is compared of two collections.
type description struct {
	fates      map[string]string // by URL
	searchable []string
	ranks      map[string]string
	links      int
}

func describe(t *testing.T, dir string) description {
	t.Helper()
	dirs, err := shards.Folders(dir)
	testweb.Must(t, err)
	m, err := shards.Read(dir)
	testweb.Must(t, err)
	d := description{fates: map[string]string{}, ranks: map[string]string{}}
	for i, dir := range dirs {
		all := testweb.Records(t, dir)
		for _, r := range all {
			u := testweb.MustParse(t, r.URL)
			if m != nil && m.Of(&u) != i {
				continue
			}
			fate := r.State.String()
			if r.Fetch != nil {
				fate = r.Fetch.Outcome.String()
				if of := r.Fetch.Alias; of != 0 && r.Fetch.Outcome == vocab.Redirected {
					fate += " " + all[of].URL
				}
			}
			if _, twice := d.fates[r.URL]; twice {
				t.Errorf("%s is in two shards", r.URL)
			}
			d.fates[r.URL] = fate
		}
		d.searchable = append(d.searchable, testweb.Searchable(t, dir)...)
		maps.Copy(d.ranks, testweb.Ranks(t, dir))
	}
	slices.Sort(d.searchable)
	d.links = linkReports(t, dir)
	return d
}

// linkReports returns the in-links and out-links of all documents, counted.
func linkReports(t *testing.T, dir string) (n int) {
	t.Helper()
	site := testweb.OpenSite(t, dir)
	for _, host := range []string{"one", "two", "three", "four"} {
		for _, result := range testweb.Results(t, site.Searcher, "site:"+host+".test") {
			report, err := site.Links(t.Context(), result.Doc, 1000, nil)
			testweb.Must(t, err)
			n += 1000*len(report.In) + len(report.Out)
		}
	}
	return n
}

func (d description) same(t *testing.T, want description) {
	t.Helper()
	testweb.SameMaps(t, "fates", d.fates, want.fates)
	testweb.SameLists(t, "documents", d.searchable, want.searchable)
	testweb.SameMaps(t, "ranks", d.ranks, want.ranks)
	if d.links != want.links {
		t.Errorf("%d links, want %d", d.links, want.links)
	}
	if len(d.fates) < 50 {
		t.Error(fmt.Sprint(len(d.fates), " documents ", strings.Join(d.searchable[:1], "")))
	}
}

func contextWithStop(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	return ctx, stop
}

// until blocks until a condition holds, or fails if the crawl has ended before.
func until(t *testing.T, done chan error, condition func() bool) {
	t.Helper()
	for !condition() {
		if len(done) > 0 {
			t.Fatal("the crawl has ended")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestDeadLinks: of dead links of one shape only samples are requested, the first that are found. So
// which of them are known by links alone, and which as not found, depends on the order of requests.
// One folder and several shards know the same URLs, and differ in no other.
func TestDeadLinks(t *testing.T) {
	web := testweb.New(t)
	const pages, links = 8, 60
	for page := range pages {
		body := fmt.Sprintf("<title>page %d</title><p>page number %d", page, page)
		for n := range links {
			body += fmt.Sprintf(` <a href=http://two.test/old-%d.html>old %d</a>`, n*pages+page, n)
		}
		for other := range pages {
			body += fmt.Sprintf(` <a href=http://one.test/%d>page %d</a>`, other, other)
		}
		web.Page(fmt.Sprintf("one.test/%d", page), body)
	}
	web.Page("two.test/", "<p>there were pages")
	seeds := []string{"http://one.test/0", "http://two.test/"}
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, seeds...))
	many := filepath.Join(t.TempDir(), "many")
	crawl(t, web.Options(many, seeds...), 3)
	want, trappedInOne := deadLinks(t, one)
	found, trappedInMany := deadLinks(t, many)
	testweb.SameMaps(t, "fates", found, want)
	for what, n := range map[string]int{"one folder": trappedInOne, "shards": trappedInMany} {
		if n == 0 || n == pages*links {
			t.Errorf("%s: %d of %d links were not followed", what, n, pages*links)
		}
	}
}

// TestTextThroughRedirect has a page link to one of another shard, and by a redirect of its own site.
// That the second link stays on its site is known in both shards.
func TestTextThroughRedirect(t *testing.T) {
	web := testweb.New(t)
	web.Page("four.test/", `<p>first <a href=http://two.test/>direct</a> <a href=moved>through</a>`)
	web.Redirect("four.test/moved", "http://two.test/")
	web.Page("two.test/", "<p>second")
	const seed = "http://four.test/"
	o := web.Options(filepath.Join(t.TempDir(), "one"), seed, "http://two.test/")
	testweb.Crawl(t, o)
	want := testweb.Searchable(t, o.Dir)
	o.Dir = filepath.Join(t.TempDir(), "many")
	crawl(t, o, 3)
	m, err := shards.Read(o.Dir)
	testweb.Must(t, err)
	from, to := testweb.MustParse(t, seed), testweb.MustParse(t, "http://two.test/")
	if m.Of(&from) == m.Of(&to) {
		t.Fatal("both pages are in one shard")
	}
	var found []string
	for i := range m.Folders {
		found = append(found, testweb.Searchable(t, shards.Folder(o.Dir, i))...)
	}
	slices.Sort(found)
	testweb.SameLists(t, "documents", found, want)
	if !strings.Contains(strings.Join(want, ""), " through:anchor@") {
		t.Errorf("one folder has %q", want)
	}
}

// deadLinks returns the fates of URLs, with one for those that are no pages or were not requested as
// there would be none, and how many of these were not.
func deadLinks(t *testing.T, dir string) (fates map[string]string, trapped int) {
	t.Helper()
	d := describe(t, dir)
	for url, fate := range d.fates {
		switch fate {
		case "trapped":
			trapped++
			fallthrough
		case "gone":
			d.fates[url] = "dead"
		}
	}
	return d.fates, trapped
}
