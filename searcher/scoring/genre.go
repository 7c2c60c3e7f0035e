package scoring

import (
	"fmt"
	"slices"

	"anatomy/vocab"
)

// genresOfQuery has bitmaps of the genres that a query asks for, and of the genres for which it has
// a word.
type genresOfQuery struct{ asked, named uint8 }

// genreNames are the phrases by which a query asks for a genre. No query asks for source listings:
// "source code" has many other meanings.
var genreNames = [vocab.Genres][][]string{
	vocab.IndexPage: {
		{"genindex"}, {"modindex"}, {"general", "index"}, {"module", "index"}, {"alphabetical", "index"},
	},
	vocab.Changelog: {
		{"changelog"}, {"changelogs"}, {"release", "notes"}, {"release", "history"},
		{"version", "history"}, {"whatsnew"}, {"what", "s", "new"},
	},
}

// genreWords are the words of queries about pages of a genre.
var genreWords = [vocab.Genres][]string{
	vocab.SourceListing: {"source", "sources", "src", "listing"},
	vocab.IndexPage:     {"index", "indexes", "list", "members", "uses", "hierarchy"},
	vocab.Changelog: {
		"changes", "changed", "release", "releases", "news", "new", "history", "version", "versions",
		"since", "deprecated", "migration", "upgrade", "upgrading",
	},
}

// genresOf returns the genres that a query asks for and has a word for.
func genresOf(terms []string) (q genresOfQuery) {
	has := func(word string) bool { return slices.Contains(terms, word) }
	for g := range vocab.Genres {
		for _, name := range genreNames[g] {
			if hasRow(terms, name) {
				q.asked |= 1 << g
			}
		}
		if slices.ContainsFunc(genreWords[g], has) {
			q.named |= 1 << g
		}
	}
	return q
}

// hasRow reports whether terms contain row as a contiguous sequence.
func hasRow(terms, row []string) bool {
	for i := range terms {
		if len(terms)-i >= len(row) && slices.Equal(terms[i:i+len(row)], row) {
			return true
		}
	}
	return false
}

// genre scores the genre of a page relative to the points of its hits: a source listing and an
// index have all names, but explain none.
func genre(m *match, t *Tally) {
	g := m.page.Genre
	if g == vocab.OtherGenre || g == vocab.Scripted || g >= vocab.Genres {
		return
	}
	share, why := -m.Genre[g], ""
	switch q := &m.terms.genres; {
	case q.asked>>g&1 != 0:
		share, why = m.GenreAsked, ", which the query asks for"
	case q.named>>g&1 != 0:
		return
	}
	points := share.Of(max(t.Sum, 0))
	if !t.Explain {
		t.Sum += points
		return
	}
	t.add(points, "genre", "", fmt.Sprintf("the page is a %s%s: %s × %s points of its words",
		g, why, share, t.Sum.Milli()))
}
