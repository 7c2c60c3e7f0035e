package api

import (
	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/reader"
)

// An imageAnswer is an image result.
type imageAnswer struct {
	Source  string      `json:"src"`
	Page    string      `json:"page"`
	Title   string      `json:"title"` // of the page
	Alt     string      `json:"alt"`
	Caption string      `json:"caption"`
	Width   int         `json:"width,omitempty"` // as declared
	Height  int         `json:"height,omitempty"`
	Proxy   string      `json:"proxy,omitempty"` // address of the small image
	Doc     vocab.DocID `json:"docid"`
	Score   score       `json:"score"`
}

// AnswerImages returns the value that the API encodes as JSON for images.
func AnswerImages(r searcher.Request, a *searcher.ImageResponse) any {
	return newImagesAnswer(r, a, func(*searcher.ImageResult) string { return "" })
}

// newImagesAnswer returns an answer with images instead of results. Its total counts images.
func newImagesAnswer(r searcher.Request, a *searcher.ImageResponse, proxy func(*searcher.ImageResult) string) *searchAnswer {
	pages := reader.ImagesAsPages(a)
	pages.Exact, pages.Results = a.Exact && a.Looked >= a.Total && !a.Partial, nil
	answer := newSearchAnswer(r, pages)
	answer.NextCursor = ""
	if answer.Next != nil {
		*answer.Next += "&type=image"
	}
	answer.Images = make([]imageAnswer, 0, len(a.Images))
	for i := range a.Images {
		m := &a.Images[i]
		answer.Images = append(answer.Images, imageAnswer{
			Source: m.URL, Page: m.Page, Title: m.Named, Alt: m.Alt, Caption: m.Caption, Width: m.Width, Height: m.Height,
			Proxy: proxy(m), Doc: m.Doc, Score: score(m.Score),
		})
	}
	return answer
}
