package indexer

import (
	"bytes"
	"slices"
	"strings"

	"anatomy/vocab"
)

// The genre of a page needs evidence of two kinds: the form of its text, and its title, first
// heading, links or URL. A page has a genre if its form matches and evidence of another kind
// agrees. So a page about source control is not a listing, and neither a page of links nor a
// chapter with one long example is an index.

// Minimum evidence for a genre.
const (
	minListing  = 3  // points: see evidence.listing
	minLines    = 10 // anchors of lines
	maxPerLine  = 25 // terms for each of them, if all lines have one
	minEntries  = 20 // links in an index
	minVersions = 3  // headings of versions in a list of changes

	// maxHeadingsOfPage is the maximum number of headings of the first level at which one of them
	// may name the page: a second one may name its site.
	maxHeadingsOfPage = 2
)

// evidence has the features that decide the genre of a page. Texts are in lower case.
type evidence struct {
	title    []string // its parts
	headings []string // of the first level
	path     string   // of the URL
	terms    int      // of the body, without navigation
	code     int      // of these in code
	all      int      // terms of the body, with navigation
	linked   int      // of these in links
	links    int
	lines    int  // anchors of numbered lines
	versions int  // headings with the number of a version
	back     bool // a link leads from code to its documentation
	scripted bool
}

// genre returns the genre of a page.
func (e *evidence) genre() vocab.Genre {
	switch {
	case e.scripted:
		return vocab.Scripted
	case e.listing() >= minListing:
		return vocab.SourceListing
	case e.isIndex():
		return vocab.IndexPage
	case e.isChangelog():
		return vocab.Changelog
	}
	return vocab.OtherGenre
}

// listing returns the points for a source listing, 0 if the text is not code and has no line
// anchors.
func (e *evidence) listing() (points int) {
	switch {
	case e.terms == 0:
		return 0
	case 10*e.code >= 9*e.terms:
		points = 2
	case 2*e.code >= e.terms:
		points = 1
	}
	if e.lines >= minLines {
		points++
		if e.terms <= maxPerLine*e.lines {
			points++
		}
	}
	if points == 0 {
		return 0
	}
	if e.isNamed(namesListing) {
		points += 2
	}
	if e.back {
		points++
	}
	if slices.ContainsFunc(listingPaths, func(part string) bool { return strings.Contains(e.path, part) }) {
		points++
	}
	return points
}

// isIndex reports whether the page is named an index and consists of short links, or is a list that
// Javadoc makes.
func (e *evidence) isIndex() bool {
	return e.links >= minEntries && 2*e.linked >= e.all && e.linked <= 4*e.links &&
		e.isNamed(namesIndex) || e.isJavadocList()
}

// isJavadocList reports whether the title and the URL are those of a list of the uses of a class or
// package, or of a class hierarchy. Few of these lists are long.
func (e *evidence) isJavadocList() bool {
	uses := strings.Contains(e.path, "/class-use/") || strings.HasSuffix(e.path, "/package-use.html")
	tree := strings.HasSuffix(e.path, "/package-tree.html") || strings.HasSuffix(e.path, "/overview-tree.html")
	return slices.ContainsFunc(e.title, func(name string) bool {
		return uses && strings.HasPrefix(name, "uses of ") || tree && strings.HasSuffix(name, "class hierarchy")
	})
}

// isChangelog reports whether the page is named a list of changes, and its title or headings have
// version numbers. Pages on other subjects have sections of changes.
func (e *evidence) isChangelog() bool {
	return slices.ContainsFunc(e.title, func(name string) bool {
		return namesChanges(name) && (e.versions >= minVersions || hasVersion(name))
	})
}

// isNamed reports whether a part of the title satisfies is, or a heading of the first level, if it
// may name the page: a page with several has sections.
func (e *evidence) isNamed(is func(string) bool) bool {
	return slices.ContainsFunc(e.title, is) ||
		len(e.headings) <= maxHeadingsOfPage && slices.ContainsFunc(e.headings, is)
}

var (
	listingPaths = []string{"/src/", "/src-html/", "/_modules/", "_source.htm", ".rs.htm"}
	backTexts    = []string{"[docs]", "[doc]", "go to the documentation of this file."}
)

// namesListing reports whether a name is the name of a source listing: "Source code for os.path",
// "mod.rs - source".
func namesListing(name string) bool {
	return name == "source" || strings.HasPrefix(name, "source code ") ||
		strings.HasSuffix(name, " source file") || strings.HasSuffix(name, " source code") ||
		strings.HasSuffix(name, " example file")
}

