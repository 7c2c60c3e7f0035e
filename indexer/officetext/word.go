package officetext

import (
	"maps"
	"strconv"
	"strings"
)

// readCore reads the properties of an Office Open XML document (ECMA-376, part 2, §11).
func readCore(a *archive, p *page) {
	_ = a.walk(a.relationships("").ofKind("core-properties"), rules{
		"title": field(&p.title), "language": field(&p.language), "keywords": field(&p.keywords),
		"subject": field(&p.description), "description": field(&p.description),
		"created": field(&p.created), "modified": field(&p.modified),
	}, nil)
}

// A word is a Word document (ECMA-376, part 1, §17).
type word struct {
	*page
	relationships relationships
	levels        map[string]int // levels of headings by style
	inRun         bool
	hidden        bool   // the run is
	field         []byte // instruction of the open field
}

func readWord(a *archive, p *page) error {
	readCore(a, p)
	main := a.relationships("").mainPart()
	if a.file(main) == nil {
		main = "word/document.xml"
	}
	w := &word{page: p, relationships: a.relationships(main)}
	styles := w.relationships.ofKind("styles")
	w.levels = headingStyles(a, styles)
	err := a.walk(main, w.rules(), p)
	for _, kind := range []string{"footnotes", "endnotes"} {
		if notes := w.relationships.ofKind(kind); notes != "" && err == nil {
			w.relationships = a.relationships(notes)
			err = a.walk(notes, w.rules(), p)
			w.relationships = a.relationships(main)
		}
	}
	return err
}

// headingStyles returns the levels of the styles of headings: those with an outline level, those with
// the name of a heading, and those based on one of these.
func headingStyles(a *archive, styles string) map[string]int {
	levels, bases, id := map[string]int{}, map[string]string{}, ""
	_ = a.walk(styles, rules{
		"style":   {start: func(_ *walker, e element) { id = e.attr("styleId") }},
		"basedOn": {start: func(_ *walker, e element) { bases[id] = e.attr("val") }},
		"name": {start: func(_ *walker, e element) {
			if level := namedLevel(e.attr("val")); level > 0 {
				levels[id] = level
			}
		}},
		"outlineLvl": {start: func(_ *walker, e element) {
			if n, err := strconv.Atoi(e.attr("val")); err == nil && levels[id] == 0 {
				levels[id] = n + 1
			}
		}},
	}, nil)
	all := maps.Clone(levels)
	for id := range bases {
		base := id
		for range 10 { // a cycle ends
			if levels[base] == 0 {
				base = bases[base]
			}
		}
		if levels[base] > 0 {
			all[id] = levels[base]
		}
	}
	return all
}

// namedLevel returns the level of the style "heading 2" or "Title", 0 if it is no heading.
func namedLevel(style string) int {
	style = strings.ToLower(style)
	if style == "title" {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(style, "heading")))
	if !strings.HasPrefix(style, "heading") || err != nil {
		return 0
	}
	return n
}

func (w *word) rules() rules {
	return rules{
		"p": {do: block}, "tab": {do: space}, "br": {do: space}, "cr": {do: space}, "ptab": {do: space},
		"tbl": {do: table}, "tr": {do: row}, "tc": {do: cell},
		"del": {do: skip}, "moveFrom": {do: skip}, "Fallback": {do: skip}, "tabs": {do: skip}, "rPrChange": {do: skip},
		"pPrChange": {do: skip}, "oMath": {do: text},
		"t": {do: text, start: func(x *walker, _ element) {
			if w.hidden {
				x.skip()
			}
		}},
		"noBreakHyphen": {start: func(*walker, element) { w.writeString("-") }},
		"pStyle":        {start: func(_ *walker, e element) { w.head(w.levels[e.attr("val")]) }},
		"outlineLvl": {start: func(_ *walker, e element) {
			if n, err := strconv.Atoi(e.attr("val")); err == nil {
				w.head(n + 1)
			}
		}},
		"r": {
			start: func(*walker, element) { w.inRun = true },
			end:   func(*walker) { w.inRun, w.hidden = false, false },
		},
		"vanish": {start: func(_ *walker, e element) {
			if v := e.attr("val"); w.inRun && v != "0" && v != "false" {
				w.hidden = true
			}
		}},
		"hyperlink": {
			start: func(_ *walker, e element) { w.link(w.relationships.external(e.attr("id"))) },
			end:   func(*walker) { w.endLink() },
		},
		"fldSimple": {
			start: func(_ *walker, e element) { w.link(hyperlink(e.attr("instr"))) },
			end:   func(*walker) { w.endLink() },
		},
		"instrText": {
			do:    text,
			start: func(x *walker, _ element) { x.capture = []byte{} },
			end:   func(x *walker) { w.field, x.capture = append(w.field, x.capture...), nil },
		},
		"fldChar": {start: func(_ *walker, e element) { w.fieldCharacter(e.attr("fldCharType")) }},
	}
}

// fieldCharacter handles the marks of a field: its instruction is between begin and separate, and its
// text between separate and end.
func (w *word) fieldCharacter(kind string) {
	switch kind {
	case "separate":
		if to := hyperlink(string(w.field)); to != "" {
			w.link(to)
		}
	case "end":
		if hyperlink(string(w.field)) != "" {
			w.endLink()
		}
	}
	w.field = w.field[:min(len(w.field), maxField)]
	if kind == "begin" || kind == "end" {
		w.field = w.field[:0]
	}
}

// hyperlink returns the URL of an instruction as HYPERLINK "http://example.org/", or "".
func hyperlink(instruction string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK")
	rest, quoted := strings.CutPrefix(strings.TrimSpace(rest), `"`)
	if !ok || !quoted {
		return ""
	}
	to, _, _ := strings.Cut(rest, `"`)
	return to
}
