package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// Search is the table [search]: options of answers.
type Search struct {
	Name      string   `toml:"name,omitempty"`          // of the collection, at most MaxName characters; "" for anatomy's
	Accent    string   `toml:"accent,omitempty"`        // colour of its pages, as #rrggbb; "" for the usual one
	Logo      string   `toml:"logo,omitempty"`          // image of at most MaxLogo bytes, relative to the file of the config; "" for none
	Login     bool     `toml:"login,omitempty"`         // readers have to log in
	Origins   []string `toml:"allow_origins,omitempty"` // of pages that may have the search box; "*" for all
	Ranking   string   `toml:"ranking,omitempty"`       // rank vector of searches that name none; "" for the default one
	Languages []string `toml:"languages,omitempty"`     // that searches prefer which name none; none for none
	Labels    []string `toml:"labels,omitempty"`        // patterns of URLs with products and versions, see searcher/labels
	Synonyms  string   `toml:"synonyms,omitempty"`      // file, relative to that of the config; "" for none
	Pins      []Pin    `toml:"pins,omitempty"`
}

// A Pin is a table [[search.pins]]: a page that comes first for some queries.
type Pin struct {
	Queries []string `toml:"queries"`
	URL     string   `toml:"url"`
	Title   string   `toml:"title,omitempty"`
	Note    string   `toml:"note,omitempty"`
}

// FormatPin returns a pin as a table of the file.
func FormatPin(pin Pin) (string, error) {
	keys, err := toml.Marshal(pin)
	return "[[search.pins]]\n" + string(keys), err
}

// MaxName is the maximum length of Search.Name in characters.
const MaxName = 40

// CheckName fails if the name of the collection is too long or has characters that are not shown.
func (s *Search) CheckName() error {
	switch {
	case utf8.RuneCountInString(s.Name) > MaxName:
		return fmt.Errorf("a name has at most %d characters, this one has %d", MaxName, utf8.RuneCountInString(s.Name))
	case strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the name %q has characters that cannot be shown", s.Name)
	}
	return nil
}

// fields returns the fields by key.
func (s *Search) fields() map[string]reflect.Value {
	of, all := reflect.ValueOf(s).Elem(), map[string]reflect.Value{}
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("toml"), ",")
		all[key] = of.Field(i)
	}
	return all
}

// keys returns the values of the keys that a file has, but pins.
func (s *Search) keys() map[string]any {
	all := map[string]any{}
	for key, field := range s.fields() {
		if !field.IsZero() && key != "pins" {
			all[key] = field.Interface()
		}
	}
	return all
}

// Set sets a key that has a text, true or false, or a list of texts, from values as the
// command line has them.
func (s *Search) Set(key string, values []string) error {
	switch to := s.fields()[key].Addr().Interface().(type) {
	case *[]string:
		*to = slices.Clone(values)
	case *bool:
		if len(values) != 1 || values[0] != "true" && values[0] != "false" {
			return errors.New("it is true or false")
		}
		*to = values[0] == "true"
	case *string:
		if len(values) != 1 {
			return fmt.Errorf("it has one value, and not a list of %d", len(values))
		}
		*to = values[0]
	}
	return nil
}

// Value returns the value of a key.
func (s *Search) Value(key string) any { return s.fields()[key].Interface() }

// Unset gives a key its default, and reports whether it had another value.
func (s *Search) Unset(key string) bool {
	field := s.fields()[key]
	differs := !field.IsZero()
	field.SetZero()
	return differs
}

// edit returns a file with the keys that were changed since was, and the pins that were added. ok is false
// if pins were changed or removed.
func (s *Search) edit(file []byte, was *Search) (content []byte, ok bool) {
	old := len(was.Pins)
	if len(s.Pins) < old || old > 0 && !reflect.DeepEqual(was.Pins, s.Pins[:old]) {
		return nil, false
	}
	if file, ok = edit(file, "search", was.keys(), s.keys()); !ok {
		return nil, false
	}
	for _, pin := range s.Pins[old:] {
		table, err := FormatPin(pin)
		if err != nil {
			return nil, false
		}
		file = appendTable(file, table)
	}
	return file, true
}
