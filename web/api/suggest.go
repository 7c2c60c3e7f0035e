package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
)

// defaultCompletions is the number that fits under the search box of a small screen.
const defaultCompletions = 8

// suggest answers GET /suggest?q=&num= in the format of the OpenSearch suggestions extension:
// ["typed",["completion",…]].
func (s *v1) suggest(c *gin.Context) {
	respond.AsData(c)
	typed, completions, err := s.completions(c)
	if err != nil {
		s.respond.Problem(c, s.respond.Judge(c, err))
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)              // nosniff, as for all JSON here
	e.Encode([]any{typed, completions}) // strings: cannot fail
	c.Header("Cache-Control", "private, max-age=60")
	c.Data(http.StatusOK, "application/x-suggestions+json; charset=utf-8", b.Bytes())
}

type suggestAnswer struct {
	Query       string   `json:"query"` // the typed text
	Suggestions []string `json:"suggestions"`
}

// apiSuggest returns completions as the API's answer.
func (s *v1) apiSuggest(c *gin.Context) (any, error) {
	typed, completions, err := s.completions(c)
	return &suggestAnswer{typed, completions}, err
}

// completions reads parameters q and num. A blank at the end of q completes its last word.
func (s *v1) completions(c *gin.Context) (typed string, completions []string, err error) {
	p := params.Read(c)
	typed = p.Text("q", params.MaxQuery)
	if typed != "" && strings.HasSuffix(p.One("q"), " ") {
		typed += " "
	}
	limit := p.Number("num", defaultCompletions, 1, searcher.MaxCompletions)
	completions = []string{}
	if p.Err == nil && s.reader.Collection.Ready() {
		completions = append(completions, s.reader.Collection.Complete(typed, limit)...)
	}
	return typed, completions, p.Err
}
