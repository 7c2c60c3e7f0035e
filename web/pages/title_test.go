package pages

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/searcher"
	"anatomy/web/internal/text"
)

// TestTitleOf checks that the words of the query are marked in a title, that a title without text is
// the URL, and that the pieces are the text as it would be without marks.
func TestTitleOf(t *testing.T) {
	for _, c := range []struct{ title, words, want string }{
		{"Uploading files — Flask", "files uploading", "[Uploading] [files] — Flask"},
		{"数据库指南", "数据 据库", "[数据库]指南"},
		{"A <b>file</b>", "file", "A <b>[file]</b>"},
		{" ", "test", "http://a.[test]/x"},
		{"Guide", "", "Guide"},
		{strings.Repeat("x", text.MaxTitle) + " file", "file", strings.Repeat("x", text.MaxTitle) + "…"},
	} {
		var got strings.Builder
		r := searcher.Result{URL: "http://a.test/x", Title: c.title}
		for _, f := range titleOf(&r, text.NewMarker(strings.Fields(c.words))) {
			if f.Mark {
				f.Text = "[" + f.Text + "]"
			}
			got.WriteString(f.Text)
		}
		if got.String() != c.want {
			t.Errorf("%s in %s: %s, want %s", c.words, c.title, got.String(), c.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		title := rapid.String().Draw(rt, "title") + "x"
		words := rapid.SliceOf(rapid.StringMatching(`[a-cx]{1,2}`)).Draw(rt, "words")
		var got strings.Builder
		for _, f := range titleOf(&searcher.Result{Title: title}, text.NewMarker(words)) {
			got.WriteString(f.Text)
		}
		if want := text.Shorten(title, text.MaxTitle); got.String() != want {
			rt.Fatalf("%q, want %q", got.String(), want)
		}
	})
}
