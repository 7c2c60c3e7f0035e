// Command shards compares folders of shards with the data folder that they were split from.
//
//	go run ./lab/shards --data DIR --queries FILE,FILE [--passes 3] [--light] SPLIT SPLIT…
//
//	go run ./lab/shards --live 1,2,4,8 --anatomy PROGRAM --work DIR --queries FILE,FILE -- CRAWL ARGUMENTS
//
// Each SPLIT must have the same documents with the same content and with ranks within 1e-6, and must
// answer each query, the first column of a FILE, with the same results and scores. It prints CPU and
// the median time of a query, beside those of DIR, in turns. It exits with status 1 at a difference.
//
// With --light it compares light copies of all shards as well, whose calls go over TLS on loopback to a
// searcher that has them whole. CPU is that of both together.
//
// With --live it crawls a web into one folder, and then into 1, 2, 4 and 8 shards, which must have the
// same pages. It prints CPU and sizes. Then it splits the one folder into as many shards, compares
// these as above, and compares ranks that are computed over them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/lab/rig"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/weburl"
)

func main() {
	data := flag.String("data", "", "the data folder that was split")
	files := flag.String("queries", "", "files of queries, separated by commas")
	passes := flag.Int("passes", 3, "measurements of each folder")
	live := flag.String("live", "", "crawl into so many shards, numbers separated by commas")
	program := flag.String("anatomy", "anatomy", "the program, for --live")
	work := flag.String("work", "", "folder to work in, for --live; it is emptied first")
	light := flag.Bool("light", false, "compare light copies, too")
	flag.Parse()
	counts, err := rig.Numbers(*live)
	crawls := *live != ""
	if err != nil || *files == "" || flag.NArg() == 0 || crawls == (*data != "") || crawls != (*work != "") {
		fmt.Fprintln(os.Stderr, "usage: shards --data DIR --queries FILE,FILE SPLIT...\n"+
			"       shards --live N,N --anatomy PROGRAM --work DIR --queries FILE,FILE -- CRAWL ARGUMENTS...")
		os.Exit(2)
	}
	queries := strings.Split(*files, ",")
	if crawls {
		r := &liveRun{*program, *work, flag.Args(), queries, *passes}
		err = r.run(counts)
	} else {
		err = run(*data, queries, *passes, *light, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shards:", err)
		os.Exit(1)
	}
}

func run(data string, files []string, passes int, light bool, splits []string) error {
	queries, err := readQueries(files)
	if err != nil {
		return err
	}
	want, err := readDocuments(data)
	if err != nil {
		return err
	}
	one, err := open(data)
	if err != nil {
		return err
	}
	defer one.Close()
	for _, split := range splits {
		failed := compareDocuments(split, want)
		many, err := open(split)
		if err != nil {
			return err
		}
		failed = errors.Join(failed, compareAnswers(one, many, queries))
		if failed == nil {
			failed = measure(one, many, queries, passes)
		}
		if failed == nil && light {
			failed = compareLight(one, split, queries, passes)
		}
		if err := errors.Join(failed, many.Close()); err != nil {
			return fmt.Errorf("%s: %w", split, err)
		}
	}
	return nil
}

// readQueries returns the first column of each line, each query once.
func readQueries(files []string) (queries []string, err error) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			query, _, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			if query != "" && query[0] != '#' {
				queries = append(queries, query)
			}
		}
	}
	slices.Sort(queries)
	return slices.Compact(queries), nil
}

func open(dir string) (*searcher.Searcher, error) {
	s, err := searcher.Open(dir, searcher.Options{})
	if err == nil {
		err = s.Learn(context.Background())
	}
	return s, err
}

// A document is what shards must have kept of a URL.
type document struct {
	state   docindex.State
	content vocab.ContentID
	rank    float32
}

