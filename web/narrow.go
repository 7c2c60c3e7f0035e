package web

import (
	"strconv"
	"strings"
	"time"

	"anatomy/vocab"
)

// What other engines' parameters ask for, as parts of a query in our language.

// narrow puts parts before a query, so that they are never what a query that is too long loses.
func narrow(parts []string, query string) string {
	if len(parts) == 0 {
		return query
	}
	return strings.Join(append(parts, withoutLeadingOr(query)), " ")
}

// withoutLeadingOr drops an OR that has nothing before it, which would take what we put there.
func withoutLeadingOr(query string) string {
	for {
		word, rest, _ := strings.Cut(strings.TrimSpace(query), " ")
		if word != "OR" && word != "|" {
			return query
		}
		query = rest
	}
}

// anyOf is one part for several of which one is enough.
func anyOf(parts []string) []string {
	if len(parts) < 2 {
		return parts
	}
	return []string{"(" + strings.Join(parts, " OR ") + ")"}
}

// language is lang: of a tag, nothing of what stands for any.
func language(tag string) []string {
	lang := vocab.PrimaryLanguage(strings.ToLower(tag))
	if lang == "" || lang == "all" {
		return nil
	}
	return []string{"lang:" + lang}
}

// since is after: a day so long ago.
func since(now time.Time, years, months, days int) []string {
	return []string{"after:" + now.UTC().AddDate(-years, -months, -days).Format(time.DateOnly)}
}

// timeRange reads SearXNG's time_range.
func (p *params) timeRange(now time.Time) []string {
	switch p.one("time_range") {
	case "":
		return nil
	case "day":
		return since(now, 0, 0, 1)
	case "week":
		return since(now, 0, 0, 7)
	case "month":
		return since(now, 0, 1, 0)
	case "year":
		return since(now, 1, 0, 0)
	}
	p.fail("Parameter time_range must be day, week, month or year.")
	return nil
}

// maxRestrict bounds the number in dateRestrict.
const maxRestrict = 1000

// dateRestrict reads Google's: d7, w2, m6, y1.
func (p *params) dateRestrict(now time.Time) []string {
	v := p.one("dateRestrict")
	if v == "" {
		return nil
	}
	if n, err := strconv.Atoi(v[1:]); err == nil && 1 <= n && n <= maxRestrict {
		switch v[0] {
		case 'd':
			return since(now, 0, 0, n)
		case 'w':
			return since(now, 0, 0, 7*n)
		case 'm':
			return since(now, 0, n, 0)
		case 'y':
			return since(now, n, 0, 0)
		}
	}
	p.fail("Parameter dateRestrict must be d, w, m or y and a number up to %d: m6 is the last six months.", maxRestrict)
	return nil
}

// fileKinds are what the advanced form lets people choose from.
var fileKinds = []string{"html", "pdf", "txt", "md", "xml"}

// kinds reads the fields of the advanced form that choose languages, kinds and dates: lang, filetype, time_range,
// from and to.
func (p *params) kinds(now time.Time) (parts []string) {
	var languages []string
	for _, tag := range strings.FieldsFunc(p.text("lang", maxLanguages), isListGap) {
		lang := vocab.PrimaryLanguage(strings.ToLower(tag))
		if lang == "" {
			p.fail("Parameter lang must be codes of languages: de, pt.")
		}
		languages = append(languages, "lang:"+lang)
	}
	parts = anyOf(languages)
	if kind := p.one("filetype"); kind != "" {
		if _, known := vocab.MediumNamed(kind); !known {
			p.fail("Parameter filetype must be one of %s.", strings.Join(fileKinds, ", "))
		}
		parts = append(parts, "filetype:"+kind)
	}
	parts = append(parts, p.timeRange(now)...)
	if from := p.day("from"); !from.IsZero() {
		parts = append(parts, "after:"+from.Format(time.DateOnly))
	}
	if to := p.day("to"); !to.IsZero() {
		parts = append(parts, "before:"+to.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	return parts
}

// sorted is a query in the order that the parameter sort asks for.
func (p *params) sorted(query string) string {
	if order := p.order(); query != "" {
		return narrow(order, query)
	}
	return query
}

// order reads sort, which is relevance, the usual one, or date.
func (p *params) order() []string {
	switch p.one("sort") {
	case "", "relevance":
		return nil
	case "date":
		return []string{"sort:date"}
	}
	p.fail("Parameter sort must be date or relevance.")
	return nil
}

// maxLanguages bounds a list of languages, in bytes.
const maxLanguages = 256

// day is a day of years with four digits, the zero time where the parameter is absent.
func (p *params) day(name string) (day time.Time) {
	v := p.one(name)
	if v == "" {
		return day
	}
	day, err := time.Parse(time.DateOnly, v)
	if err != nil || day.Year() < 1970 || day.Year() > 9998 {
		p.fail("Parameter %s must be a day: 2024-05-31.", name)
	}
	return day
}
