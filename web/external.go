package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
)

// The shapes in which Open WebUI asks a search engine and a loader of pages that are not built into it
// (its engine "external" for both): a POST of JSON each, answered by a bare list.

type externalQuery struct {
	Query string `json:"query"`
	Count int    `json:"count"` // results; 0 for as many as a page of results has
}

type externalResult struct {
	Link    string `json:"link"`
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
}

// externalSearch answers the search engine's question.
func (s *Server) externalSearch(c *gin.Context) (any, error) {
	var q externalQuery
	if err := readJSON(c, &q); err != nil {
		return nil, err
	}
	r := searcher.Request{Query: cleanText(q.Query), Limit: cmp.Or(q.Count, searcher.DefaultLimit)}
	images, _ := imagesAsked(&r, "")
	if err := cmp.Or(checkQuery("query", q.Query, r.Query), checkNumber("count", r.Limit, 1, searcher.MaxLimit)); err != nil {
		return nil, err
	}
	if images {
		return s.externalImages(c.Request.Context(), r)
	}
	a, err := s.ask(c.Request.Context(), r)
	if err != nil {
		return nil, err
	}
	results := make([]externalResult, 0, len(a.Results))
	for i := range a.Results {
		one := &a.Results[i]
		results = append(results, externalResult{one.URL, one.Title, plainSnippet(one)})
	}
	return results, nil
}

// externalImages answers a query with type:image. The shape knows pages alone, and whoever asked reads what link leads
// to: so that is the page that shows the image, whose own address stands in the snippet.
func (s *Server) externalImages(ctx context.Context, r searcher.Request) (any, error) {
	a, err := s.askImages(ctx, r)
	if err != nil {
		return nil, err
	}
	results := make([]externalResult, 0, len(a.Images))
	for i := range a.Images {
		m := &a.Images[i]
		if linkable(m.URL) == "" || linkable(m.Page) == "" { // what is read is visited
			continue
		}
		results = append(results, externalResult{m.Page, said(m), "An image, " + m.URL + ", on the page: " + m.Named})
	}
	return results, nil
}

type externalURLs struct {
	URLs []string `json:"urls"`
}

type externalPage struct {
	Content  string            `json:"page_content"`
	Metadata map[string]string `json:"metadata"`
}

// maxExternalPages bounds the pages of one request.
const maxExternalPages = 20

// externalPages answers the loader's question from the repository: the text of each page as it was crawled.
// A page that is not kept is left out, as the loader expects of one that cannot be read.
func (s *Server) externalPages(c *gin.Context) (any, error) {
	var q externalURLs
	if err := readJSON(c, &q); err != nil {
		return nil, err
	}
	if len(q.URLs) == 0 || len(q.URLs) > maxExternalPages {
		return nil, badParameter(fmt.Sprintf("Field urls has %d addresses; there must be from 1 to %d.", len(q.URLs), maxExternalPages))
	}
	pages := make([]externalPage, 0, len(q.URLs))
	for _, address := range q.URLs {
		page, err := s.externalPage(c.Request.Context(), address)
		switch {
		case err != nil && problemOf(err).Status >= http.StatusInternalServerError:
			return nil, err
		case err == nil:
			pages = append(pages, newExternalPage(page))
		}
	}
	return pages, nil
}

func (s *Server) externalPage(ctx context.Context, address string) (*vocab.Page, error) {
	if len(address) > MaxURL {
		return nil, ErrNotFound
	}
	return s.storedPage(ctx, 0, address)
}

func newExternalPage(page *vocab.Page) externalPage {
	plain := textOf(page)
	about := map[string]string{"source": page.URL, "title": plain.Title, "fetched_at": page.Fetched.UTC().Format(time.RFC3339)}
	if tag := langTag(page.Language); tag != "" {
		about["language"] = tag
	}
	return externalPage{plain.Text, about}
}