// readDocuments returns the documents of a collection by URL.
func readDocuments(dir string) (map[string]document, error) {
	m, err := shards.Read(dir)
	if err != nil {
		return nil, err
	}
	dirs, err := shards.Folders(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]document{}
	for i, dir := range dirs {
		ranks, err := rankvector.ReadFolder(dir, rankvector.Default)
		if err != nil {
			return nil, err
		}
		err = docindex.Read(dir, func(db *docindex.DB) error {
			return db.Each(1, func(r docindex.Record) error {
				u, err := weburl.Parse(r.URL)
				if err != nil || m != nil && m.Of(&u) != i {
					return err
				}
				if _, twice := found[r.URL]; twice {
					return fmt.Errorf("%s is in two shards", r.URL)
				}
				d := document{state: r.State, rank: float32(ranks.Rank(r.Doc))}
				if r.Fetch != nil {
					d.content = r.Fetch.Content
				}
				found[r.URL] = d
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// maxRankError bounds the difference of two ranks of a page.
const maxRankError = 1e-6

func compareDocuments(split string, want map[string]document) error {
	found, err := readDocuments(split)
	if err != nil {
		return err
	}
	differ, furthest := 0, 0.0
	for url, d := range want {
		other, ok := found[url]
		apart := math.Abs(float64(d.rank - other.rank))
		furthest = max(furthest, apart)
		if other.rank = d.rank; !ok || other != d || apart > maxRankError {
			differ++
		}
	}
	fmt.Printf("%s: %d documents, ranks within %.2g\n", split, len(found), furthest)
	if differ > 0 || len(found) != len(want) {
		return fmt.Errorf("%d documents, %d in one folder; %d of these differ", len(found), len(want), differ)
	}
	return nil
}

// An answer is the first ten results of a query, without DocIDs.
type answer struct {
	total int // -1 where some matches were not counted, because the best were known before
	text  string
}

// same reports whether two answers are equal as far as both are known.
func (a answer) same(b answer) bool {
	return a.text == b.text && (a.total == b.total || a.total < 0 || b.total < 0)
}

func ask(s *searcher.Searcher, query string) (answer, error) {
	r, err := s.Search(context.Background(), searcher.Request{Query: query, Limit: 10, Within: time.Minute})
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q\n", r.Corrected, r.Suggestion)
	for _, p := range r.Results {
		fmt.Fprintf(&b, "%s %v %v\n", p.URL, p.Score, p.Snippet)
	}
	if !r.Exact {
		r.Total = -1
	}
	return answer{r.Total, b.String()}, nil
}

func compareAnswers(one, many *searcher.Searcher, queries []string) error {
	differ, results := 0, 0
	for _, query := range queries {
		a, err := ask(one, query)
		if err != nil {
			return err
		}
		b, err := ask(many, query)
		if err != nil {
			return err
		}
		if results += strings.Count(a.text, "\n") - 1; !a.same(b) {
			differ++
			fmt.Printf("%s: %d in one folder\n%s%d in shards\n%s\n", query, a.total, a.text, b.total, b.text)
		}
	}
	fmt.Printf("%d of %d queries have another answer; they have %d results\n", differ, len(queries), results)
	if differ > 0 || results == 0 {
		return fmt.Errorf("%d answers differ", differ)
	}
	return nil
}

// measure prints what queries cost over shards, beside one folder.
func measure(one, many *searcher.Searcher, queries []string, passes int) error {
	var cpu [2][]time.Duration // of a pass
	var times [2][]time.Duration
	for range passes {
		for i, s := range []*searcher.Searcher{one, many} {
			began := rig.OwnCPU()
			for _, query := range queries {
				start := time.Now()
				if _, err := ask(s, query); err != nil {
					return err
				}
				times[i] = append(times[i], time.Since(start))
			}
			cpu[i] = append(cpu[i], rig.OwnCPU()-began)
		}
	}
	n := time.Duration(len(queries))
	a, b := slices.Min(cpu[0])/n, slices.Min(cpu[1])/n
	fmt.Printf("CPU a query, best of %d passes: %v in one folder, %v in shards: %.2f\n", passes, a, b, float64(b)/float64(a))
	fmt.Printf("median time: %v in one folder, %v in shards\n", median(times[0]), median(times[1]))
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
