package analysis

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// accentedTerms returns the accented terms of a text, in NFC.
func accentedTerms(text string) string {
	var t Tokenizer
	var all []string
	t.EachTerm([]byte(text), func(_ []byte, start, end int) {
		if accented := AppendAccented(nil, []byte(text[start:end])); len(accented) > 0 {
			all = append(all, string(accented))
		}
	})
	return norm.NFC.String(strings.Join(all, " "))
}

func TestAppendAccented(t *testing.T) {
	for text, want := range map[string]string{
		"Trò trở":          "^trò ^trở",
		"HÒA hoà":          "^hoà ^hoà",
		"điện":             "^điên\u0323",
		"tro đi so\u00adt": "", "Москва 漢字": "", "": "",
	} {
		if got := accentedTerms(text); got != norm.NFC.String(want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := accentedTerms(strings.Repeat("ấ", MaxTermLen)); got != "" {
		t.Errorf("a long word has %q", got)
	}
}

func TestIsVietnamese(t *testing.T) {
	for text, want := range map[string]bool{
		"Tiếng Việt": true, "cơm": true, "CƯ": true, "ở": true, "u\u031b": true, "e\u0323\u0302": true,
		"tro đá": false, "été où año": false, "şı ğ": false, "țară, ă": false, "đàn ĩ ũ": false, "o\u0301": false,
		"ჵ ᾳ漢": false, "\xe1\xba": false, "": false,
	} {
		if IsVietnamese([]byte(text)) != want {
			t.Errorf("%q is Vietnamese: %v, want %v", text, !want, want)
		}
	}
}

// FuzzAppendAccented checks that an accented term depends neither on the case nor on the composition of
// a word, and that without its accents it is the word's own term, which is shorter than the word.
func FuzzAppendAccented(f *testing.F) {
	for _, text := range []string{"Tiếng Việt", "hỏa hoả", "ưỚ", "e\u0323\u0302", "Ạ\u00ad", "ßạ\u0301", "漢ạ", "_ậ9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := []byte(s)
		new(Tokenizer).EachTerm(text, func(term []byte, start, end int) {
			word := text[start:end]
			accented := AppendAccented(nil, word)
			if len(accented) == 0 {
				return
			}
			if !IsAccented(accented) || IsAccented(term) || len(accented) > MaxTermLen || !utf8.Valid(accented) {
				t.Fatalf("%q: %q of %q", word, accented, term)
			}
			for _, same := range [][]byte{norm.NFD.Bytes(word), norm.NFC.Bytes(word)} {
				if other := AppendAccented(nil, same); !bytes.Equal(other, accented) {
					t.Fatalf("%q: %q, of %q: %q", word, accented, same, other)
				}
			}
			var folder folder
			if folded, _ := folder.fold(accented[1:]); len(term) < MaxTermLen && !bytes.Equal(folded, term) {
				t.Fatalf("%q: %q folds to %q, want %q", word, accented, folded, term)
			}
		})
	})
}
