package web

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// maxBatch bounds the searches of a batch.
const maxBatch = 20

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
		a, err := s.answerTo(c.Request.Context(), r, images, "")
		if err != nil {
			answer.Answers = append(answer.Answers, errorOf(s.judge(c, err)))
			continue
		}
		answer.Answers = append(answer.Answers, a)
	}
	return answer, nil
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
	if !known {
		return r, images, badParameter("Field type must be page or image.")
	}
	return r, images, cmp.Or(checkQuery("q", b.Query, r.Query), checkNumber("start", r.Offset, 0, searcher.MaxOffset), checkNumber("num", r.Limit, 1, searcher.MaxLimit))
}
