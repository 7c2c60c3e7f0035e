package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/vocab"
)

// A Filter keeps to pages with a property: exactly one of those below is set.
type Filter struct {
	Lang   string       // the language of the page, without region or script: "de"
	Medium vocab.Medium // what kind of document it is
	After  vocab.Day    // its date is this day or later
	Before vocab.Day    // its date is before this day
}

// String is the filter in the query language.
func (f Filter) String() string {
	switch {
	case f.Lang != "":
		return "lang:" + f.Lang
	case f.Medium != vocab.Unread:
		return "filetype:" + f.Medium.String()
	case f.After != 0:
		return "after:" + f.After.String()
	}
	return "before:" + f.Before.String()
}

// Dated says whether a page of a day passes a filter of dates. A page without a date passes none.
func (f Filter) Dated(d vocab.Day) bool {
	return d != 0 && d >= f.After && (f.Before == 0 || d < f.Before)
}

// A Part is a piece of a query that can be left out.
type Part struct {
	Text    string // "site:example.org"
	Without string // the query without it, "" where nothing is left
}

// Filters lists the parts of a query that keep to some pages, or refuse some, and are not looked for.
func (q Query) Filters() (all []Part) {
	var parts []*Node
	if q.Root != nil {
		parts = []*Node{q.Root}
		if q.Root.Op == And {
			parts = q.Root.Kids
		}
	}
	for i, part := range parts {
		if part.wants() {
			continue
		}
		without := Query{Root: join(And, slices.Concat(parts[:i], parts[i+1:])), ByDate: q.ByDate}
		all = append(all, Part{part.String(), without.String()})
	}
	if q.ByDate {
		all = append(all, Part{sortByDate, Query{Root: q.Root}.String()})
	}
	return all
}

// sort reads sort:date, which is about the whole query wherever it stands, but for behind a minus.
func (p *parser) sort(word string) bool {
	is := p.minus == 0 && strings.EqualFold(word, sortByDate)
	p.byDate = p.byDate || is
	return is
}

// filter reads lang:, filetype:, ext:, before: and after: with an object that means something, and a range
// of years as 2020..2024. Nil for anything else.
func (p *parser) filter(word string) *Node {
	if from, to, ok := strings.Cut(word, ".."); ok && len(from) == 4 && len(to) == 4 {
		first, _ := days(from)
		_, end := days(to)
		if first == 0 || end <= first {
			return nil
		}
		return join(And, []*Node{p.only(Filter{After: first}), p.only(Filter{Before: end})})
	}
	name, object, ok := strings.Cut(word, ":")
	if !ok {
		return nil
	}
	switch strings.ToLower(name) {
	case "lang", "language":
		if lang := vocab.PrimaryLanguage(strings.ToLower(object)); lang != "" {
			return p.only(Filter{Lang: lang})
		}
	case "filetype", "ext":
		if m, ok := vocab.MediumNamed(strings.TrimPrefix(object, ".")); ok {
			return p.only(Filter{Medium: m})
		}
	case "after":
		if first, _ := days(object); first != 0 {
			return p.only(Filter{After: first})
		}
	case "before":
		if first, _ := days(object); first != 0 {
			return p.only(Filter{Before: first})
		}
	}
	return nil
}

// only makes a node of a filter; nil where the query has enough.
func (p *parser) only(f Filter) *Node {
	if p.full() {
		return nil
	}
	p.words++
	return &Node{Op: Only, Filter: f}
}

// days are the first day of a year, month or day, written 2024, 2024-05 or 2024-05-06, and the first day
// after it; 0 for anything else.
func days(s string) (first, end vocab.Day) {
	s = strings.ReplaceAll(s, "/", "-")
	layout, years, months, add := "", 0, 0, 0
	switch len(s) {
	case len("2006"):
		if _, err := strconv.Atoi(s); err != nil {
			return 0, 0
		}
		layout, years = "2006", 1
	case len("2006-01"):
		layout, months = "2006-01", 1
	default:
		layout, add = time.DateOnly, 1
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return 0, 0
	}
	first, end = vocab.DayOf(t), vocab.DayOf(t.AddDate(years, months, add))
	if first == 0 || end == 0 {
		return 0, 0
	}
	return first, end
}
