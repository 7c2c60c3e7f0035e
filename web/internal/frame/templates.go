package frame

import (
	"html/template"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"anatomy/web/internal/messages"
	"anatomy/web/internal/reported"
	"anatomy/web/internal/visitor"
)

// templates are the parsed pages by name. All but busy have the layout around them.
type templates map[string]*template.Template

// parseTemplates returns the templates with the texts of one language. It panics on a template that
// does not parse: templates are part of the program.
func parseTemplates(a assets, m *messages.Printer, more []template.FuncMap) templates {
	functions := template.FuncMap{
		"asset":    func(name string) string { return a.Served[name] },
		"icon":     a.Icon,
		"t":        m.Text,
		"h":        m.HTML,
		"lang":     func() string { return m.Tag },
		"quote":    Quote,
		"code":     code,
		"count":    m.Count,
		"date":     m.Date,
		"moment":   m.Moment,
		"comma":    func() string { return m.Comma },
		"semi":     func() string { return m.Semi },
		"colon":    func() string { return m.Colon },
		"codes":    codes,
		"reported": func(english string) template.HTML { return reported.HTML(m, english) },
		"long":     func(d time.Duration) string { return reported.Duration(m, d) },
		"figure":   figure,
		"asked":    asked,
	}
	for _, of := range more {
		maps.Copy(functions, of)
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

// literal is an action with the same output on each page in a language: {{t "Search"}}, {{asset "app.css"}}.
var literal = regexp.MustCompile(`\{\{(t|asset) ("(?:[^"\\]|\\.)*")\}\}`)

// withLiterals returns the source of a template with its literals replaced by their output. A page of
// results has forty, which took 7 % of its CPU by reflection.
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

// Quote returns a text of the visitor's for a message, as a link unless href is "". href is an address
// of this server.
func Quote(href, text string) template.HTML {
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

// codes returns texts for a message, as code with commas between.
func codes(texts []string) template.HTML {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = string(code(text))
	}
	return template.HTML(strings.Join(all, ", "))
}

// figure returns a number for a message, in bold.
func figure(number string) template.HTML {
	return template.HTML(`<strong class="num">` + template.HTMLEscapeString(number) + "</strong>")
}

// asked returns a query for a message.
func asked(query string) template.HTML {
	return template.HTML(`<bdi class="asked">` + template.HTMLEscapeString(query) + "</bdi>")
}

// A View is the data of a template. Body is for the page, the other fields are for the layout.
type View struct {
	Site    string
	HasBot  bool // /bot is there
	Title   string
	Query   string
	Num     int // results per page, 0 for the default
	Visitor *visitor.Visitor
	Rank    string // requested rank vector, "" for the default
	Anchors string // texts of links that count, "" for all
	Type    string // of results, "" for pages
	Kinds   []Tab

	Collections []Tab // the collections of the process, if there are several
	Body        any

	Messages *messages.Printer // of the language of the page
}

// IsLong reports whether the name of the site does not fit beside the sign in large letters.
func (v *View) IsLong() bool { return utf8.RuneCountInString(v.Site) > 9 }

// A Tab is a link to the results of one kind.
type Tab struct {
	Label, Href string
	Current     bool
}
