package engine_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/control"
	"anatomy/disk/docindex"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/urlserver"
)

// duplicates returns a web in which each page has several URLs, and these URLs by the canonical
// one.
func duplicates(t *testing.T) (w *testweb.Web, seeds []string, want map[string][]string) {
	w = testweb.New(t)
	want = map[string][]string{
		"http://plain.test/a.html":        {"http://plain.test/folder/a.html", "http://www.plain.test/a.html?print", "http://plain.test/folder/deep/a"},
		"http://canon.test/the/real/page": {"http://canon.test/p", "http://canon.test/q"},
		"http://linked.test/latest/long":  {"http://linked.test/1.0/", "http://linked.test/2.0/"},
		"http://vouched.test/deep/page":   {"http://m.test/deep/page"},
		"http://vouched.test/":            nil,
		"http://m.test/list":              nil,
		"http://alone.test/":              nil,
		"http://self.test/x":              {"http://self.test/y"},
		"http://lang.test/a/en/long":      {"http://lang.test/a/pt-br/long", "http://lang.test/a/ko/long"},
		"http://lang.test/a/tr/":          {"http://lang.test/a/da/", "http://lang.test/a/nb_NO/"},
	}
	body := map[string]string{
		"http://plain.test/a.html":        `the plainest name`,
		"http://canon.test/the/real/page": `<link rel=canonical href="http://canon.test/the/real/page">what it says itself`,
		"http://linked.test/latest/long":  `<a href="next.html">where the others lead</a> <a href="/1.0/">a copy does not count</a>`,
		"http://vouched.test/deep/page":   `its site is linked to, its copy within the site of the copy`,
		"http://vouched.test/":            `the home page of a site that others know`,
		"http://m.test/list":              `the list of what it copied: <a href="/deep/page">a page</a>`,
		"http://alone.test/":              `<a href="http://vouched.test/">home</a> <a href="http://linked.test/latest/long">the latest</a> <a href="http://linked.test/1.0/" rel=nofollow>old</a> <a href="http://lang.test/a/ko/long">not translated</a> <a href="http://lang.test/a/tr/">Danish</a>`,
		"http://self.test/x":              `<link rel=canonical href="">each says itself`,
		"http://lang.test/a/en/long":      `<html lang=en-GB>only one URL names its language`,
		"http://lang.test/a/tr/":          `<html lang=en>no URL names its language`,
	}
	for of, others := range want {
		for _, url := range append(others, of) {
			_, key, _ := strings.Cut(url, "://")
			w.Page(key, body[of])
			seeds = append(seeds, url)
		}
	}
	return w, seeds, want
}

// TestRepresentatives: the elected canonical documents do not depend on the order of discovery. A
// rebuilt index and a resumed crawl have the same ones.
func TestRepresentatives(t *testing.T) {
	w, seeds, want := duplicates(t)
	random := rand.New(rand.NewPCG(3, 4))
	changed := int64(0)
	for range 3 {
		random.Shuffle(len(seeds), func(i, j int) { seeds[i], seeds[j] = seeds[j], seeds[i] })
		o := w.Options(filepath.Join(t.TempDir(), "data"), seeds...)
		o.URLs.Policy = urlserver.BreadthFirst
		stats := testweb.Crawl(t, o)
		changed += stats.CanonicalChanges
		checkCanonical(t, o.Dir, want)
		testweb.Checked(t, o.Dir)
		index, vector := dump(t, o.Dir), testweb.Ranks(t, o.Dir)
		_, err := upkeep.Rebuild(t.Context(), o.Dir, upkeep.RebuildOptions{})
		testweb.Must(t, err)
		if got := dump(t, o.Dir); got != index {
			t.Errorf("rebuilt: %s", firstDifference(got, index))
		}
		testweb.SameMaps(t, "ranks", testweb.Ranks(t, o.Dir), vector)
		if again := testweb.Crawl(t, o); again.CanonicalChanges != 0 {
			t.Errorf("%d clusters have another canonical document when nothing has changed", again.CanonicalChanges)
		}
		o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.RecrawlDue, MaxAge: -1}
		if again := testweb.Crawl(t, o); again.CanonicalChanges != 0 || again.Revisits.Changed != 0 {
			t.Errorf("visited again: %+v", again)
		}
		checkCanonical(t, o.Dir, want)
		testweb.Checked(t, o.Dir)
	}
	if changed == 0 {
		t.Error("the first URL was elected each time")
	}
}

// TestRepresentativesOfRebuild: after a crawl without an index, the rebuild elects the canonical
// documents.
func TestRepresentativesOfRebuild(t *testing.T) {
	w, seeds, want := duplicates(t)
	o := w.Options(filepath.Join(t.TempDir(), "data"), seeds...)
	o.NoIndex = true
	testweb.Crawl(t, o)
	_, err := upkeep.Rebuild(t.Context(), o.Dir, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	checkCanonical(t, o.Dir, want)
	testweb.Checked(t, o.Dir)
}

// checkCanonical checks the canonical URL of each page and its aliases.
func checkCanonical(t *testing.T, dir string, want map[string][]string) {
	t.Helper()
	testweb.Must(t, docindex.Use(dir, func(db *docindex.DB) error {
		for of, others := range want {
			steps, err := control.Follow(db, testweb.MustParse(t, of))
			testweb.Must(t, err)
			if r := steps[0]; len(steps) != 1 || !r.IsPage() {
				t.Errorf("%s: %s", of, r.String())
			}
			for _, url := range others {
				steps, err := control.Follow(db, testweb.MustParse(t, url))
				testweb.Must(t, err)
				if last := steps[len(steps)-1]; last.URL != of || !steps[0].IsDuplicate() || len(steps) != 2 {
					t.Errorf("%s is the canonical document of %s, want %s", last.URL, url, of)
				}
			}
		}
		return nil
	}))
	for of, others := range want {
		if trace := testweb.TraceOf(t, dir, of); !strings.Contains(trace, "index      there, ") {
			t.Errorf("%s is not found:\n%s", of, trace)
		}
		for _, url := range others {
			if trace := testweb.TraceOf(t, dir, url); !strings.Contains(trace, "is the canonical one") || !strings.Contains(trace, fmt.Sprintf("url        %s\n", of)) {
				t.Errorf("the trace of %s:\n%s", url, trace)
			}
		}
	}
}
