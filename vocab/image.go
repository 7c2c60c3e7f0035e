package vocab

import (
	"crypto/sha256"
	"encoding/base64"
)

// An Image is an image of a page, as the page describes it. It is read from the page at query time and
// not indexed.
type Image struct {
	URL     string // absolute, canonical: "https://example.org/fox.jpg"
	Alt     string // alt text; white space folded, as in the texts below
	Caption string // of its figure
	Title   string // title attribute
	Heading string // the last heading before the image

	Width, Height int // as declared, in CSS pixels; 0 if not declared

	Lead       bool // the page declares it the image of the whole page (Open Graph)
	Decoration bool // the page declares it meaningless: empty alt, role=presentation, aria-hidden
}

// ID identifies an image among those of its page, in 11 characters that are valid in URLs.
func (m *Image) ID() string {
	sum := sha256.Sum256([]byte(m.URL))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}
