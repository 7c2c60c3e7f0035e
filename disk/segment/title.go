package segment

import (
	"math"
	"strings"

	"anatomy/words"
)

// A Title is how many words the title of a document has, as they count positions in the field of titles, and how
// many of these, the first, are the page's own: what follows is the name of the site. More than 255 are 255. Of both
// it has a checksum, [words.Letters].
type Title struct{ Words, Own, Letters, OwnLetters uint8 }

// separators part a page's own title from that of the site.
var separators = [...]string{" — ", " – ", " - ", " | ", " :: ", " · ", " » "}

// titleOf counts the words of a title and adds its letters up.
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
	t.Letters = words.Letters(title)
	if t.OwnLetters = t.Letters; t.Own == 0 {
		t.Own = t.Words
	} else if own < len(title) {
		t.OwnLetters = words.Letters(title[:own])
	}
	return t
}

// The column n has all four in one number.

func (t Title) packed() uint32 {
	return uint32(t.Own)<<24 | uint32(t.Words)<<16 | uint32(t.OwnLetters)<<8 | uint32(t.Letters)
}

func unpackTitle(packed uint32) Title {
	return Title{Words: uint8(packed >> 16), Own: uint8(packed >> 24), Letters: uint8(packed), OwnLetters: uint8(packed >> 8)}
}
