package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
)

// A helpView explains the query language. doc/query.md says the same at length, and a test holds that
// nothing of its table is missing here.
type helpView struct{ Sections []helpSection }

type helpSection struct {
	ID, Title string
	About     string
	Examples  []helpExample
}

// A helpExample is a query that can be followed.
type helpExample struct{ Query, Means, Href string }

// The language, in the order in which people need it.
var helpSections = []helpSection{
	{"words", "Words", "All words must be there, in any order: in the text, title, address or description of a page, or in links to it. Nearer together is better, and so is in the title or in headings. Case and accents do not matter. Where few pages hold a word as it stands, its other forms count, too, and pages are shown that hold most of the words.", []helpExample{
		{Query: "random surfer", Means: "both words, anywhere"},
		{Query: "zurich", Means: "finds Zürich, too"},
		{Query: "検索", Means: "both characters, together: Chinese and Japanese need no spaces"},
		{Query: "+surfing", Means: "the word in this very form"},
		{Query: "os.path", Means: "os and path next to each other: punctuation parts words"},
	}},
	{"phrases", "Phrases", "Quotes ask for words next to each other, in this order, in one place: a phrase does not reach from the title into the text.", []helpExample{
		{Query: `"random surfer"`, Means: "this very phrase"},
		{Query: `"page rank" "random surfer"`, Means: "both phrases"},
		{Query: `"random * surfer"`, Means: "some word in place of the *"},
	}},
	{"near", "Near each other", "The number says how many other words may stand between, in either order and in one place.", []helpExample{
		{Query: `"random surfer"~5`, Means: "all words of the quotes within a stretch"},
		{Query: `random AROUND(5) "bored surfer"`, Means: "words and phrases, as pairs"},
		{Query: `(web OR net) AROUND(3) surfer`, Means: "one of several near a word"},
	}},
	{"without", "Without, or, groups", "A minus directly before a word, phrase, operator or group leaves pages out. OR is written in capitals and binds more tightly than the space. There must be something to look for besides what is left out. One letter behind a minus, or a word like -std=c11, is an option of a command, and is looked for.", []helpExample{
		{Query: "surfer -wave", Means: "the first word without the second"},
		{Query: `web -"deep web"`, Means: "without a phrase"},
		{Query: "tar -x", Means: "the option, as in clang -std=c++17; -\"x\" leaves it out"},
		{Query: "crawler OR spider", Means: "one of the words at least"},
		{Query: "crawler | spider", Means: "the same"},
		{Query: `(web OR net) -"deep web"`, Means: "as the parentheses say"},
	}},
	{"sites", "Sites", "A host stands for itself and the hosts below it, and may be followed by the beginning of a path.", []helpExample{
		{Query: "site:example.org", Means: "of this host and those below it; alone, all its pages"},
		{Query: "site:example.org/docs", Means: "below this path"},
		{Query: "crawler -site:example.org", Means: "anywhere else"},
	}},
	{"places", "Places on a page", "These take the word, “phrase” or (group) that follows without a space.", []helpExample{
		{Query: "intitle:cache", Means: "in the title"},
		{Query: `intitle:"release notes"`, Means: "a phrase in the title"},
		{Query: "inurl:robots", Means: "in host or path"},
		{Query: "inurl:(api OR reference)", Means: "one of several"},
		{Query: "inanchor:manual", Means: "in the text of a link to the page"},
		{Query: "intext:damping", Means: "in the text of the page itself"},
		{Query: "inbody:damping", Means: "the same"},
		{Query: "allintitle: page rank", Means: "all that follows in the title"},
		{Query: "allinurl: api reference", Means: "in the address; allinanchor: and allintext: are there, too"},
		{Query: "inalt:diagram", Means: "in what stands for an image, its alt text"},
		{Query: "type:image diagram", Means: "images instead of pages, as under Images above the results"},
	}},
	{"kinds", "Languages, kinds, dates", "A language is the one that a page declares, or that its script shows. Kinds are html, txt, md, xml (feeds) and pdf. Dates are days, months or years.", []helpExample{
		{Query: "cache lang:de", Means: "pages in a language"},
		{Query: "lang:de", Means: "all of them"},
		{Query: "filetype:pdf", Means: "of a kind"},
		{Query: "ext:txt", Means: "the same"},
		{Query: "after:2023", Means: "dated that year or later"},
		{Query: "before:2024-06-01", Means: "dated before that day"},
		{Query: "2020..2024", Means: "dated in these years"},
		{Query: "surfer sort:date", Means: "the newest first, those without a date last"},
	}},
	{"pages", "Links and pages", "These take the address of a page of the collection, link: also a host.", []helpExample{
		{Query: "link:example.org/page", Means: "pages that link to a page"},
		{Query: "link:example.org -site:example.org", Means: "pages that link to any page of a host, from elsewhere"},
		{Query: "link:example.org", Means: "the same, from its own pages, too"},
		{Query: "related:example.org/page", Means: "pages that are linked to together with it"},
		{Query: "info:example.org/page", Means: "this page alone"},
		{Query: "cache:example.org/page", Means: "the same, as it was fetched"},
	}},
	{"else", "Nothing is an error", "What is no operator is words. A quote left open is closed at the end, and a parenthesis without a partner means nothing. Quotes may be typographic. The page of results shows the query as it was understood, and says why where nothing was found.", []helpExample{
		{Query: "C++", Means: "a word"},
		{Query: "foo:bar", Means: "two words next to each other"},
		{Query: `"random surfer`, Means: "the same as with both quotes"},
	}},
}

