package vocab

import (
	"crypto/sha256"
	"encoding/base64"
)

// An Image is a picture that a page shows, as the page describes it. It is read from the page when
// someone looks for pictures; no index holds it.
type Image struct {
	URL     string // absolute, canonical: "https://example.org/fox.jpg"
	Alt     string // what stands for it where it is not shown; white space folded here and below
	Caption string // of the figure that it is in
	Title   string // its title attribute
	Heading string // the last heading before it

	Width, Height int // as declared, in CSS pixels; 0 where they are not

	Lead       bool // the page names it as the picture of the whole (Open Graph)
	Decoration bool // the page says that it means nothing: an empty alt, a role without meaning, aria-hidden
}

// ID names an image among those of its page, in 11 characters of the alphabet of URLs.
func (m *Image) ID() string {
	sum := sha256.Sum256([]byte(m.URL))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}
