package datatext

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"unicode"
)

const (
	maxSample  = 16 << 10 // bytes of which the separator is learned
	sampleRows = 20
	separators = ",;\t|"
)

// CSV converts UTF-8 text. The title is the first row, if that has a letter. It names the columns, if no
// field of it is a number and other rows have as many fields.
func CSV(body []byte) ([]byte, error) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	body = body[:min(len(body), maxRead)]
	separator := separatorOf(body)
	if hint, rest, ok := bytes.Cut(body, []byte("\n")); ok {
		if s := strings.TrimRight(string(hint), "\r"); len(s) == 5 && s[:4] == "sep=" && strings.Contains(separators, s[4:]) {
			separator, body = rune(s[4]), rest // as Excel writes it
		}
	}
	p, r := &page{}, newReader(body, separator)
	first, err := r.Read()
	for err == nil && isEmpty(first) {
		first, err = r.Read()
	}
	first = slices.Clone(first)
	next, errNext := r.Read()
	p.title = titleOf(first)
	p.tag("<table>\n")
	p.row(first, areNames(first) && len(next) == len(first))
	for err := errNext; err == nil && !p.full(); next, err = r.Read() {
		p.row(next, false)
	}
	p.tag("</table>\n")
	return p.html()
}

// newReader returns a tolerant reader of rows that may differ in length.
func newReader(body []byte, separator rune) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator, true, -1, true
	return r
}

// separatorOf returns the separator with which most of the first rows have the same number of fields.
func separatorOf(body []byte) rune {
	sample := body[:min(len(body), maxSample)]
	if end := bytes.LastIndexByte(sample, '\n'); len(sample) < len(body) && end > 0 {
		sample = sample[:end]
	}
	best, most := ',', 0
	for _, s := range separators {
		r, count := newReader(sample, s), map[int]int{}
		for range sampleRows {
			row, err := r.Read()
			if err != nil {
				break
			}
			if count[len(row)]++; len(row) > 1 && count[len(row)] > most {
				best, most = s, count[len(row)]
			}
		}
	}
	return best
}

// row writes a row. heads is true for a row of names of columns.
func (p *page) row(fields []string, heads bool) {
	if isEmpty(fields) {
		return
	}
	open, end := "<td>", "</td>"
	if heads {
		open, end = "<th>", "</th>"
	}
	p.tag("<tr>")
	for _, field := range fields {
		if p.full() {
			break
		}
		p.tag(open)
		p.text(fold(field))
		p.tag(end)
	}
	p.tag("</tr>\n")
}

func isEmpty(fields []string) bool {
	return !slices.ContainsFunc(fields, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// areNames reports whether the fields of the first row may be the names of columns.
func areNames(fields []string) bool {
	named := 0
	for _, field := range fields {
		if strings.TrimSpace(field) != "" {
			named++
		}
	}
	return named > 1 && !slices.ContainsFunc(fields, isNumber)
}

// isNumber reports whether a field has digits and no letter.
func isNumber(field string) bool {
	return strings.ContainsFunc(field, unicode.IsDigit) && !strings.ContainsFunc(field, unicode.IsLetter)
}

// titleOf returns the fields of the first row in one line, "" if they have no letter.
func titleOf(fields []string) string {
	var names []string
	for _, field := range fields {
		if name := fold(field); name != "" {
			names = append(names, name)
		}
	}
	title := strings.Join(names, ", ")
	if !strings.ContainsFunc(title, unicode.IsLetter) {
		return ""
	}
	return title
}
