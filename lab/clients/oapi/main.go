// Command oapi searches a server with the client that oapi-codegen generates as the package api.
//
//	go run . URL QUERY FOLDER
//
// The URLs of the results are written to FOLDER/go.txt, one per line. The package is not committed:
// .ci/clients generates it in a copy of this folder.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anatomy/lab/clients/oapi/api"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: oapi URL QUERY FOLDER")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, base, query, folder string) error {
	client, err := api.NewClientWithResponses(base)
	if err != nil {
		return err
	}
	urls, pages, err := search(ctx, client, query, true)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if pages < 2 {
		return fmt.Errorf("%q has one page of results, so that no cursor is followed", query)
	}
	total := len(urls)
	fmt.Printf("  search: %d results on %d pages, total %d\n", len(urls), pages, total)
	if err := export(ctx, client, query, total); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := batch(ctx, client, query, total); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	tooMany := 101
	refused, err := client.SearchWithResponse(ctx, &api.SearchParams{Q: query, Num: &tooMany})
	if err != nil {
		return err
	}
	if refused.JSON400 == nil {
		return fmt.Errorf("num=101 returned %s", refused.Status())
	}
	fmt.Printf("  num=101: %d %s: %s\n", refused.StatusCode(), refused.JSON400.Error.Code, refused.JSON400.Error.Message)
	return os.WriteFile(filepath.Join(folder, "go.txt"), []byte(strings.Join(urls, "\n")+"\n"), 0o644)
}

// search returns the URLs of all results, which are as many as the total of the answers, and the
// number of pages that it followed the cursor through.
func search(ctx context.Context, client *api.ClientWithResponses, query string, grouped bool) (urls []string, pages int, err error) {
	num, total := 20, 0
	for cursor := (*string)(nil); cursor != nil || pages == 0; pages++ {
		answer, err := client.SearchWithResponse(ctx, &api.SearchParams{Q: query, Num: &num, Cursor: cursor, Filter: &grouped})
		if err != nil {
			return nil, 0, err
		}
		if answer.JSON200 == nil {
			return nil, 0, errors.New(answer.Status())
		}
		for _, result := range answer.JSON200.Results {
			urls = append(urls, result.Url)
		}
		total, cursor = answer.JSON200.Total.Value, answer.JSON200.NextCursor
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(urls)))
	if len(urls) != total || len(distinct) != total {
		return nil, 0, fmt.Errorf("%d results, %d of them distinct, total %d", len(urls), len(distinct), total)
	}
	return urls, pages, nil
}

func export(ctx context.Context, client *api.ClientWithResponses, query string, total int) error {
	answer, err := client.ExportWithResponse(ctx, &api.ExportParams{Q: query})
	if err != nil {
		return err
	}
	if answer.StatusCode() != http.StatusOK {
		return errors.New(answer.Status())
	}
	lines := bytes.Split(bytes.TrimSuffix(answer.Body, []byte("\n")), []byte("\n"))
	last := len(lines) - 1
	var end api.ExportEnd
	if err := json.Unmarshal(lines[last], &end); err != nil {
		return err
	}
	var urls []string
	for _, line := range lines[:last] {
		var result api.Result
		if err := json.Unmarshal(line, &result); err != nil {
			return err
		}
		urls = append(urls, result.Url)
	}
	if !end.Done || end.Results != last || last != total {
		return fmt.Errorf("%d lines, total %d: %+v", last, total, end)
	}
	ungrouped, _, err := search(ctx, client, query, false)
	if err != nil {
		return err
	}
	if !slices.Equal(urls, ungrouped) {
		return errors.New("other URLs than those of the search with filter=false")
	}
	fmt.Printf("  export: %d lines, in the order of the search with filter=false\n", last)
	return nil
}

func batch(ctx context.Context, client *api.ClientWithResponses, query string, total int) error {
	var body api.Batch
	if err := json.Unmarshal(fmt.Appendf(nil, `{"searches": [{"q": %q}, {"q": "", "num": 3}]}`, query), &body); err != nil {
		return err
	}
	answer, err := client.BatchWithResponse(ctx, body)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil || len(answer.JSON200.Answers) != 2 {
		return fmt.Errorf("%s: %s", answer.Status(), answer.Body)
	}
	first, err := answer.JSON200.Answers[0].AsSearch()
	if err != nil {
		return err
	}
	second, err := answer.JSON200.Answers[1].AsError()
	if err != nil {
		return err
	}
	if first.Total.Value != total || second.Error.Code == "" {
		return fmt.Errorf("returned %s", answer.Body)
	}
	fmt.Printf("  batch: total %d, and the error %s\n", first.Total.Value, second.Error.Code)
	return nil
}
