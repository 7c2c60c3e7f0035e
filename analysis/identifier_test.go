package analysis

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func subwordsOf(word string) (all []string) {
	EachSubword(word, func(from, to int) { all = append(all, word[from:to]) })
	return all
}

func TestEachSubword(t *testing.T) {
	for word, want := range map[string]string{
		"read_csv_file": "read csv file", "readCsvFile": "read Csv File", "HttpRequestHandler": "Http Request Handler",
		"HTTPServer": "HTTP Server", "getURL": "get URL", "parseURLs": "parse URLs", "utf8Decode": "utf8 Decode",
		"MAX_PATH": "MAX PATH", "__init_subclass__": "init subclass", "x_y": "x y", "größe_maxWert": "größe max Wert",
		"a_b_c_d_e_f_g_hI_j": "a b c d e f g hI_j",
		"":                   "", "_": "", "word": "", "Word": "", "URLs": "", "HTTP": "", "__init__": "", "日本": "",
	} {
		if got := strings.Join(subwordsOf(word), " "); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func TestOtherSpelling(t *testing.T) {
	for word, want := range map[string]string{
		"HttpRequestHandler": "http_request_handler", "http_request_handler": "httprequesthandler",
		"getMax_len": "getmaxlen", "word": "", "URLs": "", "größeMax": "", strings.Repeat("aB", 32): "",
	} {
		if got := OtherSpelling(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// TestSubwordsOfWords checks that words which are put together as an identifier come apart again.
func TestSubwordsOfWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z][a-z0-9]{2,5}`), 2, MaxSubwords).Draw(t, "words")
		var camel strings.Builder
		for _, word := range words {
			camel.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		for _, word := range []string{strings.Join(words, "_"), camel.String()} {
			if got := strings.Fields(strings.ToLower(strings.Join(subwordsOf(word), " "))); !slices.Equal(got, words) {
				t.Errorf("%s: %q, want %q", word, got, words)
			}
		}
	})
}

// FuzzEachSubword checks that subwords are in order, not empty, and all of the word but low lines.
func FuzzEachSubword(f *testing.F) {
	for _, word := range []string{"read_csv", "HTTPServer2", "_a__B", "größeÄnderung", "\xff_A"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		n, end := 0, 0
		EachSubword(word, func(from, to int) {
			if from < end || to <= from || to > len(word) || strings.Trim(word[end:from], "_") != "" {
				t.Fatalf("%q: subword %d to %d after %d", word, from, to, end)
			}
			n, end = n+1, to
		})
		if n == 1 || n > MaxSubwords || n > 0 && strings.Trim(word[end:], "_") != "" {
			t.Errorf("%q: %d subwords, up to %d", word, n, end)
		}
	})
}
