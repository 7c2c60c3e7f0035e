// Parallel measures how well translations of pages are found: it computes the pairs of a data folder
// and compares them with a table of the truth.
//
//	go run ./lab/parallel --data FOLDER --truth pages.tsv [--wrong] [--web FOLDER]
//
// The table has a line for each page, under a line with the names of its columns: site, key, language,
// url, untranslated. Two pages of one site and key are versions of each other. Untranslated is the share
// of a page's text that is another version's: a pair with a page above .8 is wrong, and one above .5 does
// not count.
//
// With --web, the folder of files that were served, it also measures aligned segments. Where two pages
// have the same value in the column structure, the i-th block of one translates the i-th of the other.
// Segments are right if both texts are those of one such pair of blocks, white space apart. The blocks
// of pairs with English are aligned again after one in ten was left out of each page at random.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/parallel"
)

// Shares of untranslated text, see above.
const (
	translated = 0.5
	copied     = 0.8
)

// A row is a page of the truth.
type row struct {
	site, key, lang string
	untranslated    float64
	structure       string // a hash of the tags of its blocks
}

// A pair is two URLs, ascending.
type pair [2]string

func pairOf(a, b string) pair { return pair{min(a, b), max(a, b)} }

// A score counts pairs.
type score struct{ truth, found, right int }

func (s score) String() string {
	p, r := float64(s.right)/float64(max(s.found, 1)), float64(s.right)/float64(max(s.truth, 1))
	return fmt.Sprintf("%7d %7d %9.3f %7.3f", s.truth, s.found, p, r)
}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "anatomy-data", "data folder")
	truth := flag.String("truth", "pages.tsv", "table of the truth")
	wrong := flag.Bool("wrong", false, "print wrong pairs")
	missed := flag.Bool("missed", false, "print pairs that are not found")
	web := flag.String("web", "", "folder of the files that were served: measure segments")
	flag.Parse()
	if err := run(*data, *truth, *wrong, *missed); err != nil {
		log.Fatal(err)
	}
	if *web != "" {
		if err := measureSegments(*data, *truth, *web); err != nil {
			log.Fatal(err)
		}
	}
}

func run(data, truth string, wrong, missed bool) error {
	rows, err := readTruth(truth)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := parallel.Compute(context.Background(), data); err != nil {
		return err
	}
	took := time.Since(began)
	right, ignored := pairsOf(rows)
	bySite, byEvidence := map[string]*score{}, map[string]*score{}
	count := func(of map[string]*score, name string) *score {
		if of[name] == nil {
			of[name] = &score{}
		}
		return of[name]
	}
	isEnglish := func(p pair) bool { return rows[p[0]].lang == "en" || rows[p[1]].lang == "en" }
	for p := range right {
		count(bySite, rows[p[0]].site).truth++
		count(bySite, "all").truth++
		if isEnglish(p) {
			count(bySite, "all with English").truth++
			count(bySite, rows[p[0]].site+" with English").truth++
		}
	}
	found := map[pair]bool{}
	if err := parallel.EachPair(context.Background(), data, func(q parallel.Pair) error {
		p := pairOf(q.A, q.B)
		if ignored[p] || found[p] {
			return nil
		}
		found[p] = true
		site := cmp.Or(rows[p[0]].site, "elsewhere")
		names := []string{site, "all"}
		if isEnglish(p) {
			names = append(names, "all with English", site+" with English")
		}
		for _, s := range names {
			count(bySite, s).found++
		}
		of := count(byEvidence, site+" "+q.Evidence)
		of.found++
		if right[p] {
			of.right++
			for _, s := range names {
				count(bySite, s).right++
			}
		} else if wrong {
			fmt.Println("wrong", p[0], p[1], q.LangA, q.LangB, q.Evidence, q.Confidence, rows[p[0]].untranslated, rows[p[1]].untranslated)
		}
		return nil
	}); err != nil {
		return err
	}
	if missed {
		for p := range right {
			if !found[p] {
				fmt.Println("missed", p[0], p[1])
			}
		}
	}
	fmt.Printf("%-40s   pairs   found precision  recall\n", "site")
	for _, name := range slices.Sorted(maps.Keys(bySite)) {
		fmt.Printf("%-40s %v\n", name, bySite[name])
	}
	fmt.Printf("\n%-40s   found precision\n", "site and evidence")
	for _, name := range slices.Sorted(maps.Keys(byEvidence)) {
		s := byEvidence[name]
		fmt.Printf("%-40s %7d %9.3f\n", name, s.found, float64(s.right)/float64(s.found))
	}
	fmt.Printf("\n%d pages of the truth, computed in %v\n", len(rows), took.Round(time.Millisecond))
	return nil
}

// readTruth returns the pages of the truth by URL.
func readTruth(path string) (map[string]row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	lines, err := r.ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("%s: %d lines, %w", path, len(lines), err)
	}
	column := func(line []string, name string) string {
		if i := slices.Index(lines[0], name); i >= 0 && i < len(line) {
			return line[i]
		}
		return ""
	}
	rows := map[string]row{}
	for _, line := range lines[1:] {
		share, err := strconv.ParseFloat(column(line, "untranslated"), 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, strings.Join(line, " "), err)
		}
		rows[column(line, "url")] = row{column(line, "site"), column(line, "key"), column(line, "language"), share, column(line, "structure")}
	}
	return rows, nil
}

// pairsOf returns the true pairs, and those that do not count.
func pairsOf(rows map[string]row) (right, ignored map[pair]bool) {
	right, ignored = map[pair]bool{}, map[pair]bool{}
	groups := map[[2]string][]string{}
	for url, r := range rows {
		groups[[2]string{r.site, r.key}] = append(groups[[2]string{r.site, r.key}], url)
	}
	for _, urls := range groups {
		for i, a := range urls {
			for _, b := range urls[i+1:] {
				switch worst := max(rows[a].untranslated, rows[b].untranslated); {
				case worst < translated:
					right[pairOf(a, b)] = true
				case worst < copied:
					ignored[pairOf(a, b)] = true
				}
			}
		}
	}
	return right, ignored
}
