package pages

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/params"
	"anatomy/web/internal/visitor"
)

// An advancedField is a field of the advanced search form.
type advancedField struct {
	Name, Label, About, Example string

	// write returns the field's part of the query, or ""; value contains a word.
	write func(value string) string
}

var AdvancedFields = []advancedField{
	{"all", "All of these words", "in any order", "crawler robots", func(v string) string { return v }},
	{"phrase", "This exact phrase", "words next to each other, in this order", "random surfer", func(v string) string { return `"` + withoutQuotes(v) + `"` }},
	{"any", "Any of these words", "at least one", "spider robot", func(v string) string { return group(terms(v)) }},
	{"none", "None of these words", "or “phrases” in quotes", "wave", excluded},
	{"site", "On these sites", "hosts, or hosts with paths", "example.org/docs", func(v string) string { return group(prefixed("site:", strings.FieldsFunc(v, params.IsListGap))) }},
	{"notsite", "Not on these sites", "", "example.com", func(v string) string {
		return strings.Join(prefixed("-site:", strings.FieldsFunc(v, params.IsListGap)), " ")
	}},
	{"title", "In the title", "all of these", "introduction", func(v string) string { return before("intitle:", v) }},
	{"url", "In the address", "all of these", "blog", func(v string) string { return before("inurl:", v) }},
	{"anchor", "In links to the page", "all of these", "manual", func(v string) string { return before("inanchor:", v) }},
}

type advancedView struct {
	Fields    []advancedField
	Languages []languageView
	Kinds     []string
}

// fileKinds are the file types that the form offers.
var fileKinds = []string{
	"html", "pdf", "docx", "odt", "rtf", "xlsx", "ods", "pptx", "odp", "epub", "txt", "md", "xml", "csv", "json",
}

// maxLanguages limits a list of languages, in bytes.
const maxLanguages = 256

// kindsAsked converts the fields lang, filetype, time_range, from and to into filters.
func kindsAsked(p *params.Params, now time.Time) (parts []string) {
	var languages []string
	for _, tag := range strings.FieldsFunc(p.Text("lang", maxLanguages), params.IsListGap) {
		lang := vocab.PrimaryLanguage(tag)
		if lang == "" {
			p.Fail("Parameter lang must be codes of languages: de, pt.")
		}
		languages = append(languages, "lang:"+lang)
	}
	parts = params.AnyOf(languages)
	if kind := p.One("filetype"); kind != "" {
		if _, known := vocab.ParseMedium(kind); !known {
			p.Fail("Parameter filetype must be one of %s.", strings.Join(fileKinds, ", "))
		}
		parts = append(parts, "filetype:"+kind)
	}
	parts = append(parts, p.TimeRange(now)...)
	if from := p.Day("from"); !from.IsZero() {
		parts = append(parts, "after:"+from.Format(time.DateOnly))
	}
	if to := p.Day("to"); !to.IsZero() {
		parts = append(parts, "before:"+to.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	return parts
}

// advanced shows the form, or redirects to the results of the query that it makes.
func (s *searchPages) advanced(c *gin.Context) error {
	p := params.Read(c)
	var parts []string
	for _, f := range AdvancedFields {
		value := p.Text(f.Name, params.MaxQuery)
		if withoutQuotes(value) == "" {
			continue
		}
		if part := f.write(value); part != "" {
			parts = append(parts, part)
		}
	}
	parts = append(parts, kindsAsked(p, s.now())...)
	num := p.Number("num", 0, 1, 100)
	if order := p.Order(); len(parts) > 0 {
		parts = append(parts, order...)
	}
	query := strings.Join(parts, " ")
	if len(query) > params.MaxQuery {
		p.Fail("The query has %d bytes; the limit is %d.", len(query), params.MaxQuery)
	}
	if p.Err != nil {
		return p.Err
	}
	if query != "" {
		s.Site.Redirect(c, http.StatusSeeOther, address.SearchHref("/search", searcher.Request{Query: query, Limit: num}, 0)+visitor.Of(c, p).Tail())
		return nil
	}
	v := s.View(c, "Advanced search", "")
	v.Body = &advancedView{AdvancedFields, languageViews("", offered(c, s.offer).Languages), fileKinds}
	return s.Render(c, http.StatusOK, "advanced", v)
}

// withoutQuotes replaces quotes by blanks.
func withoutQuotes(v string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`"`, " ", "“", " ", "”", " ", "„", " ").Replace(v)), " ")
}

// terms returns the words and "phrases" of a field.
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

// excluded returns the words of a field with one minus sign each: "--a" would require a.
func excluded(v string) string {
	var words []string
	for _, word := range terms(v) {
		if word = strings.TrimLeft(word, "-"); word != "" {
			words = append(words, "-"+word)
		}
	}
	return strings.Join(words, " ")
}

// group joins words with OR.
func group(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return "(" + strings.Join(all, " OR ") + ")"
}
