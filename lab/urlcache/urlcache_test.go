package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/vocab"
)

// TestMinIsBelady compares MIN with a search for the latest next use.
func TestMinIsBelady(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for size := 1; size <= 6; size++ {
		stream := make([]vocab.Fingerprint, 400)
		for i := range stream {
			stream[i] = vocab.Fingerprint(r.IntN(r.IntN(20) + 1))
		}
		if got, want := belady(stream, nextUse(stream), size), slowMin(stream, size); got != want {
			t.Errorf("size %d: %d hits, want %d", size, got, want)
		}
	}
}

func slowMin(stream []vocab.Fingerprint, size int) (hits uint64) {
	var cache []vocab.Fingerprint
	for i, fp := range stream {
		if slices.Contains(cache, fp) {
			hits++
			continue
		}
		if cache = append(cache, fp); len(cache) <= size {
			continue
		}
		worst, at := 0, -1
		for k, c := range cache {
			next := slices.Index(stream[i+1:], c)
			if next < 0 {
				next = len(stream)
			}
			if next > at {
				worst, at = k, next
			}
		}
		cache = slices.Delete(cache, worst, worst+1)
	}
	return hits
}

// TestShape compares the synthetic stream with the figures of the paper's stream (§4), and the
// curve with the paper's result (§5): no policy is better than MIN.
func TestShape(t *testing.T) {
	stream, s := synthesize(400_000, 1, false, sitesAtOnce, false)
	if again, _ := synthesize(400_000, 1, false, sitesAtOnce, false); !slices.Equal(stream, again) {
		t.Fatal("the same seed gives another stream")
	}
	if s.links() < 45 || s.links() > 75 || s.distinct()/s.links() < 0.60 || s.distinct()/s.links() > 0.75 || s.local() < 75 || s.local() > 85 {
		t.Errorf("%.1f links a page, %.1f distinct, %.1f %% local", s.links(), s.distinct(), s.local())
	}
	f := count(stream)
	for _, size := range []int{64, 4096} {
		best := belady(stream, nextUse(stream), size)
		for _, p := range policies {
			if hits := replay(stream, f, p, size); hits > best {
				t.Errorf("%s of %d: %d hits, MIN has %d", p.name, size, hits, best)
			}
		}
	}
}

func TestLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace")
	want := []vocab.Fingerprint{1, 1 << 63, 1}
	if err := save(name, want); err != nil {
		t.Fatal(err)
	}
	if got, err := load(name); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	var out strings.Builder
	if err := run(&out, origin{log: name}, "", ""); err != nil || !strings.Contains(out.String(), "3 links, 2 distinct") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if _, err := load(t.TempDir()); err == nil {
		t.Error("a folder is read as a trace")
	}
}

// TestReplayed: the stream has each link as often as its page, in the order of the pages.
func TestReplayed(t *testing.T) {
	data := t.TempDir()
	repo, err := repository.Open(datadir.Repository(data), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	page := func(doc vocab.DocID, url, body string) repository.Record {
		return repository.Record{Kind: repository.PageRecord, Page: vocab.Page{Doc: doc, URL: url, Body: []byte(body)}}
	}
	_, err = repo.Append([]repository.Record{
		page(1, "http://a.test/", `<a href=/x>x</a> <a href=http://b.test/>b</a> <a href=/x>again</a>`),
		page(2, "http://b.test/", `<a href=http://a.test/x>x</a>`),
	})
	if err := errors.Join(err, repo.Close()); err != nil {
		t.Fatal(err)
	}
	crawl, err := readCrawl(data)
	if err != nil {
		t.Fatal(err)
	}
	stream, sum := crawl.replayed(false)
	if len(stream) != 4 || stream[0] != stream[2] || stream[0] != stream[3] || stream[0] == stream[1] {
		t.Errorf("%v", stream)
	}
	if away, _ := crawl.replayed(true); !slices.Equal(away, []vocab.Fingerprint{stream[1], stream[3]}) {
		t.Errorf("away: %v of %v", away, stream)
	}
	if want := (summary{pages: 2, sites: 2, all: 4, different: 3, within: 1}); sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
}

// TestAway checks that the share of links out of a site is that of the summary, within two points: the
// summary counts links that a page repeats once.
func TestAway(t *testing.T) {
	const links = 400_000
	_, s := synthesize(links, 1, true, sitesAtOnce, false)
	if got, want := 100*links/float64(s.all), 100-s.local(); math.Abs(got-want) > 2 {
		t.Errorf("%.1f %% of the links are in the stream, %.1f %% of the different ones lead out of their site", got, want)
	}
}

// TestBend: where sites take turns, hits rise when a cache holds the links of a page of each of them,
// so that the size for as many hits grows with the sites that are read at once.
func TestBend(t *testing.T) {
	clock := policies[slices.IndexFunc(policies, func(p policy) bool { return p.name == "clock" })]
	hits := func(atOnce, size int) float64 {
		stream, _ := synthesize(200_000, 1, false, atOnce, true)
		return percent(replay(stream, frequencies{}, clock, size), len(stream))
	}
	few, many, large := hits(20, 1600), hits(80, 1600), hits(80, 6400)
	if few-many < 8 || few-large > 8 {
		t.Errorf("hits %.1f %% of 20 sites at once, of 80 %.1f and %.1f with four times the size", few, many, large)
	}
}

// TestInTurns: of two crawls, 81.5 % of the links stay on their host, sites that were one host share no
// links to themselves, and links to other hosts meet again.
func TestInTurns(t *testing.T) {
	crawl := func(stay, leave int) *crawled {
		c := &crawled{hosts: map[string]int{}, sites: make([][]int, 2)}
		for i := range 40 {
			p := crawledPage{host: i % 2}
			for k := range stay {
				p.links = append(p.links, crawledLink{fingerprint(p.host, k), p.host})
			}
			for k := range leave {
				p.links = append(p.links, crawledLink{fingerprint(1-p.host, k), 1 - p.host})
			}
			c.sites[p.host] = append(c.sites[p.host], len(c.pages))
			c.pages = append(c.pages, p)
		}
		return c
	}
	near, far := crawl(95, 5), crawl(5, 5)
	stream, sum, err := inTurns([]*crawled{near, far}, 200_000, 1, false, 100)
	if err != nil || math.Abs(sum.local()-81.5) > 1 {
		t.Fatalf("%.1f %% stay, %v", sum.local(), err)
	}
	if got := len(count(stream).byCount); got < 20*sum.sites {
		t.Errorf("%d URLs of %d sites", got, sum.sites)
	}
	away, sum, err := inTurns([]*crawled{near}, 10_000, 1, true, 10)
	if want := float64(sum.all) * .05; err != nil || math.Abs(float64(len(away))-want) > 10 {
		t.Errorf("%d links away, want %.0f: %v", len(away), want, err)
	}
	if urls := len(count(away).byCount); urls > len(away)/4 {
		t.Errorf("%d URLs in %d links away", urls, len(away))
	}
	if _, _, err := inTurns([]*crawled{near, near}, 1000, 1, false, 10); err == nil {
		t.Error("two crawls that both stay are mixed")
	}
}
