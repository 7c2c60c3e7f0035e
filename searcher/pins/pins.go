// Package pins has the pages that the operator pins for queries:
//
//	[[search.pins]]
//	queries = ["wifi", "wireless network"]
//	url = "https://intra.example/it/wlan"
//	title = "Join the office network"
//	note = "The password changes every Monday."
//
// A query is one of a pin if it has the same words, in any order and number: case, accents, spaces
// and punctuation do not count, as everywhere in the index. Another form of a word is another word.
// Filters and exclusions of a query are not words.
package pins

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher/query"
	"anatomy/searcher/reload"
	"anatomy/weburl"
)

// Bounds of pins.
const (
	MaxPins    = 1000
	MaxQueries = 100 // of a pin
	MaxQuery   = 200 // characters
	MaxTitle   = 200 // characters
	MaxNote    = 500 // characters
)

// A Pin is a page that comes first for some queries.
type Pin struct {
	Queries []string // as typed
	URL     string
	Title   string // shown instead of that of the page; "" for none
	Note    string // shown below it; "" for none
}

// A File is a file with pins that may be edited while it is in use.
type File = reload.File[*Table]

// A Table finds the pin of a query. The zero value is empty.
type Table struct{ pins map[string]*Pin } // by the words of a query, see [query.Query.Bag]

// A Problem is an error in a pin.
type Problem struct {
	Pin    int    // its index
	Key    string // queries, url, title or note
	Reason error
}

// New returns the table of pins, without queries that cannot be pinned, and the problems of all pins.
func New(all []Pin) (*Table, []Problem) {
	t := &Table{pins: map[string]*Pin{}}
	var problems []Problem
	for i := range all {
		pin := &all[i]
		if i == MaxPins {
			reason := fmt.Errorf("there are %d pins; at most %d are allowed", len(all), MaxPins)
			return t, append(problems, Problem{i, "queries", reason})
		}
		for _, check := range []struct {
			key string
			err error
		}{
			{"queries", t.add(pin)}, {"url", checkURL(pin.URL)},
			{"title", checkText(pin.Title, MaxTitle)}, {"note", checkText(pin.Note, MaxNote)},
		} {
			if check.err != nil {
				problems = append(problems, Problem{i, check.key, check.err})
			}
		}
	}
	return t, problems
}

// Len returns the number of queries that are pinned.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return len(t.pins)
}

// Of returns the pin of a query and the conditions that the page must meet besides, or nil.
func (t *Table) Of(q query.Query) (*Pin, []*query.Node) {
	words, conditions, ok := q.Bag()
	if !ok {
		return nil, nil
	}
	return t.pins[words], conditions
}

// add adds a pin under its queries, up to the first that cannot be pinned.
func (t *Table) add(pin *Pin) error {
	if len(pin.Queries) == 0 {
		return errors.New(`a pin has queries: queries = ["wifi", "wireless network"]`)
	}
	if len(pin.Queries) > MaxQueries {
		return fmt.Errorf("the pin has %d queries; at most %d are allowed", len(pin.Queries), MaxQueries)
	}
	for _, text := range pin.Queries {
		if err := checkText(text, MaxQuery); err != nil {
			return err
		}
		words, conditions, ok := query.Parse(text).Bag()
		if !ok || len(conditions) > 0 {
			return fmt.Errorf("%q is not a list of words; a pin has no operators, and none are needed: "+
				"it also counts for its words with filters", text)
		}
		if other := t.pins[words]; other != nil && other != pin {
			return fmt.Errorf("%q is also pinned to %s", text, other.URL)
		}
		t.pins[words] = pin
	}
	return nil
}

func checkURL(raw string) error {
	if raw == "" {
		return errors.New("a pin has a URL")
	}
	if _, err := weburl.Parse(raw); err != nil {
		return fmt.Errorf("%q is not a valid URL, such as https://example.org/page", raw)
	}
	return nil
}

// checkText fails if a text is too long or has characters that are not shown.
func checkText(text string, most int) error {
	switch n := utf8.RuneCountInString(text); {
	case n > most:
		return fmt.Errorf("the text has %d characters; at most %d are allowed", n, most)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%q has characters that cannot be shown", text)
	}
	return nil
}
