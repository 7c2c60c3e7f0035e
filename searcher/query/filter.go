package query

import (
	"strconv"
	"strings"
	"time"

	"anatomy/vocab"
)

// A Filter matches pages with a property. Exactly one field is set.
type Filter struct {
	Lang   string       `json:",omitzero"` // the language of the page, without region or script: "de"
	Medium vocab.Medium `json:",omitzero"` // the kind of document
	After  vocab.Day    `json:",omitzero"` // dated on this day or later
	Before vocab.Day    `json:",omitzero"` // dated before this day

	Service bool `json:",omitzero"` // the page defines a web service

	Label vocab.Label `json:",omitzero"` // of the page
}

// String returns the filter in the query language.
func (f Filter) String() string {
	switch {
	case f.Lang != "":
		return "lang:" + f.Lang
	case f.Medium != vocab.OtherMedium:
		return "filetype:" + f.Medium.String()
	case f.Service:
		return "type:service"
	case f.Label != vocab.Label{}:
		return f.Label.String()
	case f.After != 0:
		return "after:" + f.After.String()
	}
	return "before:" + f.Before.String()
}

// Dated reports whether a page with a date passes a filter of dates. A page without a date does
// not.
func (f Filter) Dated(d vocab.Day) bool {
	return d != 0 && d >= f.After && (f.Before == 0 || d < f.Before)
}

// parseFilters parses lang:, filetype:, ext:, type:, product:, version:, before: and after: with a valid
// value, or a range of years as in 2020..2024, which is two filters. It returns nil for other words.
func parseFilters(word string) []Filter {
	if from, to, ok := strings.Cut(word, ".."); ok && len(from) == 4 && len(to) == 4 {
		first, _ := parseDays(from)
		_, end := parseDays(to)
		if first == 0 || end <= first {
			return nil
		}
		return []Filter{{After: first}, {Before: end}}
	}
	name, object, ok := strings.Cut(word, ":")
	if !ok {
		return nil
	}
	switch strings.ToLower(name) {
	case "lang", "language":
		if lang := vocab.PrimaryLanguage(object); lang != "" {
			return []Filter{{Lang: lang}}
		}
	case "filetype", "ext":
		if m, ok := vocab.ParseMedium(strings.TrimPrefix(object, ".")); ok {
			return []Filter{{Medium: m}}
		}
	case "type":
		if kind := strings.ToLower(object); kind == "service" || kind == "services" {
			return []Filter{{Service: true}}
		}
	case string(vocab.Product), string(vocab.Version):
		if l, ok := vocab.NewLabel(vocab.LabelKind(strings.ToLower(name)), object); ok {
			return []Filter{{Label: l}}
		}
	case "after":
		if first, _ := parseDays(object); first != 0 {
			return []Filter{{After: first}}
		}
	case "before":
		if first, _ := parseDays(object); first != 0 {
			return []Filter{{Before: first}}
		}
	}
	return nil
}

// parseDays returns the first day of a year, month or day, written 2024, 2024-05 or 2024-05-06, and
// the first day after it; 0 for other strings.
func parseDays(s string) (first, end vocab.Day) {
	s = strings.ReplaceAll(s, "/", "-")
	layout, years, months, days := "", 0, 0, 0
	switch len(s) {
	case len("2006"):
		if _, err := strconv.Atoi(s); err != nil {
			return 0, 0
		}
		layout, years = "2006", 1
	case len("2006-01"):
		layout, months = "2006-01", 1
	default:
		layout, days = time.DateOnly, 1
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return 0, 0
	}
	first, end = vocab.DayOf(t), vocab.DayOf(t.AddDate(years, months, days))
	if first == 0 || end == 0 {
		return 0, 0
	}
	return first, end
}
