package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// The requests of Open WebUI to its external search engine and page loader: JSON is posted, and the
// answer is a list.

type externalQuery struct {
	Query string `json:"query"`
	Count int    `json:"count"` // results, 0 for the default
}

type ExternalResult struct {
	Link    string `json:"link"`
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
	Date    string `json:"date,omitempty"` // "2024-05-06"
	Lang    string `json:"lang,omitempty"`
}

// externalSearch answers a search.
func (s *external) externalSearch(c *gin.Context) (any, error) {
	var q externalQuery
	if err := params.ReadJSON(c, &q); err != nil {
		return nil, err
	}
	r := searcher.Request{Query: text.Clean(q.Query), Limit: cmp.Or(q.Count, searcher.DefaultLimit)}
	images, _ := params.ApplyType(&r, "")
	if err := cmp.Or(params.CheckQuery("query", q.Query, r.Query), params.CheckNumber("count", r.Limit, 1, searcher.MaxLimit)); err != nil {
		return nil, err
	}
	if images {
		return s.externalImages(c.Request.Context(), r)
	}
	a, err := s.reader.Search(c.Request.Context(), r)
	if err != nil {
		return nil, err
	}
	results := make([]ExternalResult, 0, len(a.Results))
	for i := range a.Results {
		one := &a.Results[i]
		results = append(results, ExternalResult{one.URL, one.Title, text.Snippet(one), one.Date.String(), one.Lang})
	}
	return results, nil
}

// externalImages answers a search for images. Clients read the page that link names, so link is the
// page that shows the image, and the snippet has the address of the image.
func (s *external) externalImages(ctx context.Context, r searcher.Request) (any, error) {
	a, err := s.reader.Images(ctx, r)
	if err != nil {
		return nil, err
	}
	results := make([]ExternalResult, 0, len(a.Images))
	for i := range a.Images {
		m := &a.Images[i]
		if text.Linkable(m.URL) == "" || text.Linkable(m.Page) == "" { // clients fetch it
			continue
		}
		results = append(results, ExternalResult{
			Link: m.Page, Title: text.ImageText(m),
			Snippet: "An image, " + m.URL + ", on the page: " + m.Named,
		})
	}
	return results, nil
}

type externalURLs struct {
	URLs []string `json:"urls"`
}

type ExternalPage struct {
	Content  string            `json:"page_content"`
	Metadata map[string]string `json:"metadata"`
}

// maxExternalPages limits the pages of one request.
const maxExternalPages = 20

// externalPages returns the text of each page from the repository. Pages that are not stored,
// or whose publishers want no copy or text shown, are left out: the loader expects that.
func (s *external) externalPages(c *gin.Context) (any, error) {
	var q externalURLs
	if err := params.ReadJSON(c, &q); err != nil {
		return nil, err
	}
	if len(q.URLs) == 0 || len(q.URLs) > maxExternalPages {
		return nil, respond.BadParameter(fmt.Sprintf("Field urls has %d URLs. Send 1 to %d.", len(q.URLs), maxExternalPages))
	}
	pages := make([]ExternalPage, 0, len(q.URLs))
	for _, address := range q.URLs {
		page, err := s.externalPage(c.Request.Context(), address)
		switch {
		case err != nil && respond.Of(err).Status >= http.StatusInternalServerError:
			return nil, err
		case err == nil:
			pages = append(pages, page)
		}
	}
	return pages, nil
}

func (s *external) externalPage(ctx context.Context, address string) (made ExternalPage, err error) {
	if len(address) > params.MaxURL {
		return made, collection.ErrNotFound
	}
	page, err := s.reader.Page(ctx, 0, address)
	if err != nil {
		return made, err
	}
	plain, err := page.Plain()
	if err != nil {
		return made, err
	}
	about := map[string]string{"source": page.URL, "title": plain.Title, "fetched_at": page.Fetched.UTC().Format(time.RFC3339)}
	if page.Lang != "" {
		about["language"] = page.Lang
	}
	return ExternalPage{plain.Text, about}, nil
}

// An external answers Open WebUI's external search engine and loader.
type external struct{ *v1 }
