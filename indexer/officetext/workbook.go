package officetext

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A workbook is an Excel file (ECMA-376, part 1, §18).
type workbook struct {
	*page
	relationships relationships // of the open sheet
	shared        []string      // the shared strings
	dates         []bool        // whether a style shows numbers as dates, by its number
	epoch         time.Time     // day 0

	kind  string // of the open cell
	style int
}

func readWorkbook(a *archive, p *page) error {
	readCore(a, p)
	main := a.relationships("").mainPart()
	if a.file(main) == nil {
		main = "xl/workbook.xml"
	}
	relationships := a.relationships(main)
	b := &workbook{page: p, epoch: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
	var sheets []sheet
	err := a.walk(main, rules{
		"workbookPr": {start: func(_ *walker, e element) {
			if v := e.attr("date1904"); v == "1" || v == "true" {
				b.epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		}},
		"sheet": {start: func(_ *walker, e element) {
			s := sheet{name: e.attr("name"), part: relationships.part(e.attr("id"))}
			if state := e.attr("state"); (state == "" || state == "visible") && s.part != "" && len(sheets) < maxParts {
				sheets = append(sheets, s)
			}
		}},
	}, nil)
	err = worse(err, b.readShared(a, relationships.ofKind("sharedStrings")))
	b.readStyles(a, relationships.ofKind("styles"))
	for _, s := range sheets {
		if p.full() {
			break
		}
		p.endBlock()
		p.head(2)
		p.writeString(s.name)
		b.relationships = a.relationships(s.part)
		p.tag("<table>\n")
		err = worse(err, a.walk(s.part, b.rules(), p))
		p.tag("</table>\n")
	}
	p.heading = "" // "Sheet1"
	return err
}

// A sheet has its name and that of its part.
type sheet struct{ name, part string }

// readShared reads the shared strings, with single spaces. Phonetic readings are left out.
func (b *workbook) readShared(a *archive, part string) error {
	if part == "" {
		return nil
	}
	var p page
	return a.walk(part, rules{
		"t": {do: text, start: decodeXString}, "rPh": {do: skip},
		"si": {end: func(*walker) {
			b.shared = append(b.shared, fold(p.words))
			p.words, p.block = p.words[:0], p.block[:0]
		}},
	}, &p)
}

// readStyles finds the styles that show dates (§18.8.30).
func (b *workbook) readStyles(a *archive, part string) {
	custom, within := map[string]bool{}, false
	_ = a.walk(part, rules{
		"numFmt": {start: func(_ *walker, e element) {
			custom[e.attr("numFmtId")] = isDateFormat(e.attr("formatCode"))
		}},
		"cellXfs": {
			start: func(*walker, element) { within = true },
			end:   func(*walker) { within = false },
		},
		"xf": {start: func(_ *walker, e element) {
			if within {
				id := e.attr("numFmtId")
				n, _ := strconv.Atoi(id)
				b.dates = append(b.dates, n >= 14 && n <= 17 || n == 22 || custom[id])
			}
		}},
	}, nil)
}

// isDateFormat reports whether a format code has the day or the year of a date.
func isDateFormat(code string) bool {
	quote, bracket := false, false
	for _, c := range strings.ToLower(code) {
		switch {
		case c == '"':
			quote = !quote
		case c == '[' || c == ']':
			bracket = c == '['
		case !quote && !bracket && (c == 'y' || c == 'd'):
			return true
		}
	}
	return false
}

func (b *workbook) rules() rules {
	return rules{
		"row": {do: row},
		"c": {do: cell, start: func(_ *walker, e element) {
			b.kind = e.attr("t")
			b.style, _ = strconv.Atoi(e.attr("s"))
		}},
		"v": {
			do: text,
			start: func(w *walker, e element) {
				decodeXString(w, e)
				w.capture = []byte{}
			},
			end: func(w *walker) {
				value := string(w.capture)
				w.capture = nil
				w.writeString(b.value(value))
			},
		},
		"t": {do: text, start: decodeXString}, "rPh": {do: skip},
		"hyperlink": {do: block, start: func(_ *walker, e element) { b.link(b.relationships.external(e.attr("id"))) }},
	}
}

// escapes are the characters that XML cannot contain, in strings of a sheet (ST_Xstring, §22.9.2.19).
var escapes = regexp.MustCompile("_x[0-9A-Fa-f]{4}_")

// decodeXString makes the characters of strings be decoded. Control characters become spaces.
func decodeXString(w *walker, _ element) {
	w.decode = func(s []byte) []byte {
		return escapes.ReplaceAllFunc(s, func(escape []byte) []byte {
			x, err := strconv.ParseUint(string(escape[2:6]), 16, 16)
			if err != nil || unicode.IsControl(rune(x)) {
				return []byte(" ")
			}
			return utf8.AppendRune(nil, rune(x))
		})
	}
}

// value returns the text of a cell's value.
func (b *workbook) value(v string) string {
	switch b.kind {
	case "s":
		if i, err := strconv.Atoi(v); err == nil && i >= 0 && i < len(b.shared) {
			return b.shared[i]
		}
		return ""
	case "b", "e":
		return ""
	case "", "n":
		return b.number(v)
	}
	return v
}

const maxExcelDay = 2_958_465 // 9999-12-31

// number returns a number as a sheet shows it: in at most 15 digits, or as a date.
func (b *workbook) number(v string) string {
	x, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil:
		return ""
	case b.style >= 0 && b.style < len(b.dates) && b.dates[b.style] && x >= 1 && x <= maxExcelDay:
		return b.epoch.AddDate(0, 0, int(x)).Format(time.DateOnly)
	}
	return strconv.FormatFloat(x, 'g', 15, 64)
}
