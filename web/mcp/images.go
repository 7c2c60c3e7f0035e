package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"anatomy/searcher"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
)

type toolImagesInput struct {
	Query string `json:"query" jsonschema:"the query"`
	Num   int    `json:"num,omitempty" jsonschema:"number of images, 1 to 20; default 10"`
	Start int    `json:"start,omitempty" jsonschema:"number of images to skip"`
}

type ToolImagesOutput struct {
	Total     int         `json:"total" jsonschema:"number of images on the best matching pages"`
	Note      string      `json:"note,omitempty" jsonschema:"why there are no images"`
	Images    []toolImage `json:"images"`
	NextStart int         `json:"next_start,omitempty" jsonschema:"start of the next images; absent at the end"`
}

type toolImage struct {
	URL    string `json:"url" jsonschema:"URL of the image on its own host"`
	Says   string `json:"says" jsonschema:"its alternative text, caption or name"`
	ID     string `json:"id" jsonschema:"id of the page that shows it, for fetch"`
	Page   string `json:"page" jsonschema:"URL of that page"`
	Width  int    `json:"width,omitempty" jsonschema:"in pixels, if the page declares it"`
	Height int    `json:"height,omitempty"`
}

// toolImages returns the addresses and descriptions of images, not the images.
func (s *tools) toolImages(ctx context.Context, _ *sdk.CallToolRequest, in toolImagesInput) (*sdk.CallToolResult, *ToolImagesOutput, error) {
	r := searcher.Request{Query: text.Clean(in.Query), Offset: in.Start, Limit: in.Num}
	if r.Limit == 0 {
		r.Limit = searcher.DefaultLimit
	}
	params.ApplyType(&r, "image") // the query needs no type:image
	if err := toolBounds(r); err != nil {
		return nil, nil, err
	}
	a, err := s.reader.Images(ctx, r)
	if err != nil {
		return nil, nil, s.toolProblem(err)
	}
	out := &ToolImagesOutput{Total: a.Found, Note: a.Why, Images: make([]toolImage, 0, len(a.Images))}
	for i := range a.Images {
		m := &a.Images[i]
		if text.Linkable(m.URL) == "" || text.Linkable(m.Page) == "" { // as in results
			continue
		}
		out.Images = append(out.Images, toolImage{m.URL, text.ImageText(m), strconv.FormatUint(uint64(m.Doc), 10), m.Page, m.Width, m.Height})
	}
	if a.Next && r.Offset+len(a.Images) <= searcher.MaxOffset {
		out.NextStart = r.Offset + len(a.Images)
	}
	return quoted(out.text()), out, nil
}

// text returns the answer for a model that does not read structured content.
func (o *ToolImagesOutput) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d images\n", o.Total)
	if o.Note != "" {
		fmt.Fprintln(&b, o.Note)
	}
	for _, m := range o.Images {
		fmt.Fprintf(&b, "\n%s\n%s\non [%s] %s\n", m.Says, m.URL, m.ID, m.Page)
	}
	if o.NextStart > 0 {
		fmt.Fprintf(&b, "\nMore with start %d.\n", o.NextStart)
	}
	return b.String()
}
