package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// A spellingView says on the page of results what other spelling was answered, or might be meant.
type spellingView struct {
	Corrected bool   // the results are those of Query; else it is only proposed
	Reason    string // why it was answered
	Query     string
	Href      string
	Asked     string // of Corrected: as the asker wrote it
	AskedHref string // the search that insists on that
}

// spelling is nil where the query stands as it is.
func spelling(r searcher.Request, a *searcher.Response) *spellingView {
	switch {
	case a.Corrected != "":
		return &spellingView{
			Corrected: true, Reason: a.Why,
			Query: a.Corrected, Href: searchHref("/search", asking(r, a.Corrected), 0),
			Asked: r.Query, AskedHref: searchHref("/search", r, 0) + "&verbatim=1",
		}
	case a.Suggestion != "":
		return &spellingView{Query: a.Suggestion, Href: searchHref("/search", asking(r, a.Suggestion), 0)}
	}
	return nil
}

// answered is the request that the results are of: addresses made from it lead to the same ones.
func answered(r searcher.Request, a *searcher.Response) searcher.Request {
	if a.Corrected != "" {
		r.Query = a.Corrected
	}
	return r
}

// defaultCompletions is how many fit under the box of a small screen.
const defaultCompletions = 8

// suggest answers GET /suggest?q=&num= in the shape of the OpenSearch suggestions extension:
// ["typed",["completion",…]].
func (s *Server) suggest(c *gin.Context) {
	openToPrograms(c)
	typed, completions, err := s.completions(c)
	if err != nil {
		s.jsonProblem(c, s.judge(c, err))
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)              // nosniff, as for all JSON here
	e.Encode([]any{typed, completions}) // texts: cannot fail
	c.Header("Cache-Control", "private, max-age=60")
	c.Data(http.StatusOK, "application/x-suggestions+json; charset=utf-8", b.Bytes())
}

type suggestAnswer struct {
	Query       string   `json:"query"` // what was typed
	Suggestions []string `json:"suggestions"`
}

// apiSuggest is the same in the shape of the API.
func (s *Server) apiSuggest(c *gin.Context) (any, error) {
	typed, completions, err := s.completions(c)
	return &suggestAnswer{typed, completions}, err
}

// completions reads parameters q and num. A blank at the end of q ends its last word.
func (s *Server) completions(c *gin.Context) (typed string, completions []string, err error) {
	p := readParams(c)
	typed = p.text("q", MaxQuery)
	if typed != "" && strings.HasSuffix(p.one("q"), " ") {
		typed += " "
	}
	limit := p.number("num", defaultCompletions, 1, searcher.MaxCompletions)
	completions = []string{}
	if p.err == nil && s.o.Complete != nil && s.ready() {
		completions = append(completions, s.o.Complete(typed, limit)...)
	}
	return typed, completions, p.err
}
