// Command agents measures retrieval for programs with a budget of tokens: the share of questions whose right page,
// and whose right section, is among the passages that a search with max_tokens returns.
//
//	go run ./lab/agents --data FOLDER --budgets 1000,2000,4000 FILE.tsv...
//
// A line of FILE has a query and the URLs that answer it, separated by tabs. Queries without a right page in the
// collection are left out, and printed as a number. A right section is one at a fragment of these URLs, see
// rig.SamePlace; its share is of the queries that have one. It asks the API of a server in this process.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"anatomy/collection"
	"anatomy/eval"
	"anatomy/lab/rig"
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web"
)

func main() {
	data := flag.String("data", "anatomy-data", "data folder")
	budgets := flag.String("budgets", "1000,2000,4000", "budgets in tokens, separated by commas")
	flag.Parse()
	if err := run(*data, *budgets, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(data, list string, files []string) error {
	var budgets []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("--budgets: %w", err)
		}
		budgets = append(budgets, n)
	}
	links := collection.NewSharedLinks(data)
	defer links.Close()
	s, err := searcher.Open(data, searcher.Options{Links: links})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Learn(context.Background()); err != nil {
		return err
	}
	site, err := collection.OpenSite(data, s, links)
	if err != nil {
		return err
	}
	defer site.Close()
	b := &bench{site, web.New(web.Options{Collection: site, Limits: web.Limits{Rate: -1}}).Handler(), budgets}
	for _, file := range files {
		if err := b.measure(file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// A bench asks one collection.
type bench struct {
	site    *collection.Site
	handler http.Handler
	budgets []int
}

// measure asks the questions of a file with each budget, and prints the shares.
func (b *bench) measure(file string) error {
	questions, absent, err := b.read(file)
	if err != nil {
		return err
	}
	if len(questions) == 0 {
		return fmt.Errorf("none of %d queries has a right page in the collection", absent)
	}
	fmt.Printf("%s: %d queries, %d left out\n", file, len(questions), absent)
	for _, budget := range b.budgets {
		t := tally{budget: budget, queries: len(questions)}
		for _, q := range questions {
			a, err := b.ask(q.Query, budget)
			if err != nil {
				return err
			}
			t.tokens, t.passages = t.tokens+a.Tokens, t.passages+len(a.Results)
			page, section := b.judge(&q, a)
			if q.HasSection() {
				t.withSection++
				t.sections += section
			}
			t.pages += page
		}
		fmt.Println(t.String())
	}
	return nil
}

// A tally is what a budget brought for the queries of a file.
type tally struct {
	budget, queries, withSection int // withSection: queries that have a right section
	pages, sections              int // queries with the right page, and with the right section, among the passages
	tokens, passages             int
}

func (t *tally) String() string {
	n := float64(t.queries)
	section := "no query has a right section"
	if t.withSection > 0 {
		section = fmt.Sprintf("right section %.3f of %d", float64(t.sections)/float64(t.withSection), t.withSection)
	}
	return fmt.Sprintf("  %5d tokens: right page %.3f, %s; %.1f passages and %.0f tokens on average",
		t.budget, float64(t.pages)/n, section, float64(t.passages)/n, float64(t.tokens)/n)
}

// read reads the questions of a file, and counts those whose pages the collection lacks.
func (b *bench) read(file string) (held []rig.Question, absent int, err error) {
	all, err := rig.ReadQuestions(file)
	for _, q := range all {
		if slices.ContainsFunc(q.Pages, b.holds) {
			held = append(held, q)
		} else {
			absent++
		}
	}
	return held, absent, err
}

// holds reports whether the collection has a page, by http or https.
func (b *bench) holds(page string) bool {
	_, rest, _ := strings.Cut(page, "://")
	for _, scheme := range []string{"http://", "https://"} {
		if _, err := b.site.Find(context.Background(), scheme+rest); err == nil {
			return true
		}
	}
	return false
}

// An answer is a part of the answer of the API.
type answer struct {
	Tokens  int
	Results []struct {
		URL, Passage string
		Doc          vocab.DocID `json:"docid"`
		Section      struct{ ID string }
	}
}

func (b *bench) ask(query string, budget int) (*answer, error) {
	target := "/api/v1/search?" + url.Values{"q": {query}, "num": {"20"}, "max_tokens": {strconv.Itoa(budget)}}.Encode()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "localhost"
	b.handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%q: status %d: %s", query, w.Code, w.Body)
	}
	a := &answer{}
	return a, json.Unmarshal(w.Body.Bytes(), a)
}

// judge returns 1 for each of page and section that a passage is of.
func (b *bench) judge(q *rig.Question, a *answer) (page, section int) {
	for _, r := range a.Results {
		if _, right := q.Right[eval.Page(r.URL)]; !right || r.Passage == "" {
			continue
		}
		page = 1
		stored, err := b.site.Page(context.Background(), r.Doc)
		if err != nil || r.Section.ID == "" {
			continue
		}
		if slices.ContainsFunc(q.Sections(r.URL), func(id string) bool { return rig.SamePlace(string(stored.Body), r.Section.ID, id) }) {
			section = 1
		}
	}
	return page, section
}
