package reader

import "anatomy/searcher"

// ImagesAsPages returns the response with images counted as pages, for code that handles both.
func ImagesAsPages(a *searcher.ImageResponse) *searcher.Response {
	r := a.Response
	r.Total, r.Folded, r.Most, r.Results = a.Found, 0, 0, make([]searcher.Result, len(a.Images))
	return &r
}
