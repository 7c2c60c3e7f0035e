package analysis

import (
	"regexp"
	"slices"
	"testing"
)

// numbers returns the numbers with points of a text.
func numbers(text string) (all []string) {
	var t Tokenizer
	t.EachTerm([]byte(text), func(_ []byte, start, end int) {
		if number := AppendNumber(nil, []byte(text), start, end); len(number) > 0 {
			all = append(all, string(number))
		}
	})
	return all
}

func TestAppendNumber(t *testing.T) {
	for text, want := range map[string][]string{
		"Django 2.0 and 1.11.29.": {"2.0", "1.11.29"}, "(2.0)": {"2.0"}, "2.0, 2.0-beta": {"2.0", "2.0"},
		"v2.0 2.0rc1 2.0.x x.2.0 2.0_1": nil, "2024.1": {"2024.1"}, "0.1234 12345.1": nil, "1.2.3.4": {"1.2.3.4"},
		"1.2.3.4.5": nil, "2. 0 2 .0 2..0 2": nil, "é2.0 2.0é": nil, "2.0–3.0": {"2.0", "3.0"}, "…2.0": {"2.0"}, "": nil,
	} {
		if got := numbers(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzAppendNumber compares the numbers of ASCII texts with those that a regular expression finds.
func FuzzAppendNumber(f *testing.F) {
	for _, text := range []string{"2.0", "1.2.0 v2.0.1", "2.0.", ".2.0", "2.0..1", "0.0.0.0.0", "2.0+1.5_3", "..2.0"} {
		f.Add(text)
	}
	runs := regexp.MustCompile(`[0-9A-Za-z_]+(?:\.[0-9A-Za-z_]+)*`)
	number := regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,3}){1,3}$`)
	f.Fuzz(func(t *testing.T, s string) {
		if !isASCII(s) {
			t.Skip()
		}
		want := runs.FindAllString(s, -1)
		want = slices.DeleteFunc(want, func(run string) bool { return !number.MatchString(run) })
		if got := numbers(s); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	})
}
