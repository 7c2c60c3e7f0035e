package analysis

import (
	"bytes"
	"strings"
	"testing"
)

// signedTerms returns the signed terms of a text.
func signedTerms(text string) string {
	var t Tokenizer
	var all []string
	t.EachTerm([]byte(text), func(term []byte, start, end int) {
		if signed := AppendSigned(nil, []byte(text), term, start, end); len(signed) > 0 {
			all = append(all, string(signed))
		}
	})
	return strings.Join(all, " ")
}

func TestAppendSigned(t *testing.T) {
	for text, want := range map[string]string{
		"c++": "c++", "C# and F#": "c# f#", "(C++)": "c++", "C++11": "c++", "ab++ ab#": "",
		".htaccess": ".htaccess", ".NET": ".net", "a.htaccess": "", "end. Next": "", "...dots": "",
		"$PATH": "$path", "$$pid": "", "a$b": "", "@property": "@property", "me@example.org": "",
		"#include": "#include", "#1": "", `\d`: `\d`, `\\d`: "", `a\d`: "",
		"--force": "--force", "-force": "", "---force": "", "a--b": "", "--no-verify": "--no",
		"-> $? 2.0 + -": "", "é.x": "", "": "",
	} {
		if got := signedTerms(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("a", MaxTermLen)
	if got := signedTerms("@" + long); got != "" {
		t.Errorf("%q", got)
	}
}

// FuzzAppendSigned checks that a signed term is the term with signs that touch it in the text.
func FuzzAppendSigned(f *testing.F) {
	for _, text := range []string{"c++ .x", "--a", `\d@b#c$`, "\xff.x", "#ä"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := []byte(s)
		new(Tokenizer).EachTerm(text, func(term []byte, start, end int) {
			signed := AppendSigned(nil, text, term, start, end)
			before, after, ok := bytes.Cut(signed, term)
			if len(signed) > 0 && (!ok || len(signed) > MaxTermLen || len(before)+len(after) == 0 ||
				!bytes.HasSuffix(text[:start], before) || !bytes.HasPrefix(text[end:], after)) {
				t.Fatalf("%q: %q of %q", text, signed, term)
			}
		})
	})
}
