// Command sections measures whether results lead to the section of a page that answers the query.
//
//	go run ./lab/sections --data FOLDER FILE.tsv...
//
// A line of FILE has a query and the URLs that answer it, separated by tabs. Lines without a URL with
// a fragment are left out. It prints the share of queries with a right page among ten results, and of
// those the share whose result leads to the right place; leads to it, or has it among the further
// sections; and leads to the top of the page although a section is right. Two fragments are the same
// place if the page has no text between their elements. For each query with --list it prints where
// the first right page leads.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"

	"anatomy/collection"
	"anatomy/lab/rig"
	"anatomy/searcher"
)

// Counts are numbers of queries.
type counts struct {
	queries int
	page    int // with a right page among ten
	section int // whose result of it leads to a right section
	further int // or has a right section among the further ones
	top     int // whose result leads to the page as a whole
}

func main() {
	data := flag.String("data", "anatomy-data", "data folder")
	list := flag.Bool("list", false, "print each query")
	flag.Parse()
	if err := run(*data, flag.Args(), *list); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(data string, files []string, list bool) error {
	links := collection.NewSharedLinks(data)
	defer links.Close()
	s, err := searcher.Open(data, searcher.Options{Links: links})
	if err != nil {
		return err
	}
	defer s.Close()
	site, err := collection.OpenSite(data, s, links)
	if err != nil {
		return err
	}
	defer site.Close()
	var all counts
	for _, file := range files {
		questions, err := rig.ReadQuestions(file)
		if err != nil {
			return err
		}
		var c counts
		for i := range questions {
			if !questions[i].HasSection() {
				continue
			}
			if err := c.ask(site, &questions[i], list); err != nil {
				return err
			}
		}
		c.print(file)
		all.add(c)
	}
	all.print("all")
	return nil
}

// ask counts a question, by the first of its results that is a page with a right section.
func (c *counts) ask(site *collection.Site, q *rig.Question, list bool) error {
	c.queries++
	a, err := site.Search(context.Background(), searcher.Request{Query: q.Query})
	if err != nil {
		return err
	}
	for i := range a.Results {
		r := &a.Results[i]
		right := q.Sections(r.URL)
		if len(right) == 0 {
			continue
		}
		page, err := site.Page(context.Background(), r.Doc)
		if err != nil {
			return err
		}
		outcome := c.judge(string(page.Body), r, right)
		if list {
			fmt.Printf("%s\t%s\t%s\twant %s\n", outcome, q.Query, r.Link(), right)
		}
		return nil
	}
	if list {
		fmt.Printf("no page\t%s\n", q.Query)
	}
	return nil
}

// judge counts a result, given the fragments of its page that are right.
func (c *counts) judge(body string, r *searcher.Result, right []string) (outcome string) {
	c.page++
	isRight := func(s *searcher.Section) bool {
		return slices.ContainsFunc(right, func(id string) bool { return rig.SamePlace(body, s.ID, id) })
	}
	outcome = "wrong section"
	if r.Section.Heading == "" {
		c.top++
		outcome = "top of the page"
	}
	switch {
	case r.Section.Heading != "" && isRight(&r.Section):
		c.section++
		outcome = "right section"
	case slices.ContainsFunc(r.Sections, func(s searcher.Section) bool { return isRight(&s) }):
		c.further++
		outcome = "right further section"
	}
	return outcome
}

func (c *counts) add(o counts) {
	c.queries, c.page, c.section = c.queries+o.queries, c.page+o.page, c.section+o.section
	c.further, c.top = c.further+o.further, c.top+o.top
}

func (c *counts) print(name string) {
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	fmt.Printf("%s: %d queries, right page in ten %.3f; of these right section %.3f, with further ones %.3f, top of the page %.3f\n",
		name, c.queries, share(c.page, c.queries), share(c.section, c.page),
		share(c.section+c.further, c.page), share(c.top, c.page))
}