// namesIndex reports whether a name is the name of an index: "Function Index", "Member List".
func namesIndex(name string) bool {
	switch name {
	case "index", "genindex", "all classes", "class members", "file members", "data fields",
		"member list", "all members", "all modules for which code is available", "glossary":
		return true
	}
	return strings.HasSuffix(name, " index") || strings.HasPrefix(name, "index of ") ||
		strings.HasPrefix(name, "all classes ") || strings.HasPrefix(name, "list of all members ")
}

// namesChanges reports whether a name is the name of a list of changes.
func namesChanges(name string) bool {
	name = strings.ReplaceAll(name, "’", "'")
	for _, part := range []string{
		"release notes", "changelog", "change log", "what's new", "new in ", "new api in ",
		"release history", "version history", "change history", "revision history",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	_, after, release := strings.Cut(name, "release ")
	return release && after != "" && isDigit(after[0]) ||
		name == "changes" || name == "news" ||
		strings.HasPrefix(name, "changes in ") || strings.HasPrefix(name, "changes since ")
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// hasVersion reports whether a text has a version number or a date: digits, a dot or minus, and
// digits.
func hasVersion[T string | []byte](s T) bool {
	for i := 1; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == '-') && isDigit(s[i-1]) && isDigit(s[i+1]) {
			return true
		}
	}
	return false
}

// titleSeparators separate the name of a page from the name of its site, in either order.
var titleSeparators = strings.NewReplacer(
	" — ", "\n", " – ", "\n", " - ", "\n", " | ", "\n", " :: ", "\n", ": ", "\n", " (", "\n")

// genre returns the genre of the page that was read, before fields other than the body are added.
func (x *extraction) genre() vocab.Genre {
	t := &x.text
	e := evidence{
		title: partsOfName(x.meta.title),
		path:  strings.ToLower(x.links.page.Path()),
		all:   int(t.bodyTerms),
		links: len(x.links.links),
		lines: t.parts.numberedLines(),
		back:  x.links.hasText(backTexts),

		scripted: x.scripts.makeText(&x.links),
	}
	for _, o := range t.hits {
		if o.hit.Type() == vocab.Code {
			e.code++
		}
	}
	hit, from := 0, 0
	for i := range t.blocks {
		b := &t.blocks[i]
		to := min(b.text, len(t.text))
		if b.heading {
			e.addHeading(t.text[from:to], t.hits[hit].hit.Type() == vocab.Heading1)
		}
		if !b.menu {
			e.terms += b.terms
		}
		e.linked += b.linked
		hit, from = b.hits, to
	}
	return e.genre()
}

// addHeading adds a heading. A heading of the first level can name the page.
func (e *evidence) addHeading(text []byte, first bool) {
	if hasVersion(text) {
		e.versions++
	}
	if first && len(e.headings) <= maxHeadingsOfPage {
		e.headings = append(e.headings, nameOf(text))
	}
}

// nameOf returns a title or heading in lower case.
func nameOf(text []byte) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.ToLower(string(text))), "¶"))
}

// partsOfName returns the name of a page and that of its site, which a title has in either order.
func partsOfName(title []byte) (all []string) {
	for part := range strings.SplitSeq(titleSeparators.Replace(nameOf(title)), "\n") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// hasText reports whether a link has one of the texts, which are in lower case.
func (c *linkCollector) hasText(texts []string) bool {
	for i := range c.links {
		l := &c.links[i]
		for _, text := range texts {
			if l.end-l.start == len(text) && strings.EqualFold(string(c.text[l.start:l.end]), text) {
				return true
			}
		}
	}
	return false
}

// numberedLines returns the number of ids that are the numbers of lines in their order: L2, line-3,
// l00004. Lines may be left out, unless the ids are bare numbers, which name other things, too.
func (n *parts) numberedLines() (lines int) {
	from, last := 0, 0
	for _, end := range n.idEnds {
		number, bare, ok := lineNumber(n.ids[from:end])
		if ok && number > last && (!bare || number == last+1) {
			lines++
			last = number
		}
		from = end
	}
	return lines
}

// lineNumber returns the number of the line that an id names, if it does, and whether the id is the
// number alone.
func lineNumber(id []byte) (number int, bare, ok bool) {
	digits := len(id)
	for digits > 0 && isDigit(id[digits-1]) {
		digits--
	}
	if digits == len(id) || len(id)-digits > 7 {
		return 0, false, false
	}
	switch string(bytes.TrimRight(id[:digits], "-._")) {
	case "":
		bare = true
	case "L", "l", "n", "LN", "ln", "Line", "line", "lineno":
	default:
		return 0, false, false
	}
	for _, b := range id[digits:] {
		number = 10*number + int(b-'0')
	}
	return number, bare, true
}
