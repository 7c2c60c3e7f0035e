package rig

import (
	"regexp"
	"strings"
)

var tag = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// SamePlace reports whether the elements of two ids of an HTML page have no text between them.
func SamePlace(body, a, b string) bool {
	if a == b {
		return true
	}
	from, to := elementOf(body, a), elementOf(body, b)
	if from < 0 || to < 0 {
		return false
	}
	text := tag.ReplaceAllString(body[min(from, to):max(from, to)], "")
	return !strings.ContainsFunc(text, func(r rune) bool { return r > ' ' && r != '¶' && r != '§' })
}

// elementOf returns the offset of the tag with an id or name, -1 if there is none.
func elementOf(body, id string) int {
	if id == "" {
		return -1
	}
	at := regexp.MustCompile(`<[^<>]*\s(?:id|name)=["']?` + regexp.QuoteMeta(id) + `["'\s>]`).FindStringIndex(body)
	if at == nil {
		return -1
	}
	return at[0]
}
