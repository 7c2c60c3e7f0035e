package pages

import (
	"html/template"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"anatomy/web/internal/messages"
	"anatomy/web/internal/text"
)

// templates are the parsed pages by name. All but busy have the layout around them.
type templates map[string]*template.Template

// parseTemplates returns the templates with the texts of one language. It panics on a template that
// does not parse: templates are part of the program.
func parseTemplates(a assets, m *messages.Printer) templates {
	var tips template.HTML // the same on every page of results, of which it took a third
	functions := template.FuncMap{
		"asset":  func(name string) string { return a.Served[name] },
		"t":      m.Text,
		"h":      m.HTML,
		"lang":   func() string { return m.Tag },
		"quote":  quote,
		"code":   code,
		"count":  m.Count,
		"date":   m.Date,
		"moment": m.Moment,
		"points": text.Points,

		"resultList": func(results []resultView, tab bool) template.HTML { return resultList(m, results, tab) },
		"tools":      func(v *resultsView) template.HTML { return tools(m, v) },
		"tips":       func() template.HTML { return tips },

		"count64": func(n any) string { return m.Count(int(reflect.ValueOf(n).Int())) },
		"counted": func(n int, noun string) string { return text.Counted(n, noun) },
		"sum":     func(a, b int64) int64 { return a + b },
		"rate":    rate, "hits": hits, "megabytes": megabytes, "span": span,
	}
	parse := func(t *template.Template, name string) *template.Template {
		source, err := files.ReadFile(path.Join("templates", name))
		if err != nil {
			panic(err)
		}
		if t.Name() == name {
			return template.Must(t.Parse(withLiterals(string(source), a, m)))
		}
		template.Must(t.New(name).Parse(withLiterals(string(source), a, m)))
		return t
	}
	layout := parse(template.New("layout.html").Funcs(functions), "layout.html")
	tips = searchTips(template.Must(layout.Clone()))
	all := templates{}
	entries, _ := files.ReadDir("templates") // embedded: cannot fail
	for _, e := range entries {
		switch name := strings.TrimSuffix(e.Name(), ".html"); name {
		case "layout":
		case "busy":
			all[name] = parse(template.New("busy.html").Funcs(functions), "busy.html")
		default:
			all[name] = parse(template.Must(layout.Clone()), e.Name())
		}
	}
	return all
}

// literal is an action that gives the same on each page in a language: {{t "Search"}}, {{asset "app.css"}}.
var literal = regexp.MustCompile(`\{\{(t|asset) ("(?:[^"\\]|\\.)*")\}\}`)

// withLiterals returns the source of a template with what its literals give. A page of results has forty,
// which took 7 % of its CPU by reflection.
func withLiterals(source string, a assets, m *messages.Printer) string {
	return literal.ReplaceAllStringFunc(source, func(action string) string {
		parts := literal.FindStringSubmatch(action)
		argument, err := strconv.Unquote(parts[2])
		if err != nil {
			return action // which does not parse
		}
		if parts[1] == "asset" {
			return a.Served[argument]
		}
		return template.HTMLEscapeString(m.Text(argument))
	})
}

// searchTips returns the list of operators below results.
func searchTips(layout *template.Template) template.HTML {
	var b strings.Builder
	if err := layout.ExecuteTemplate(&b, "operators", plainExamples); err != nil {
		panic(err)
	}
	return template.HTML(b.String())
}

// quote returns a text of the visitor's for a message, as a link unless href is "". href is an address
// of this server.
func quote(href, text string) template.HTML {
	text = "<bdi>" + template.HTMLEscapeString(text) + "</bdi>"
	if href != "" {
		text = `<a href="` + template.HTMLEscapeString(href) + `">` + text + "</a>"
	}
	return template.HTML(text)
}

// code returns a text for a message, as code.
func code(text string) template.HTML {
	return template.HTML("<code>" + template.HTMLEscapeString(text) + "</code>")
}

// A view is the data of a template. Body is for the page, the other fields are for the layout.
type view struct {
	Site    string
	HasBot  bool // /bot is there
	Title   string
	Query   string
	Num     int // results per page, 0 for the default
	Visitor *visitor
	Rank    string // requested rank vector, "" for the default
	Anchors string // texts of links that count, "" for all
	Type    string // of results, "" for pages
	Kinds   []tabView

	Collections []tabView // the collections of the process, if there are several
	Body        any

	Messages *messages.Printer // of the language of the page
}

// A tabView is a link to the results of one kind.
type tabView struct {
	Label, Href string
	Current     bool
}
