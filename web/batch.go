package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// The bounds of a batch.
const (
	maxBatch = 20
	maxBody  = 64 << 10 // bytes, of any request in JSON
)

type batchRequest struct {
	Searches []batchSearch `json:"searches"`
}

type batchSearch struct {
	Query    string `json:"q"`
	Start    int    `json:"start"`
	Num      *int   `json:"num"`
	Explain  bool   `json:"explain"`
	Verbatim bool   `json:"verbatim"`
	Rank     string `json:"rank"`
	Filter   *bool  `json:"filter"` // default true
	Type     string `json:"type"`   // image, for images; default page
}

type batchAnswer struct {
	Answers []any `json:"answers"` // a searchAnswer or an errorAnswer each
}

// apiBatch answers several searches one after the other, so that a batch takes one place at the
// gate. Each may fail by itself.
func (s *Server) apiBatch(c *gin.Context) (any, error) {
	batch, err := readBatch(c)
	if err != nil {
		return nil, err
	}
	answer := &batchAnswer{Answers: make([]any, 0, len(batch.Searches))}
	for _, one := range batch.Searches {
		r, images, err := one.request()
		if err != nil {
			answer.Answers = append(answer.Answers, errorOf(s.judge(c, err)))
			continue
		}
		a, err := s.answerTo(c.Request.Context(), r, images)
		if err != nil {
			answer.Answers = append(answer.Answers, errorOf(s.judge(c, err)))
			continue
		}
		answer.Answers = append(answer.Answers, a)
	}
	return answer, nil
}

// answerTo answers with pages or with images.
func (s *Server) answerTo(ctx context.Context, r searcher.Request, images bool) (*searchAnswer, error) {
	if images {
		a, err := s.askImages(ctx, r)
		if err != nil {
			return nil, err
		}
		return s.imagesAnswer(r, a), nil
	}
	a, err := s.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.answer(r, a), nil
}

// readBatch reads the body, which may hold nothing that we do not know: a misspelt field is an
// error, not a search without it.
func readBatch(c *gin.Context) (*batchRequest, error) {
	var batch batchRequest
	if err := readJSON(c, &batch, (*json.Decoder).DisallowUnknownFields); err != nil {
		return nil, err
	}
	if n := len(batch.Searches); n == 0 || n > maxBatch {
		return nil, badParameter(fmt.Sprintf("The body has %d searches; there must be from 1 to %d.", n, maxBatch))
	}
	return &batch, nil
}

// readJSON reads the one value that a body is, as a decoder does that was set so.
func readJSON(c *gin.Context, into any, set ...func(*json.Decoder)) error {
	if kind := c.ContentType(); kind != "application/json" {
		return &problem{http.StatusUnsupportedMediaType, "bad_body", "That request is not understood", "The body must be application/json."}
	}
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	for _, f := range set {
		f(d)
	}
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("there is something after the value")
		}
	}
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return &problem{http.StatusRequestEntityTooLarge, "too_long", "That request is too long", fmt.Sprintf("The body may have %d bytes.", maxBody)}
	case err != nil:
		return badParameter("The body is not what is asked for: " + strings.TrimPrefix(err.Error(), "json: ") + ".")
	}
	return nil
}

// request is a search of a batch, held to the bounds of the parameters of /api/v1/search; images says that it is for
// images.
func (b *batchSearch) request() (r searcher.Request, images bool, err error) {
	r = searcher.Request{Query: cleanText(b.Query), Offset: b.Start, Limit: searcher.DefaultLimit, Explain: b.Explain, Verbatim: b.Verbatim, Rank: cleanText(b.Rank)}
	if b.Filter != nil {
		r.Ungrouped = !*b.Filter
	}
	images, known := imagesAsked(&r, b.Type)
	if images {
		r.Limit = imagesLimit
	}
	if b.Num != nil {
		r.Limit = *b.Num
	}
	switch {
	case !known:
		err = badParameter("Field type must be page or image.")
	case len(b.Query) > MaxQuery:
		err = badParameter(fmt.Sprintf("Field q has %d bytes; the limit is %d.", len(b.Query), MaxQuery))
	case r.Query == "":
		err = badParameter("Field q is missing.")
	case r.Offset < 0 || r.Offset > searcher.MaxOffset:
		err = badParameter(fmt.Sprintf("Field start must be a whole number from 0 to %d.", searcher.MaxOffset))
	case r.Limit < 1 || r.Limit > searcher.MaxLimit:
		err = badParameter(fmt.Sprintf("Field num must be a whole number from 1 to %d.", searcher.MaxLimit))
	}
	return r, images, err
}
