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
			Query: a.Corrected, Href: searchHref("/search", a.Corrected, 0, r.Limit),
			Asked: r.Query, AskedHref: searchHref("/search", r.Query, 0, r.Limit) + "&verbatim=1",
		}
	case a.Suggestion != "":
		return &spellingView{Query: a.Suggestion, Href: searchHref("/search", a.Suggestion, 0, r.Limit)}
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
// ["typed",["completion",…]]. A blank at the end of q ends its last word.
func (s *Server) suggest(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Content-Security-Policy", dataPolicy)
	p := readParams(c)
	typed := p.text("q", MaxQuery)
	if typed != "" && strings.HasSuffix(p.one("q"), " ") {
		typed += " "
	}
	limit := p.number("num", defaultCompletions, 1, searcher.MaxCompletions)
	if p.err != nil {
		s.jsonProblem(c, s.judge(c, p.err))
		return
	}
	completions := []string{}
	if s.o.Complete != nil && s.ready() {
		completions = append(completions, s.o.Complete(typed, limit)...)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)              // nosniff, as for all JSON here
	e.Encode([]any{typed, completions}) // texts: cannot fail
	h.Set("Cache-Control", "private, max-age=60")
	c.Data(http.StatusOK, "application/x-suggestions+json; charset=utf-8", b.Bytes())
}
