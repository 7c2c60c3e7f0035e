package segment

import (
	"math"
	"strings"

	"anatomy/words"
)

// A Title is how many words the title of a document has, as they count positions in the field of titles, and how
// many of these, the first, are the page's own: what follows is the name of the site. More than 255 are 255.
type Title struct{ Words, Own uint8 }

// separators part a page's own title from that of the site.
var separators = [...]string{" — ", " – ", " - ", " | ", " :: ", " · ", " » "}

// titleOf counts the words of a title.
func titleOf(tokenizer *words.Tokenizer, title string) (t Title) {
	own := len(title)
	for _, s := range separators {
		if i := strings.Index(title, s); i >= 0 {
			own = min(own, i)
		}
	}
	tokenizer.Each([]byte(title), func(_ []byte, start, _ int, _ bool) {
		if t.Words < math.MaxUint8 {
			t.Words++
		}
		if start < own {
			t.Own = t.Words
		}
	})
	if t.Own == 0 {
		t.Own = t.Words
	}
	return t
}

// The column n has both in one number.

func (t Title) packed() uint16 { return uint16(t.Own)<<8 | uint16(t.Words) }

func unpackTitle(packed uint16) Title { return Title{Words: uint8(packed), Own: uint8(packed >> 8)} }
