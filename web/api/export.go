package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
)

// An export is all results of a query, one line of JSON each (NDJSON), from one state of the index.
// The last line is {"done":true,…}; without it the export was cut off.

// Limits of exports.
const (
	maxExports    = 2
	exportChunk   = 100  // results per write
	exportRate    = 5000 // results per second, to leave time for searches
	exportTimeout = 10 * time.Minute
)

// errSlowReader ends an export that takes longer than exportTimeout.
var errSlowReader = errors.New("the export took too long")

// ExportEnd is the last line of an export.
type ExportEnd struct {
	Done    bool              `json:"done"`
	Results int               `json:"results"`
	Total   TotalAnswer       `json:"total"`
	Partial bool              `json:"partial"`
	Shards  []int             `json:"missing_shards,omitempty"`
	Error   *respond.APIError `json:"error,omitempty"` // with done false
}

// An exporter writes results as the search returns them.
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

// apiExport answers GET /api/v1/export?q=&max=. It takes the parameters of a search that decide
// which results match and their order.
func (s *v1) apiExport(c *gin.Context) {
	p := params.Read(c)
	r := searcher.Request{Query: p.Text("q", params.MaxQuery), Explain: p.Flag("explain"), Rank: p.Text("rank", params.MaxRank), Anchors: p.Anchors(), Ungrouped: true, Preferences: params.OfSearch(p.Searched(), false)}
	most := p.Number("max", searcher.MaxAll, 1, searcher.MaxAll)
	if images := p.ApplyType(&r); images {
		p.Fail("Images cannot be exported. Use /api/v1/search with type=image, which returns up to 100 at a time.")
	}
	p.Required("q", r.Query)
	err := p.Err
	switch {
	case err != nil:
	case !s.reader.Collection.Ready():
		err = collection.ErrNotReady
	default:
		err = s.export(c, r, most)
	}
	if err != nil {
		s.respond.Problem(c, s.respond.Judge(c, err))
	}
}

// export runs an export. It returns an error only if it wrote nothing; after that the last line has
// the error.
func (s *v1) export(c *gin.Context, r searcher.Request, most int) error {
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		return respond.ErrBusy
	}
	ctx, cancel := context.WithTimeoutCause(c.Request.Context(), exportTimeout, errSlowReader)
	defer cancel()
	e := &exporter{c: c, place: s.place, request: r, control: http.NewResponseController(c.Writer), began: time.Now()}
	e.encode = json.NewEncoder(&e.chunk)
	e.encode.SetEscapeHTML(false)
	a, err := s.reader.Collection.All(ctx, r, most, func(result *searcher.Result) error { return e.add(ctx, result) })
	if err != nil && e.sent == 0 {
		return err
	}
	end := ExportEnd{Done: err == nil, Results: e.sent}
	if a != nil {
		end.Partial, end.Shards, end.Total = a.Partial, a.Missing, newTotal(a)
	}
	if err != nil {
		end.Error = &respond.ErrorOf(s.respond.Judge(c, err)).Error
	}
	e.encode.Encode(&end) // into memory: cannot fail
	e.flush()             // an error means that the client is gone
	return nil
}

// add encodes a result, and writes every exportChunk results, at most exportRate per second.
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

// flush writes the encoded results. Each write may take as long as a whole answer elsewhere.
func (e *exporter) flush() error {
	if !e.c.Writer.Written() {
		e.c.Header("Content-Type", "application/x-ndjson; charset=utf-8")
		e.c.Header("Content-Disposition", `attachment; filename="results.ndjson"`)
		e.c.Status(http.StatusOK)
	}
	e.control.SetWriteDeadline(time.Now().Add(exportFlush)) // fails without a connection, in tests
	if _, err := e.chunk.WriteTo(e.c.Writer); err != nil {
		return err
	}
	e.c.Writer.Flush()
	return nil
}

// exportFlush limits the time to write one chunk.
const exportFlush = 30 * time.Second
