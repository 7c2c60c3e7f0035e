package scoring

import (
	"strings"
	"testing"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// TestGenreOfQuery checks which genres queries ask for and have words for.
func TestGenreOfQuery(t *testing.T) {
	for text, want := range map[string]string{
		"queue":                       "",
		"changelog":                   "asks for changelog",
		"django 1.10.5 release notes": "asks for changelog",
		"Release Notes":               "asks for changelog",
		"what's new in python 3.9":    "asks for changelog",
		"what’s new in python 3.9":    "asks for changelog",
		"genindex":                    "asks for index",
		"python module index":         "asks for index",
		"os.path source code":         "names source listing",
		"open source":                 "names source listing",
		"pandas index":                "names index",
		"exception class hierarchy":   "names index",
		"uses of class Queue":         "names index",
		"release a lock":              "names changelog",
		"notes":                       "",
		"what's the difference between new and malloc": "names changelog",
		"change the log level":                         "",
		"show the history of a version":                "names changelog",
		"\"release notes\" -site:python.org":           "asks for changelog",
		"lock -changelog":                              "",
	} {
		terms := NewTerms(query.Parse(text).Root, text, nil, &Arena{})
		var got []string
		for g := vocab.OtherGenre; g < vocab.Genres; g++ {
			switch {
			case terms.genres.asked>>g&1 != 0:
				got = append(got, "asks for "+g.String())
			case terms.genres.named>>g&1 != 0:
				got = append(got, "names "+g.String())
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: it %q, want %q", text, got, want)
		}
	}
}

// TestGenre checks that a page of a genre loses a share of the points of its words, unless the query
// has a word for the genre, and gains a share if the query asks for it.
func TestGenre(t *testing.T) {
	body := []string{"queue", "source", "release", "notes", "changelog", "genindex", "code", "index"}
	for _, c := range []struct {
		text  string
		genre vocab.Genre
		share Milli
	}{
		{"queue", vocab.OtherGenre, 0},
		{"queue", vocab.SourceListing, -Default.Genre[vocab.SourceListing]},
		{"queue", vocab.IndexPage, -Default.Genre[vocab.IndexPage]},
		{"queue", vocab.Changelog, -Default.Genre[vocab.Changelog]},
		{"queue", vocab.Genres, 0}, // of a later version
		{"queue source", vocab.SourceListing, 0},
		{"queue source code", vocab.SourceListing, 0},
		{"queue source code", vocab.Changelog, -Default.Genre[vocab.Changelog]},
		{"queue changelog", vocab.Changelog, Default.GenreAsked},
		{"genindex", vocab.IndexPage, Default.GenreAsked},
	} {
		plain := scored(t, c.text, &Page{}, body, nil)
		tally := scored(t, c.text, &Page{Genre: c.genre}, body, nil)
		words := plain.Sum
		for _, part := range plain.Parts {
			if part.Name == "pagerank" || part.Name == "url" {
				words -= part.Points
			}
		}
		if got, want := tally.Sum-plain.Sum, c.share.Of(words); got != want {
			t.Errorf("%s: a %s has %d points more, want %d", c.text, c.genre, got, want)
		}
	}
}
