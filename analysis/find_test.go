package analysis

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestFinder checks that a finder finds the same words as a tokenizer, and reports which are
// adjacent.
func TestFinder(t *testing.T) {
	long := strings.Repeat("x", MaxTermLen)
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "A", " ", " ", "\n", "_", "__", "a_b", ".", "'", "\x00", "é", "É", "東京", "東", "ア", "한국", "、", "（", "»", "²", "が", "か\u3099", "\xff", "a\u0301", "x", long, long + "y", "b" + long, "1", "ſ", "K"})
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		wanted := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "ab", "a_b", "e", "東京", "東", "ア", "한국", "x", long, "1", "s", "k", "__", "aa"}), 1, 6, rapid.ID[string]).Draw(rt, "words")
		text := []byte(strings.Join(rapid.SliceOfN(piece, 5, 40).Draw(rt, "text"), ""))
		var want []Match
		var tokenizer Tokenizer
		number := 0
		tokenizer.EachTerm(text, func(word []byte, start, end int) {
			if i := slices.Index(wanted, string(word)); i >= 0 {
				want = append(want, Match{i, number, start, end})
			}
			number++
		})
		f := NewFinder(wanted)
		f.FindAll([]byte("a b " + long)) // what is left of one text does no harm to the next
		got := f.FindAll(text)
		if len(got) != len(want) {
			rt.Fatalf("%q: %v, want %v", text, got, want)
		}
		for i := range got {
			g, w := got[i], want[i]
			if g.Word != w.Word || g.Start != w.Start || g.End != w.End {
				rt.Fatalf("%q: %v, want %v", text, got, want)
			}
			if i > 0 && (g.Number-got[i-1].Number == 1) != (w.Number-want[i-1].Number == 1) || i > 0 && g.Number <= got[i-1].Number {
				rt.Fatalf("%q: %v, want %v: what follows what", text, got, want)
			}
		}
		found += len(got)
	})
	if found == 0 {
		t.Error("nothing was found in any text")
	}
}

// TestFoldsToItself checks what the tokenizer assumes of characters that fold to themselves: they are
// letters, so neither signs nor marks, and those of scripts without spaces are known by their ranges.
func TestFoldsToItself(t *testing.T) {
	some := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !foldsToItself(r) {
			continue
		}
		some++
		without := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Lao, unicode.Khmer, unicode.Myanmar)
		if !unicode.IsLetter(r) || separates(r) || spaceless(r) != without {
			t.Errorf("%q: letter %v, separates %v, spaceless %v, want %v", r, unicode.IsLetter(r), separates(r), spaceless(r), without)
		}
	}
	if some == 0 {
		t.Error("no character folds to itself")
	}
}

// BenchmarkFinder searches for rare words, and for words that occur everywhere.
func BenchmarkFinder(b *testing.B) {
	text := []byte(strings.Repeat("The quick brown fox jumps over a lazy dog, and so on it goes as this is how it was. ", 150))
	for _, query := range []string{"needle haystack", "how is a dog"} {
		b.Run(query, func(b *testing.B) {
			f := NewFinder(strings.Fields(query))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				f.FindAll(text)
			}
		})
	}
	b.Run("Japanese", func(b *testing.B) {
		text := []byte(strings.Repeat("画像ウィンドウの「メニュー」を開いて、ツールオプションを 選択範囲に加える。 ", 150))
		f := NewFinder([]string{"layer", "menu"})
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			f.FindAll(text)
		}
	})
	b.Run("cut", func(b *testing.B) {
		var t Tokenizer
		b.SetBytes(int64(len(text)))
		n := 0
		for b.Loop() {
			t.EachTerm(text, func([]byte, int, int) { n++ })
		}
	})
}
