// Command clients queries a running server with Google's client library for the Custom Search JSON
// API, which knows the server's address only.
//
//	cd lab/clients && go run . --url http://127.0.0.1:8080 --query "anchor text"
//
// It is a module of its own, so the program does not depend on that library. ask_searx.py does the
// same with two engines of searx, the predecessor of SearXNG. The folders have clients in other
// languages, which .ci/clients runs with this one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"google.golang.org/api/customsearch/v1"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

func main() {
	base := flag.String("url", "http://127.0.0.1:8080", "the server")
	query := flag.String("query", "anchor text", "query, which should have more than ten results")
	flag.Parse()
	if err := run(*base, *query); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(base, query string) error {
	s, err := customsearch.NewService(context.Background(), option.WithEndpoint(base), option.WithAPIKey("any key"))
	if err != nil {
		return err
	}
	first, err := s.Cse.List().Cx("any").Q(query).Num(10).Do()
	if err != nil {
		return err
	}
	if len(first.Items) == 0 || first.SearchInformation == nil || first.SearchInformation.TotalResults == "0" {
		return fmt.Errorf("%q has no results: %+v", query, first.SearchInformation)
	}
	fmt.Printf("%s results in %.4f s\n", first.SearchInformation.TotalResults, first.SearchInformation.SearchTime)
	for i, item := range first.Items {
		if item.Link == "" || item.Title == "" || item.HtmlTitle == "" || item.DisplayLink == "" {
			return fmt.Errorf("result %d lacks something: %+v", i+1, item)
		}
		fmt.Printf("%2d  %s\n    %s\n", i+1, item.Title, item.Link)
	}
	if err := second(s, query, first); err != nil {
		return err
	}
	site := first.Items[0].DisplayLink
	within, err := s.Cse.List().Cx("any").Q(query).SiteSearch(site).SiteSearchFilter("i").Do()
	if err != nil {
		return err
	}
	for _, item := range within.Items {
		if item.DisplayLink != site {
			return fmt.Errorf("%s is not of %s", item.Link, site)
		}
	}
	fmt.Printf("%d of the first results on %s are of it\n", len(within.Items), site)
	return refused(s, query)
}

// second follows the library's way to the next page.
func second(s *customsearch.Service, query string, first *customsearch.Search) error {
	if len(first.Queries.NextPage) == 0 {
		fmt.Println("there is no second page")
		return nil
	}
	start := first.Queries.NextPage[0].StartIndex
	next, err := s.Cse.List().Cx("any").Q(query).Num(10).Start(start).Do()
	if err != nil {
		return err
	}
	if len(next.Items) == 0 || next.Items[0].Link == first.Items[0].Link || len(next.Queries.PreviousPage) == 0 {
		return fmt.Errorf("the page from %d on is no second page", start)
	}
	fmt.Printf("%d more from number %d on\n", len(next.Items), start)
	return nil
}

// refused wants an error that the library understands.
func refused(s *customsearch.Service, query string) error {
	_, err := s.Cse.List().Cx("any").Q(query).Num(11).Do()
	failed, ok := err.(*googleapi.Error)
	if !ok || failed.Code != 400 || failed.Message == "" {
		return fmt.Errorf("num=11 gave %v, no error of the library's", err)
	}
	fmt.Printf("num=11 is refused: %s\n", failed.Message)
	return nil
}
