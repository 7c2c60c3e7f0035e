package officetext

import (
	"strconv"
	"strings"
)

// An openDocument is a text, a presentation or a sheet (ISO 26300-1).
type openDocument struct {
	*page
	sheet bool
	title bool // the open frame is the title of a slide
	pages int
}

func readOpenDocument(a *archive, p *page) error {
	_ = a.walk("meta.xml", rules{
		"title": field(&p.title), "language": field(&p.language), "keyword": field(&p.keywords),
		"description": field(&p.description), "subject": field(&p.description),
		"creation-date": field(&p.created), "date": field(&p.modified),
	}, nil)
	d := &openDocument{page: p}
	err := a.walk("content.xml", d.rules(), p)
	if d.sheet {
		p.heading = "" // "Sheet1"
	}
	return err
}

// skippedODF are elements without text of the document: its past, comments, forms and styles.
var skippedODF = []string{
	"tracked-changes", "annotation", "forms", "sequence-decls", "automatic-styles", "styles", "font-face-decls",
	"scripts", "note-citation", "ruby-text", "binary-data", "covered-table-cell", "desc",
}

func (d *openDocument) rules() rules {
	all := rules{
		"h": {do: block | text, start: func(_ *walker, e element) {
			level, err := strconv.Atoi(e.attr("outline-level"))
			if err != nil {
				level = 1
			}
			d.head(level)
		}},
		"p": {do: block | text, start: func(*walker, element) {
			if d.title {
				d.head(2)
			}
		}},
		"s": {do: space}, "tab": {do: space}, "line-break": {do: space},
		"a": {
			start: func(_ *walker, e element) { d.link(strings.TrimPrefix(e.attr("href"), "../")) },
			end:   func(*walker) { d.endLink() },
		},
		"title": {start: func(w *walker, e element) {
			if e.Name.Space == "svg" { // that of text is a field
				w.skip()
			}
		}},
		"spreadsheet": {start: func(*walker, element) { d.sheet = true }},
		"table": {
			start: func(_ *walker, e element) { d.startTable(e.attr("name")) },
			end:   func(*walker) { d.tag("</table>\n") },
		},
		"table-row": {do: row}, "table-cell": {do: cell},
		"page": {start: func(*walker, element) {
			d.pages++
			d.part("slide", d.pages)
		}},
		"frame": {
			start: func(w *walker, e element) { d.startFrame(w, e.attr("class")) },
			end:   func(*walker) { d.title = false },
		},
	}
	for _, name := range skippedODF {
		all[name] = rule{do: skip}
	}
	return all
}

// startTable begins a table. The table of a sheet has its name as heading.
func (d *openDocument) startTable(name string) {
	d.endBlock()
	if d.sheet && d.cells == 0 {
		d.head(2)
		d.writeString(name)
	}
	d.tag("<table>\n")
}

// startFrame begins a frame of a presentation class (ISO 26300-1 §19.389).
func (d *openDocument) startFrame(w *walker, class string) {
	switch class {
	case "title":
		d.title = true
	case "header", "footer", "date-time", "page-number":
		w.skip()
	}
}
