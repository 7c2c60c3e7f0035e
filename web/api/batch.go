package api

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/access"
	"anatomy/web/internal/params"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/text"
)

// maxBatch limits the searches of a batch.
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
	Anchors  string `json:"anchors"`
	Count    string `json:"count"`
	Filter   *bool  `json:"filter"` // default true
	Type     string `json:"type"`   // page, image or service; default page
	Lens     string `json:"lens"`   // see params.Lens
}

type batchAnswer struct {
	Answers []any `json:"answers"` // a searchAnswer or an errorAnswer for each search
}

// apiBatch runs several searches one after the other, so that a batch takes one turn at a time.
// Each search may fail on its own.
func (s *v1) apiBatch(c *gin.Context) (any, error) {
	batch, err := readBatch(c)
	if err != nil {
		return nil, err
	}
	client := access.ClientOf(c.Request.Context())
	if err := client.Spend(c.Writer.Header(), len(batch.Searches)-1); err != nil { // one is counted
		return nil, err
	}
	answer := &batchAnswer{Answers: make([]any, 0, len(batch.Searches))}
	for _, one := range batch.Searches {
		r, images, err := one.request()
		if err != nil {
			answer.Answers = append(answer.Answers, respond.ErrorOf(s.respond.Judge(c, err)))
			continue
		}
		a, err := s.answerTo(c.Request.Context(), r, images, "")
		if err != nil {
			answer.Answers = append(answer.Answers, respond.ErrorOf(s.respond.Judge(c, err)))
			continue
		}
		answer.Answers = append(answer.Answers, a)
	}
	return answer, nil
}

// readBatch reads the body. An unknown field is an error, so that a misspelt one is not ignored.
func readBatch(c *gin.Context) (*batchRequest, error) {
	var batch batchRequest
	if err := params.ReadJSON(c, &batch, (*json.Decoder).DisallowUnknownFields); err != nil {
		return nil, err
	}
	if n := len(batch.Searches); n == 0 || n > maxBatch {
		return nil, respond.BadParameter(fmt.Sprintf("The body has %d searches. Send 1 to %d.", n, maxBatch))
	}
	return &batch, nil
}

// request converts a search of a batch, within the limits of the parameters of /api/v1/search;
// images reports whether it is for images.
func (b *batchSearch) request() (r searcher.Request, images bool, err error) {
	r = searcher.Request{Query: text.Clean(b.Query), Offset: b.Start, Limit: searcher.DefaultLimit, Explain: b.Explain, Verbatim: b.Verbatim, Rank: text.Clean(b.Rank)}
	if b.Filter != nil {
		r.Ungrouped = !*b.Filter
	}
	if r.Anchors, err = searcher.ParseAnchors(b.Anchors); err != nil {
		return r, false, respond.BadParameter("Field anchors " + err.Error() + ".")
	}
	if r.Count, err = searcher.ParseCount(b.Count); err != nil {
		return r, false, respond.BadParameter("Field count " + err.Error() + ".")
	}
	if r.Preferences, err = params.ThroughLens(b.Lens); err != nil {
		return r, false, respond.BadParameter("Field lens is not a lens: " + err.Error() + ".")
	}
	images, known := params.ApplyType(&r, b.Type)
	if images {
		r.Limit = params.ImagesLimit
	}
	if b.Num != nil {
		r.Limit = *b.Num
	}
	if !known {
		return r, images, respond.BadParameter("Field type must be page, image or service.")
	}
	return r, images, cmp.Or(params.CheckQuery("q", b.Query, r.Query), params.CheckNumber("start", r.Offset, 0, searcher.MaxOffset), params.CheckNumber("num", r.Limit, 1, searcher.MaxLimit))
}
