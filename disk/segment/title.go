package segment

import (
	"math"
	"strings"

	"anatomy/analysis"
)

// A Title describes the title of a document.
type Title struct {
	Words      uint8 // its length in words, as positions count them, at most 255
	Own        uint8 // the same for the page's own title, which precedes the name of the site
	Letters    uint8 // checksum of the title: see analysis.Letters
	OwnLetters uint8 // checksum of the page's own title
}

// separators precede the name of the site in a title.
var separators = [...]string{" — ", " – ", " - ", " | ", " :: ", " · ", " » "}

// titleOf describes a title.
func titleOf(tokenizer *analysis.Tokenizer, title string) (t Title) {
	own := len(title)
	for _, s := range separators {
		if i := strings.Index(title, s); i >= 0 {
			own = min(own, i)
		}
	}
	tokenizer.EachTerm([]byte(title), func(_ []byte, start, _ int) {
		if t.Words < math.MaxUint8 {
			t.Words++
		}
		if start < own {
			t.Own = t.Words
		}
	})
	t.Letters = analysis.VerbatimHash(title)
	if t.OwnLetters = t.Letters; t.Own == 0 {
		t.Own = t.Words
	} else if own < len(title) {
		t.OwnLetters = analysis.VerbatimHash(title[:own])
	}
	return t
}

// packed returns the value of a title in column n.
func (t Title) packed() uint32 {
	return uint32(t.Own)<<24 | uint32(t.Words)<<16 | uint32(t.OwnLetters)<<8 | uint32(t.Letters)
}

func unpackTitle(packed uint32) Title {
	return Title{Words: uint8(packed >> 16), Own: uint8(packed >> 24), Letters: uint8(packed), OwnLetters: uint8(packed >> 8)}
}
