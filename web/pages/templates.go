package pages

import (
	"html/template"
	"reflect"
	"strings"

	"anatomy/web/internal/text"
)

// templates are the parsed pages by name. All but busy have the layout around them.
type templates map[string]*template.Template

// parseTemplates panics on a template that does not parse: templates are part of the program.
func parseTemplates(a assets) templates {
	functions := template.FuncMap{
		"asset":  func(name string) string { return a.Served[name] },
		"count":  text.Count,
		"date":   text.Date,
		"points": text.Points,

		"resultList": resultList,
		"examples":   func() []helpExample { return plainExamples },

		"count64": func(n any) string { return text.Count(int(reflect.ValueOf(n).Int())) },
		"counted": func(n int, noun string) string { return text.Counted(n, noun) },
		"sum":     func(a, b int64) int64 { return a + b },
		"rate":    rate, "hits": hits, "megabytes": megabytes, "span": span,
	}
	parse := func(t *template.Template, name string) *template.Template {
		return template.Must(t.ParseFS(files, "templates/"+name))
	}
	layout := parse(template.New("layout.html").Funcs(functions), "layout.html")
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

// A view is the data of a template. Body is for the page, the other fields are for the layout.
type view struct {
	Site    string
	HasBot  bool // /bot is there
	Title   string
	Query   string
	Num     int // results per page, 0 for the default
	Visitor *visitor
	Rank    string // requested rank vector, "" for the default
	Type    string // of results, "" for pages
	Kinds   []tabView
	Body    any
}

// A tabView is a link to the results of one kind.
type tabView struct {
	Label, Href string
	Current     bool
}
