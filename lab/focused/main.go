// Command focused simulates focused crawls over a web in a folder. It prints their harvest ratio and recall
// after some numbers of pages, beside those of a breadth-first crawl, and of an oracle that knows the pages
// of the topic.
//
//	go run ./lab/focused --web WEB TOPIC…
//
// WEB has a folder for each host HOST.test, with its pages. TOPIC is a folder with the files examples.txt,
// seeds-near.txt, seeds-far.txt and members.txt, of a URL per line (see the README of the topic web). The
// pages pass through the product's parser and package topic. As in a crawl, a few pages are being fetched
// while the next one is chosen.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anatomy/indexer"
	"anatomy/topic"
	"anatomy/vocab"
	"anatomy/weburl"
)

// marks are the numbers of fetched pages after which a crawl is scored.
var marks = []int{100, 200, 400, 800, 1600}

func main() {
	web := flag.String("web", "", "folder of the web")
	flag.Parse()
	if *web == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: focused --web FOLDER TOPIC…")
		os.Exit(2)
	}
	if err := run(os.Stdout, *web, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "focused:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, web string, topics []string) error {
	pages := &folder{root: web, known: map[string]*indexer.Document{}}
	for _, dir := range topics {
		t, err := readTopic(dir)
		if err != nil {
			return err
		}
		for _, seeds := range []string{"near", "far"} {
			for _, order := range []string{breadthFirst, focused, oracle} {
				c := &crawl{topic: t, pages: pages, order: order}
				if err := c.run(t.seeds[seeds]); err != nil {
					return err
				}
				fmt.Fprintf(w, "%-12s %4d %-4s %-13s", filepath.Base(dir), len(t.members)+len(t.examples), seeds, order)
				for i, n := range c.found {
					n := float64(n)
					fmt.Fprintf(w, " %d: %.2f/%.2f", marks[i], n/float64(marks[i]), n/float64(len(t.members)))
				}
				fmt.Fprintln(w)
			}
		}
	}
	return nil
}

// A subject is a topic to be found.
type subject struct {
	examples []string
	seeds    map[string][]string
	members  map[string]bool // without the examples
}

func readTopic(dir string) (*subject, error) {
	t := &subject{seeds: map[string][]string{}, members: map[string]bool{}}
	read := func(name string) (urls []string, err error) {
		content, err := os.ReadFile(filepath.Join(dir, name+".txt"))
		for _, s := range strings.Fields(string(content)) {
			u, bad := weburl.Parse(s)
			if bad != nil {
				return nil, bad
			}
			urls = append(urls, u.String())
		}
		return urls, err
	}
	members, err := read("members")
	if err != nil {
		return nil, err
	}
	if t.examples, err = read("examples"); err != nil {
		return nil, err
	}
	for _, name := range []string{"near", "far"} {
		if t.seeds[name], err = read("seeds-" + name); err != nil {
			return nil, err
		}
	}
	for _, m := range members {
		t.members[m] = !slices.Contains(t.examples, m)
	}
	maps.DeleteFunc(t.members, func(_ string, is bool) bool { return !is })
	return t, nil
}

// A folder has the pages of a web.
type folder struct {
	root  string
	known map[string]*indexer.Document
}

// page returns a page, or nil if the folder does not have it.
func (f *folder) page(address string) (*indexer.Document, error) {
	if doc, ok := f.known[address]; ok {
		return doc, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(f.root, strings.TrimSuffix(u.Host, ".test"), filepath.FromSlash(filepath.Clean(u.Path)))
	body, err := os.ReadFile(name)
	if err != nil {
		f.known[address] = nil
		return nil, nil
	}
	page := &vocab.Page{
		Doc: vocab.DocID(len(f.known) + 1), URL: address, ContentType: "text/html", Body: bytes.Clone(body),
	}
	doc, err := indexer.Parse(page, &indexer.Buffer{})
	f.known[address] = doc
	return doc, err
}

// Orders of a crawl.
const (
	breadthFirst = "breadth-first"
	focused      = "focused"
	oracle       = "oracle" // knows the pages of the topic
)

// A crawl fetches the best URL next.
type crawl struct {
	topic *subject
	pages *folder
	order string

	focus   *topic.Focus
	odds    map[string]float64 // of URLs that were found and not fetched
	fetched map[string]bool
	places  map[string]int // of URLs, in the order in which they were found
	got     int            // fetched pages of the topic
	found   []int          // the same at each mark
}

// The number of pages that are being fetched, as in the URL server: firstLeases, and one more for each
// pagesPerLease pages.
const (
	firstLeases   = 8
	pagesPerLease = 64
)

// run fetches as many pages as the last mark, or all.
func (c *crawl) run(seeds []string) error {
	c.odds, c.fetched, c.places = map[string]float64{}, map[string]bool{}, map[string]int{}
	c.focus = topic.New(&topic.Topic{Examples: c.topic.examples})
	for _, s := range slices.Concat(c.topic.examples, seeds) {
		c.find(s, math.Inf(1))
	}
	var flying []string
	for len(c.found) < len(marks) {
		next := c.next()
		if next != "" {
			c.fetched[next] = true
			if c.topic.members[next] {
				c.got++
			}
			flying = append(flying, next)
			if len(c.fetched) == marks[len(c.found)] {
				c.found = append(c.found, c.got)
			}
		}
		if len(flying) == 0 {
			return nil
		}
		if next == "" || len(flying) >= firstLeases+len(c.fetched)/pagesPerLease {
			if err := c.arrive(flying[0]); err != nil {
				return err
			}
			flying = flying[1:]
		}
	}
	return nil
}

// find records a URL, or other odds of one.
func (c *crawl) find(address string, odds float64) {
	if _, known := c.places[address]; !known {
		c.places[address] = len(c.places)
	}
	c.odds[address] = odds
}

// next returns the best URL that was found and not fetched.
func (c *crawl) next() (best string) {
	for u, odds := range c.odds {
		if c.fetched[u] {
			delete(c.odds, u)
			continue
		}
		if best == "" || cmp.Or(cmp.Compare(odds, c.odds[best]), c.places[best]-c.places[u]) > 0 {
			best = u
		}
	}
	return best
}

// arrive adds the links of a page.
func (c *crawl) arrive(address string) error {
	doc, err := c.pages.page(address)
	if doc == nil || err != nil {
		return err
	}
	u, err := weburl.Parse(address)
	if err != nil {
		return err
	}
	links := make([]topic.Link, len(doc.Targets))
	for i, text := range doc.TargetTexts() {
		links[i] = topic.Link{URL: doc.Targets[i].URL, Text: text}
	}
	if c.order != focused {
		for _, l := range links {
			odds := 1.0
			if c.order == oracle && c.topic.members[l.URL.String()] {
				odds = 2
			}
			c.find(l.URL.String(), odds)
		}
		return nil
	}
	odds, changed := c.focus.Add(&u, doc.Hits(), links)
	for i, o := range odds {
		if to := links[i].URL.String(); o > 0 || c.odds[to] == 0 {
			c.find(to, o)
		}
	}
	for _, s := range changed {
		c.find(s.URL.String(), s.Odds)
	}
	return nil
}