func (s *Server) help(c *gin.Context) error {
	v := s.view("Help", "")
	v.Help = &helpView{}
	for _, section := range helpSections {
		examples := make([]helpExample, len(section.Examples))
		for i, e := range section.Examples {
			e.Href = searchHref("/search", searcher.Request{Query: e.Query}, 0)
			examples[i] = e
		}
		section.Examples = examples
		v.Help.Sections = append(v.Help.Sections, section)
	}
	return s.render(c, http.StatusOK, s.pages.help, v)
}

// An advancedField is a field of the form that writes a query.
type advancedField struct {
	Name, Label, About, Example string

	// write is what the field asks for in the query language; its value has words.
	write func(value string) string
}

var advancedFields = []advancedField{
	{"all", "All of these words", "in any order", "crawler robots", func(v string) string { return v }},
	{"phrase", "This very phrase", "words next to each other", "random surfer", func(v string) string { return `"` + withoutQuotes(v) + `"` }},
	{"any", "Any of these words", "one is enough", "spider robot", func(v string) string { return group(terms(v)) }},
	{"none", "None of these words", "or “phrases” in quotes", "wave", func(v string) string { return before("-", v) }},
	{"site", "On these sites", "hosts, or parts of them", "example.org/docs", func(v string) string { return group(prefixed("site:", strings.FieldsFunc(v, isListGap))) }},
	{"notsite", "Not on these sites", "", "example.com", func(v string) string { return strings.Join(prefixed("-site:", strings.FieldsFunc(v, isListGap)), " ") }},
	{"title", "In the title", "all of these", "introduction", func(v string) string { return before("intitle:", v) }},
	{"url", "In the address", "all of these", "blog", func(v string) string { return before("inurl:", v) }},
	{"anchor", "In links to the page", "all of these", "manual", func(v string) string { return before("inanchor:", v) }},
}

type advancedView struct {
	Fields []advancedField
	Kinds  []string
}

// advanced is a form that writes a query, and leads to its results.
func (s *Server) advanced(c *gin.Context) error {
	p := readParams(c)
	var parts []string
	for _, f := range advancedFields {
		if value := p.text(f.Name, MaxQuery); withoutQuotes(value) != "" {
			parts = append(parts, f.write(value))
		}
	}
	parts = append(parts, p.kinds(s.o.Now())...)
	num := p.number("num", 0, 1, 100)
	if order := p.order(); len(parts) > 0 {
		parts = append(parts, order...)
	}
	query := strings.Join(parts, " ")
	if len(query) > MaxQuery {
		p.fail("The query has %d bytes; the limit is %d.", len(query), MaxQuery)
	}
	if p.err != nil {
		return p.err
	}
	if query != "" {
		s.redirect(c, http.StatusSeeOther, searchHref("/search", searcher.Request{Query: query, Limit: num}, 0)+s.visitor(c, p).tail())
		return nil
	}
	v := s.view("Advanced search", "")
	v.Advanced = &advancedView{advancedFields, fileKinds}
	return s.render(c, http.StatusOK, s.pages.advanced, v)
}

// tail is what addresses must carry.
func (v *visitor) tail() string {
	if len(v.Carry) == 0 {
		return ""
	}
	return "&" + url.Values(v.Carry).Encode()
}

func isListGap(r rune) bool { return r == ',' || r <= ' ' }

// withoutQuotes is a text whose quotes are blanks.
func withoutQuotes(v string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`"`, " ", "“", " ", "”", " ", "„", " ").Replace(v)), " ")
}

// terms are the words and "phrases" of a field.
func terms(v string) (all []string) {
	for i, part := range strings.Split(strings.NewReplacer("“", `"`, "”", `"`, "„", `"`).Replace(v), `"`) {
		switch words := strings.Fields(part); {
		case i%2 == 0:
			all = append(all, words...)
		case len(words) > 0:
			all = append(all, `"`+strings.Join(words, " ")+`"`)
		}
	}
	return all
}

func prefixed(operator string, all []string) []string {
	for i := range all {
		all[i] = operator + all[i]
	}
	return all
}

func before(operator, v string) string { return strings.Join(prefixed(operator, terms(v)), " ") }

// group asks for one of several.
func group(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return "(" + strings.Join(all, " OR ") + ")"
}
