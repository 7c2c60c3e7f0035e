package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/address"
)

// A helpView is the help on the query language. doc/query.md is longer; a test checks that this
// page has every operator of its table.
type helpView struct{ Sections []helpSection }

type helpSection struct {
	ID, Title string
	About     string
	Examples  []helpExample
}

// A helpExample is a query with a link to its results, "" for none.
type helpExample struct{ Query, Means, Href string }

// helpSections explain the query language, most useful parts first.
var helpSections = []helpSection{
	{"words", "Words", "A page must contain all words, in any order: in its text, title, address or description, or in links to it. Words that are close together, in the title or in headings score more. Case and accents do not matter. If few pages match, other forms of the words match too, and results include pages with most of the words.", []helpExample{
		{Query: "random surfer", Means: "both words, anywhere"},
		{Query: "zurich", Means: "also finds Zürich"},
		{Query: "検索", Means: "both characters together: Chinese and Japanese need no spaces"},
		{Query: "+surfing", Means: "the word in exactly this form"},
		{Query: "os.path", Means: "os and path next to each other: punctuation separates words"},
	}},
	{"phrases", "Phrases", "Words in quotes must be next to each other, in this order and in one field: a phrase does not span title and text.", []helpExample{
		{Query: `"random surfer"`, Means: "this exact phrase"},
		{Query: `"page rank" "random surfer"`, Means: "both phrases"},
		{Query: `"random * surfer"`, Means: "any word in place of the *"},
	}},
	{"near", "Near each other", "The number is the maximum of words in between, in either order and in one field.", []helpExample{
		{Query: `"random surfer"~5`, Means: "all words in quotes, close together"},
		{Query: `random AROUND(5) "bored surfer"`, Means: "words and phrases, as pairs"},
		{Query: `(web OR net) AROUND(3) surfer`, Means: "one of several near a word"},
	}},
	{"without", "Without, or, groups", "A minus directly before a word, phrase, operator or group excludes pages. Write OR in capitals; it binds more tightly than a space. A query needs at least one part without a minus. A minus with one letter, or a word like -std=c11, is a command option and a normal word.", []helpExample{
		{Query: "surfer -wave", Means: "the first word without the second"},
		{Query: `web -"deep web"`, Means: "without a phrase"},
		{Query: "tar -x", Means: "the option, as in clang -std=c++17; -\"x\" excludes it"},
		{Query: "crawler OR spider", Means: "at least one of the words"},
		{Query: "crawler | spider", Means: "the same"},
		{Query: `(web OR net) -"deep web"`, Means: "as the parentheses say"},
	}},
	{"sites", "Sites", "A host includes its subdomains. A path may follow.", []helpExample{
		{Query: "site:example.org", Means: "on this host and its subdomains; alone, all its pages"},
		{Query: "site:example.org/docs", Means: "below this path"},
		{Query: "crawler -site:example.org", Means: "on other sites"},
	}},
	{"places", "Parts of a page", "A word, “phrase” or (group) follows without a space.", []helpExample{
		{Query: "intitle:cache", Means: "in the title"},
		{Query: `intitle:"release notes"`, Means: "a phrase in the title"},
		{Query: "inurl:robots", Means: "in the host or path"},
		{Query: "inurl:(api OR reference)", Means: "one of several"},
		{Query: "inanchor:manual", Means: "in the text of a link to the page"},
		{Query: "intext:damping", Means: "in the text of the page itself"},
		{Query: "inbody:damping", Means: "the same"},
		{Query: "allintitle: page rank", Means: "all following words in the title"},
		{Query: "allinurl: api reference", Means: "in the address; also allinanchor: and allintext:"},
		{Query: "inalt:diagram", Means: "in the alternative text of an image"},
		{Query: "type:image diagram", Means: "images instead of pages, as under Images above the results"},
	}},
	{"kinds", "Languages, file types, dates", "The language is the declared one, or that of the script. File types are html, txt, md, xml (feeds), csv, json, pdf, docx, odt, rtf, xlsx, ods, pptx, odp and epub. Dates are days, months or years.", []helpExample{
		{Query: "cache lang:de", Means: "pages in a language"},
		{Query: "lang:de", Means: "all of them"},
		{Query: "filetype:pdf", Means: "of a file type"},
		{Query: "ext:txt", Means: "the same"},
		{Query: "version:2.0", Means: "of a version that the page states"},
		{Query: "product:widgets", Means: "of a product that the page states"},
		{Query: "type:service weather", Means: "definitions of web services: OpenAPI, AsyncAPI, GraphQL and WSDL"},
		{Query: "after:2023", Means: "dated that year or later"},
		{Query: "before:2024-06-01", Means: "dated before that day"},
		{Query: "2020..2024", Means: "dated in these years"},
		{Query: "surfer sort:date", Means: "newest first, pages without a date last"},
	}},
	{"pages", "Links and pages", "A page of the collection follows; for link: also a host.", []helpExample{
		{Query: "link:example.org/page", Means: "pages that link to a page"},
		{Query: "link:example.org -site:example.org", Means: "pages on other sites that link to any page of a host"},
		{Query: "link:example.org", Means: "the same, with its own pages"},
		{Query: "related:example.org/page", Means: "pages that are linked together with it"},
		{Query: "info:example.org/page", Means: "this page alone"},
		{Query: "cache:example.org/page", Means: "its cached copy"},
	}},
	{"else", "No syntax errors", "Text that is not an operator is words. An open quote ends at the end of the query, and an unmatched parenthesis is ignored. Quotes may be typographic. The results page shows how the query was interpreted, and why nothing was found.", []helpExample{
		{Query: "C++", Means: "a word"},
		{Query: "foo:bar", Means: "two words next to each other"},
		{Query: `"random surfer`, Means: "the same as with both quotes"},
	}},
}

func (s *searchPages) help(c *gin.Context) error {
	v := s.View(c, "Help", "")
	all := &helpView{}
	for _, section := range helpSections {
		examples := make([]helpExample, len(section.Examples))
		for i, e := range section.Examples {
			e.Href = address.SearchHref("/search", searcher.Request{Query: e.Query}, 0)
			examples[i] = e
		}
		section.Examples = examples
		all.Sections = append(all.Sections, section)
	}
	v.Body = all
	return s.Render(c, http.StatusOK, "help", v)
}
