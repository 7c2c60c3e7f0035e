package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"html"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"anatomy/parallel"
	"anatomy/parallel/align"
)

// A block is a text between two tags of blocks, as the truth cuts pages.
type block struct{ tag, text string }

var (
	noText  = regexp.MustCompile(`(?is)<script\b.*?</script>|<style\b.*?</style>|<pre\b.*?</pre>|<!--.*?-->`)
	edges   = regexp.MustCompile(`(?i)</?(p|li|h[1-6]|dt|dd|td|th|caption|title|div)\b[^>]*>`)
	anyTag  = regexp.MustCompile(`<[^>]*>`)
	another = rand.New(rand.NewPCG(1, 1))
)

// blocksOf cuts a page into blocks by regular expressions, apart from how the program reads HTML.
func blocksOf(page string) (all []block) {
	page = noText.ReplaceAllString(page, " ")
	at, tag := 0, "p"
	add := func(to int) {
		words := strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(page[at:to], " ")))
		if len(words) > 0 {
			all = append(all, block{tag, strings.Join(words, " ")})
		}
	}
	for _, m := range edges.FindAllStringSubmatchIndex(page, -1) {
		add(m[0])
		at, tag = m[1], strings.ToLower(page[m[2]:m[3]])
	}
	add(len(page))
	return all
}

// A sum counts segments: of the truth, found, and right.
type sum struct{ truth, found, right int }

func (s sum) String() string {
	p, r := float64(s.right)/float64(max(s.found, 1)), float64(s.right)/float64(max(s.truth, 1))
	return fmt.Sprintf("%9d %9d %9.3f %7.3f %6.3f", s.truth, s.found, p, r, 2*p*r/max(p+r, 1e-9))
}

// segmentSums are the sums by site: of exported segments, and after blocks were left out.
type segmentSums struct {
	rows           map[string]row
	web            string
	blocks         map[string][]block // by URL
	exported, left map[string]*sum
}

func measureSegments(data, truth, web string) error {
	rows, err := readTruth(truth)
	if err != nil {
		return err
	}
	s := segmentSums{rows, web, map[string][]block{}, map[string]*sum{}, map[string]*sum{}}
	pages, took := 0, time.Duration(0)
	began := time.Now()
	err = parallel.EachSegments(context.Background(), data, parallel.SegmentOptions{}, func(p parallel.Pair, all []parallel.Segment) error {
		took += time.Since(began)
		defer func() { began = time.Now() }()
		a, b := rows[p.A], rows[p.B]
		if a.key != b.key || a.site != b.site || a.structure == "" || a.structure != b.structure {
			return nil
		}
		pages++
		return s.pair(p, all)
	})
	if err != nil {
		return err
	}
	for _, sums := range []map[string]*sum{s.exported, s.left} {
		fmt.Printf("\n%-24s segments     found precision  recall     F1\n", "site")
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			fmt.Printf("%-22s %v\n", name, sums[name])
		}
	}
	fmt.Printf("\n%d pairs of pages of equal structure; the first table is of exported segments, the second of\n"+
		"blocks of pairs with English of which one in ten was left out at random; segments of all pairs made in %v\n", pages, took.Round(time.Millisecond))
	return nil
}

// pair counts the segments of a pair of pages with equal structure.
func (s *segmentSums) pair(p parallel.Pair, segments []parallel.Segment) error {
	a, err := s.read(p.A)
	if err != nil {
		return err
	}
	b, err := s.read(p.B)
	if err != nil {
		return err
	}
	if len(a) != len(b) { // a line with languages was added to one
		return nil
	}
	var truth [][2]string
	for i := range a {
		truth = append(truth, [2]string{squeeze(a[i].text), squeeze(b[i].text)})
	}
	var found [][2]string
	for _, f := range segments {
		found = append(found, [2]string{squeeze(f.A), squeeze(f.B)})
	}
	s.count(s.exported, p.A, truth, found)
	if p.LangA != "en" && p.LangB != "en" {
		return nil
	}

	var leftA, leftB []align.Piece
	truth, found = nil, nil
	for i := range a {
		hasA, hasB := another.IntN(10) != 0, another.IntN(10) != 0
		if hasA {
			leftA = append(leftA, a[i].piece())
		}
		if hasB {
			leftB = append(leftB, b[i].piece())
		}
		if hasA && hasB {
			truth = append(truth, [2]string{a[i].text, b[i].text})
		}
	}
	for _, l := range align.Align(leftA, leftB) {
		if l.A[1]-l.A[0] == 1 && l.B[1]-l.B[0] == 1 {
			found = append(found, [2]string{leftA[l.A[0]].Text, leftB[l.B[0]].Text})
		} else if l.A[1] > l.A[0] && l.B[1] > l.B[0] {
			found = append(found, [2]string{})
		}
	}
	s.count(s.left, p.A, truth, found)
	return nil
}

// count adds the segments of a pair to the sums of its site and of all.
func (s *segmentSums) count(sums map[string]*sum, page string, truth, found [][2]string) {
	all := map[[2]string]int{}
	for _, t := range truth {
		all[t]++
	}
	right := 0
	for _, f := range found {
		if all[f]--; all[f] >= 0 {
			right++
		}
	}
	for _, name := range []string{s.rows[page].site, "all"} {
		if sums[name] == nil {
			sums[name] = &sum{}
		}
		t := sums[name]
		t.truth, t.found, t.right = t.truth+len(truth), t.found+len(found), t.right+right
	}
}

func (b block) piece() align.Piece {
	h := fnv.New32()
	h.Write([]byte(b.tag))
	return align.Piece{Tag: h.Sum32(), Text: b.text}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// read returns the blocks of the file that was served for a URL.
func (s *segmentSums) read(of string) ([]block, error) {
	if blocks, ok := s.blocks[of]; ok {
		return blocks, nil
	}
	u, err := url.Parse(of)
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(s.web, strings.TrimSuffix(u.Hostname(), ".test"), filepath.FromSlash(u.Path)))
	if err != nil {
		return nil, err
	}
	s.blocks[of] = blocksOf(string(page))
	return s.blocks[of], nil
}
