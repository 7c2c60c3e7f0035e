package params

import (
	"strings"
	"time"

	"anatomy/vocab"
)

// Filters for the parameters of other engines, in this server's query language.

// Narrow puts filters before a query, so that cutting a long query keeps them.
func Narrow(parts []string, query string) string {
	if len(parts) == 0 {
		return query
	}
	return strings.Join(append(parts, withoutLeadingOr(query)), " ")
}

// withoutLeadingOr removes an OR at the beginning, which would join the filters.
func withoutLeadingOr(query string) string {
	for {
		word, rest, _ := strings.Cut(strings.TrimSpace(query), " ")
		if word != "OR" && word != "|" {
			return query
		}
		query = rest
	}
}

// AnyOf joins several filters with OR.
func AnyOf(parts []string) []string {
	if len(parts) < 2 {
		return parts
	}
	return []string{"(" + strings.Join(parts, " OR ") + ")"}
}

// OfSites returns the filter of a set of sites, none of an empty one.
func OfSites(sites []string) (filters []string) {
	for _, site := range sites {
		filters = append(filters, "site:"+site)
	}
	return AnyOf(filters)
}

// Language returns the lang: filter of a language tag, none for "all".
func Language(tag string) []string {
	lang := vocab.PrimaryLanguage(tag)
	if lang == "" || lang == "all" {
		return nil
	}
	return []string{"lang:" + lang}
}

// Since returns the after: filter of a day before now.
func Since(now time.Time, years, months, days int) []string {
	return []string{"after:" + now.UTC().AddDate(-years, -months, -days).Format(time.DateOnly)}
}

func IsListGap(r rune) bool { return r == ',' || r <= ' ' }
