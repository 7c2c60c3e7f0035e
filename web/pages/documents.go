package pages

import (
	"anatomy/web/internal/frame"
	"anatomy/web/internal/reader"
)

// documentPages are the pages about one document or one site.
type documentPages struct {
	*frame.Frame
	reader *reader.Reader
}
