package vocab

// A Genre is the purpose of a page.
type Genre uint8

// Genres. The numbers are part of the format of segments.
const (
	OtherGenre    Genre = iota // a page that explains something, as most do, or none of the others
	SourceListing              // the text of a program
	IndexPage                  // names with links to where they are explained: an index, a list of members
	Changelog                  // changes by version
	Scripted                   // no text without JavaScript
	Genres
)

var genreNames = [Genres]string{"page", "source listing", "index", "changelog", "page without text unless JavaScript runs"}

func (g Genre) String() string {
	if g < Genres {
		return genreNames[g]
	}
	return "unknown genre"
}
