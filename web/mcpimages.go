package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"anatomy/searcher"
)

type toolImagesInput struct {
	Query string `json:"query" jsonschema:"what to look for, in the query language"`
	Num   int    `json:"num,omitempty" jsonschema:"images wanted, 1 to 20; 10 when absent"`
	Start int    `json:"start,omitempty" jsonschema:"images to pass over"`
}

type toolImagesOutput struct {
	Total     int         `json:"total" jsonschema:"images found on the best pages that match"`
	Note      string      `json:"note,omitempty" jsonschema:"why there are none"`
	Images    []toolImage `json:"images"`
	NextStart int         `json:"next_start,omitempty" jsonschema:"start of the images after these; absent where there are none"`
}

type toolImage struct {
	URL    string `json:"url" jsonschema:"of the image itself, on its own host"`
	Says   string `json:"says" jsonschema:"its alternative text, caption or name"`
	ID     string `json:"id" jsonschema:"of the page that shows it, for fetch"`
	Page   string `json:"page" jsonschema:"address of that page"`
	Width  int    `json:"width,omitempty" jsonschema:"as declared"`
	Height int    `json:"height,omitempty"`
}

// toolImages gives what is said of images: to show them is the client's.
func (s *Server) toolImages(ctx context.Context, _ *mcp.CallToolRequest, in toolImagesInput) (*mcp.CallToolResult, *toolImagesOutput, error) {
	r := searcher.Request{Query: cleanText(in.Query), Offset: in.Start, Limit: in.Num}
	if r.Limit == 0 {
		r.Limit = searcher.DefaultLimit
	}
	imagesAsked(&r, "image") // type:image need not be said here
	if err := toolBounds(r); err != nil {
		return nil, nil, err
	}
	a, err := s.askImages(ctx, r)
	if err != nil {
		return nil, nil, s.toolProblem(err)
	}
	out := &toolImagesOutput{Total: a.Found, Note: a.Why, Images: make([]toolImage, 0, len(a.Images))}
	for i := range a.Images {
		m := &a.Images[i]
		if linkable(m.URL) == "" || linkable(m.Page) == "" { // as for pages of results
			continue
		}
		out.Images = append(out.Images, toolImage{m.URL, said(m), strconv.FormatUint(uint64(m.Doc), 10), m.Page, m.Width, m.Height})
	}
	if a.Next && r.Offset+len(a.Images) <= searcher.MaxOffset {
		out.NextStart = r.Offset + len(a.Images)
	}
	return quoted(out.text()), out, nil
}

// text is the answer for a model that does not read structured content.
func (o *toolImagesOutput) text() string {
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
