// Command mission goes through what this search engine is for as one scenario: a URL server hands out
// URLs to distributed crawlers with cached DNS, pages are stored and taken apart into barrels, anchors
// and inverted lists, PageRank is computed offline, and answers come in the browser and as JSON.
//
//	go run ./lab/mission --docsweb PROGRAM --pages DIR
//
// PROGRAM is a built docsweb, DIR the folder of its small web. The ports that package bench names must
// be free. After a crawl by one process, three nodes share a bucket and two crawlers fetch for them.
// While they crawl the structures of the owner's folder are dumped with anatomy's own commands, ranks
// are computed, and the owner is killed. In the end the nodes have to show the same first ten in the
// browser's page as in JSON, and the collection, restored from the bucket, has to have the pages of one
// process; docsweb's audit has to be clean, and its DNS server must not be asked more than a tenth more
// often than by one process.
//
// It prints each step with its figures, and exits with status 1 where one does not hold.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"anatomy/lab/rig/bench"
)

func main() {
	b := &bench.Bench{Nodes: 3, Crawlers: 2, Flags: []string{"--delay", "20ms"}}
	flag.StringVar(&b.Docsweb, "docsweb", "", "the docsweb program")
	flag.StringVar(&b.Pages, "pages", "", "folder of pages that docsweb serves")
	flag.StringVar(&b.Anatomy, "anatomy", "", "a built anatomy; default: built from here")
	flag.Parse()
	if b.Docsweb == "" || b.Pages == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: mission --docsweb PROGRAM --pages DIR")
		os.Exit(2)
	}
	if err := run(b); err != nil {
		fmt.Fprintln(os.Stderr, "mission:", err)
		os.Exit(1)
	}
}

func run(b *bench.Bench) error {
	end, err := b.Prepare()
	if err != nil {
		return err
	}
	defer end()
	one, err := b.Measure(b.Alone)
	if err != nil {
		return err
	}
	step("one process", "%d URLs with a page, %d requests, %d DNS queries", len(one.Pages), one.Requests, one.Lookups)
	b.During = func(g *bench.Group) error { return during(b, g) }
	b.After = after
	many, err := b.Measure(b.Share)
	if err != nil {
		return err
	}
	step("a node killed", "another owned the collection after %.1f s; %d questions answered meanwhile, %d not",
		many.TakeOver.Seconds(), many.Answers, many.Unanswered)
	step("3 nodes, 2 crawlers", "%d URLs with a page, %d requests, %d of them repeated", len(many.Pages), many.Requests, len(many.Repeated))
	step("DNS", "%d queries, %.3f a URL with a page", many.Lookups, float64(many.Lookups)/float64(max(1, len(many.Pages))))
	if err := many.Complete(one); err != nil {
		return err
	}
	step("nothing lost", "the pages restored from the bucket are those of one process")
	for line := range strings.Lines(many.Audit) {
		step("audit", "%s", strings.TrimSpace(line))
	}
	if 10*many.Lookups > 11*one.Lookups {
		return fmt.Errorf("%d DNS queries, one process %d", many.Lookups, one.Lookups)
	}
	return nil
}

// step prints a line with what a step found.
func step(name, format string, args ...any) {
	fmt.Printf("%-20s "+format+"\n", append([]any{name}, args...)...)
}

const (
	question = "index"
	deadline = 2 * time.Minute // for something to happen in the crawl
)

// during looks at the structures of the owner's folder while it crawls, and kills it.
func during(b *bench.Bench, g *bench.Group) error {
	err := await("ten pages to be found", func() (bool, error) {
		if g.Owner() < 0 {
			return false, nil
		}
		hits, err := g.Answer(g.Owner(), question, 10)
		return len(hits) == 10, ignore(err)
	})
	if err != nil {
		return err
	}
	data := g.Folder(g.Owner())
	file := filepath.Join(b.Work, "linked.barrel")
	if err := await("barrels", func() (bool, error) { return linkBarrels(data, file) }); err != nil {
		return err
	}
	for _, d := range []struct {
		name, unit, prefix string // of the lines that are counted
		args               []string
	}{
		{"barrels", "documents with a term", "    document ", []string{"dump", "barrels", file}},
		{"repository", "records", "", []string{"dump", "repository", "--data", data}},
		{"anchors", "anchor texts", "anchor ", []string{"dump", "links", "--data", data}},
		{"inverted lists", "postings of one term", "\t", []string{"dump", "segment", question, "--data", data}},
		{"PageRank", "pages with the highest rank", "  0.", []string{"pagerank", "--data", data}},
		{"ranks", "documents", "", []string{"dump", "rank", "--data", data}},
	} {
		out, err := exec.Command(b.Anatomy, d.args...).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(d.args, " "), err)
		}
		n := countLines(out, d.prefix)
		step(d.name, "%d %s, while the crawl runs", n, d.unit)
		if n == 0 {
			return fmt.Errorf("%s printed none", strings.Join(d.args, " "))
		}
	}
	return g.KillOwner() // fails if the crawl has ended
}

// ignore is for errors that pass.
func ignore(error) error { return nil }

// await waits until ready.
func await(what string, ready func() (bool, error)) error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		if time.Since(began) > deadline {
			return errors.New("waited too long for " + what)
		}
	}
}

// linkBarrels links a file of barrels that a crawl is about to sort to another name. It reports
// whether the file is complete, which it is when the crawl has deleted its own.
func linkBarrels(data, file string) (bool, error) {
	names, err := filepath.Glob(filepath.Join(data, "barrels", "*.barrel"))
	for _, name := range names {
		if os.Link(name, file) != nil {
			continue // it is gone
		}
		return true, await("barrels to be sorted", func() (bool, error) {
			_, err := os.Lstat(name)
			return err != nil, nil
		})
	}
	return false, err
}

// countLines returns the number of lines with a prefix.
func countLines(text []byte, prefix string) (n int) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(prefix)) {
			n++
		}
	}
	return n
}

// after compares the first ten results in the browser's page and in JSON, of all nodes.
func after(g *bench.Group) error {
	pages, results := 0, 0
	for _, question := range bench.Questions {
		for i := range g.Nodes {
			hits, err := g.Answer(i, question, 10)
			if err != nil {
				return err
			}
			page, err := g.Get(i, "/search?q="+url.QueryEscape(question))
			if err != nil {
				return err
			}
			var want []string
			for _, h := range hits {
				want = append(want, h.URL)
			}
			if got := links(page); !slices.Equal(got, want) {
				return fmt.Errorf("node %d answers %q with %q in the browser and %q as JSON", i, question, got, want)
			}
			pages, results = pages+1, results+len(hits)
		}
	}
	step("answers", "%d pages with %d results: the same in the browser and as JSON", pages, results)
	return nil
}

// hit matches a result in the browser's page up to the URL that it links to.
var hit = regexp.MustCompile(`(?s)<li class="hit">.*?<h2[^>]*><a href="([^"]*)"`)

// links returns the URLs of the results in a page, without the fragments that lead to a section.
func links(page []byte) (urls []string) {
	for _, m := range hit.FindAllSubmatch(page, -1) {
		url, _, _ := strings.Cut(html.UnescapeString(string(m[1])), "#")
		urls = append(urls, url)
	}
	return urls
}
