package officetext

// maxParts bounds the slides with their diagrams and notes, the sheets, and the chapters that are read.
const maxParts = 2000

// A slide is one of a presentation, with its diagrams and notes (ECMA-376, part 1, §19).
type slide struct {
	*page
	relationships relationships
	hidden        bool
	title         bool // the open shape is the title
	furniture     bool // the open shape is on every slide: the date, the number
}

func readSlides(a *archive, p *page) error {
	readCore(a, p)
	main := a.relationships("").mainPart()
	if a.file(main) == nil {
		main = "ppt/presentation.xml"
	}
	relationships, names := a.relationships(main), []string(nil)
	err := a.walk(main, rules{"sldId": {start: func(_ *walker, e element) {
		if name := relationships.part(e.attr("id")); name != "" && len(names) < maxParts {
			names = append(names, name)
		}
	}}}, nil)
	parts := 0
	for i, name := range names {
		if parts++; parts > maxParts || p.full() {
			break
		}
		p.part("slide", i+1)
		s := &slide{page: p, relationships: a.relationships(name)}
		err = worse(err, a.walk(name, s.rules(), p))
		more := append(s.relationships.allOfKind("diagramData"), s.relationships.allOfKind("notesSlide")...)
		for _, part := range more {
			if parts++; !s.hidden && parts <= maxParts {
				s.relationships = a.relationships(part)
				err = worse(err, a.walk(part, s.rules(), p))
			}
		}
	}
	return err
}

func (s *slide) rules() rules {
	return rules{
		"p": {do: block, start: func(*walker, element) {
			if s.title {
				s.head(2)
			}
		}},
		"t": {do: text}, "br": {do: space}, "tbl": {do: table}, "tr": {do: row}, "tc": {do: cell},
		"Fallback": {do: skip}, "fld": {do: skip},
		"sld": {start: func(w *walker, e element) {
			if v := e.attr("show"); v == "0" || v == "false" {
				s.hidden = true
				w.skip()
			}
		}},
		"sp": {start: func(*walker, element) { s.title, s.furniture = false, false }},
		"ph": {start: func(_ *walker, e element) {
			switch e.attr("type") {
			case "title", "ctrTitle":
				s.title = true
			case "sldNum", "dt", "ftr", "hdr":
				s.furniture = true
			}
		}},
		"txBody": {
			start: func(w *walker, _ element) {
				if s.furniture {
					w.skip()
				}
			},
			end: func(*walker) { s.title, s.furniture = false, false },
		},
		"hlinkClick": {start: func(_ *walker, e element) { s.link(s.relationships.external(e.attr("id"))) }},
		"r":          {end: func(*walker) { s.endLink() }},
	}
}
