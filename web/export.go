package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// Exports: all results of a query, a line of JSON each (NDJSON), from one state of the index, however
// slowly they are read. The last line says that it is the last: {"done":true,…}; without it the answer
// was cut off.

// The bounds of exports. Two run at once; who reads none for so long, or is not done in the end, is
// cut off.
const (
	maxExports    = 2
	exportChunk   = 100  // results between two looks at time and connection
	exportRate    = 5000 // results a second, so that searches stay quick
	exportTimeout = 10 * time.Minute
)

// errSlowReader ends an export that takes too long.
var errSlowReader = errors.New("the export took too long")

// exportEnd is the last line of an export.
type exportEnd struct {
	Done    bool        `json:"done"`
	Results int         `json:"results"`
	Total   totalAnswer `json:"total"`
	Partial bool        `json:"partial"`
	Error   *apiError   `json:"error,omitempty"` // with done false
}

// An exporter writes results as they come.
type exporter struct {
	c       *gin.Context
	request searcher.Request
	place   func(*resultAnswer)
	control *http.ResponseController
	encode  *json.Encoder
	chunk   bytes.Buffer
	began   time.Time
	sent    int
}

// apiExport answers GET /api/v1/export?q=&max=, and the parameters of a search that decide what is
// found and in which order.
func (s *Server) apiExport(c *gin.Context) {
	p := readParams(c)
	r := searcher.Request{Query: p.text("q", MaxQuery), Explain: p.flag("explain"), Rank: p.text("rank", maxRankParameter), Ungrouped: true, Preferences: taste(p.preferred(), false)}
	most := p.number("max", searcher.MaxAll, 1, searcher.MaxAll)
	if images := p.wantsImages(&r); images {
		p.fail("Images are not exported: /api/v1/search gives them with type=image, a hundred at a time.")
	}
	p.required("q", r.Query)
	err := p.err
	switch {
	case err != nil:
	case s.o.Export == nil:
		err = notFound("There are no exports here.")
	case !s.ready():
		err = ErrNotReady
	default:
		err = s.export(c, r, most)
	}
	if err != nil {
		s.jsonProblem(c, s.judge(c, err))
	}
}

// export gives an error while nothing was sent; afterwards the last line tells it.
func (s *Server) export(c *gin.Context, r searcher.Request, most int) error {
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		return errBusy
	}
	ctx, cancel := context.WithTimeoutCause(c.Request.Context(), exportTimeout, errSlowReader)
	defer cancel()
	e := &exporter{c: c, place: s.place, request: r, control: http.NewResponseController(c.Writer), began: time.Now()}
	e.encode = json.NewEncoder(&e.chunk)
	e.encode.SetEscapeHTML(false)
	a, err := s.o.Export(ctx, r, most, func(result *searcher.Result) error { return e.add(ctx, result) })
	if err != nil && e.sent == 0 {
		return err
	}
	end := exportEnd{Done: err == nil, Results: e.sent}
	if a != nil {
		end.Partial, end.Total = a.Partial, newTotal(a)
	}
	if err != nil {
		end.Error = &errorOf(s.judge(c, err)).Error
	}
	e.encode.Encode(&end) // into memory
	e.flush()             // who went away needs no end
	return nil
}

// add takes a result, and sends what has gathered now and then.
func (e *exporter) add(ctx context.Context, r *searcher.Result) error {
	answer := newResultAnswer(e.request, r)
	e.place(&answer)
	if err := e.encode.Encode(answer); err != nil {
		return err
	}
	if e.sent++; e.sent%exportChunk > 0 {
		return nil
	}
	if err := e.flush(); err != nil {
		return err
	}
	ahead := time.Duration(e.sent)*time.Second/exportRate - time.Since(e.began)
	if ahead <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(ahead):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// flush sends what has gathered. Each time the reader has as long as for a whole answer elsewhere.
func (e *exporter) flush() error {
	if !e.c.Writer.Written() {
		e.c.Header("Content-Type", "application/x-ndjson; charset=utf-8")
		e.c.Header("Content-Disposition", `attachment; filename="results.ndjson"`)
		e.c.Status(http.StatusOK)
	}
	e.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // where there is a connection
	if _, err := e.chunk.WriteTo(e.c.Writer); err != nil {
		return err
	}
	e.c.Writer.Flush()
	return nil
}

// newTotal is honest about what was counted.
func newTotal(a *searcher.Response) totalAnswer {
	if a.Exact {
		return totalAnswer{a.Total, "eq"}
	}
	return totalAnswer{a.Total, "gte"}
}
