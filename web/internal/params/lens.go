package params

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/text"
)

// A Lens is a named set of rules for searches. An address carries the rules themselves, in the
// parameter lens, so that it can be shared; browsers keep lenses in a cookie. Both are a query
// string: "name=Docs&only=docs.example.org,example.net/manual&q=-filetype:pdf".
type Lens struct {
	Name  string
	Only  []string // sites: pages of others are no results
	Raise []string // sites
	Block []string // sites
	Lang  []string // languages: pages in others are no results
	Query string   // filters in the query language that results must pass
}

// Bounds of a lens.
const (
	MaxLensName = 40   // characters
	MaxLens     = 2000 // bytes, encoded, of one that is kept

	maxLensParameter = 4 * MaxLens // the next page of an API's answer has it as filters
)

// lists returns the lists of a lens by parameter.
func (l *Lens) lists() map[string]*[]string {
	return map[string]*[]string{"only": &l.Only, "raise": &l.Raise, "block": &l.Block, "lang": &l.Lang}
}

// Encode returns the lens as a query string.
func (l *Lens) Encode() string {
	v := url.Values{}
	for name, list := range l.lists() {
		if len(*list) > 0 {
			v.Set(name, strings.Join(*list, ","))
		}
	}
	for name, text := range map[string]string{"name": l.Name, "q": l.Query} {
		if text != "" {
			v.Set(name, text)
		}
	}
	return v.Encode()
}

// Tail returns what an address with a query string adds for the lens, "" for nil.
func (l *Lens) Tail() string {
	if l == nil {
		return ""
	}
	return "&lens=" + url.QueryEscape(l.Encode())
}

// DecodeLens reads a lens from a query string.
func DecodeLens(encoded string) (*Lens, error) {
	if len(encoded) > maxLensParameter {
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", len(encoded), maxLensParameter)
	}
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return nil, errors.New("it is not a query string")
	}
	l := &Lens{Name: text.Clean(values.Get("name")), Query: text.Clean(values.Get("q"))}
	for name, all := range values {
		list := l.lists()[name]
		switch {
		case len(all) > 1:
			return nil, fmt.Errorf("it has %s %d times", name, len(all))
		case name == "name", name == "q":
		case list == nil:
			return nil, fmt.Errorf("it has an unknown rule, %q", text.Shorten(text.Visible(name), 40))
		default:
			if err := l.add(name, all[0]); err != nil {
				return nil, err
			}
		}
	}
	return l, l.check()
}

// add adds the sites or languages of a text to a list.
func (l *Lens) add(name, all string) error {
	list := l.lists()[name]
	for _, raw := range strings.FieldsFunc(all, IsListGap) {
		value, what := "", "a site"
		if name == "lang" {
			value, what = vocab.PrimaryLanguage(text.LangTag(raw)), "a language"
		} else if site, ok := text.SiteName(raw); ok {
			value = site
		}
		if value == "" {
			return fmt.Errorf("%q is not %s", text.Shorten(text.Visible(raw), 80), what)
		}
		if !slices.Contains(*list, value) {
			*list = append(*list, value)
		}
	}
	return nil
}

// check returns why a lens cannot be used, or nil.
func (l *Lens) check() error {
	switch {
	case utf8.RuneCountInString(l.Name) > MaxLensName:
		return fmt.Errorf("its name has more than %d characters", MaxLensName)
	case l.Name != text.Visible(l.Name):
		return errors.New("its name has characters that cannot be shown")
	case len(l.Raise)+len(l.Block) > searcher.MaxPreferred:
		return fmt.Errorf("it raises and blocks more than %d sites", searcher.MaxPreferred)
	}
	if err := searcher.CheckFilters(l.Filters()); err != nil {
		return fmt.Errorf("its filters cannot be used: %w", err)
	}
	return nil
}

// Filters returns the filters that results must pass, in the query language.
func (l *Lens) Filters() string {
	var languages []string
	for _, lang := range l.Lang {
		languages = append(languages, Language(lang)...)
	}
	return strings.TrimSpace(Narrow(append(OfSites(l.Only), AnyOf(languages)...), l.Query))
}

// Over returns the preferences of a search through the lens. Its rules count more than those of t;
// no lens, nil, changes nothing.
func (l *Lens) Over(t searcher.Preferences) searcher.Preferences {
	if l == nil {
		return t
	}
	f := (&Preferences{Preferences: t}).Clone()
	for _, site := range slices.Concat(l.Raise, l.Block) {
		f.Set(site, "none")
	}
	f.Raise, f.Block, f.Filters = slices.Concat(l.Raise, f.Raise), slices.Concat(l.Block, f.Block), l.Filters()
	return f.Preferences
}

// Lens reads the parameter lens; nil if it is absent.
func (p *Params) Lens() *Lens {
	encoded := p.One("lens")
	if encoded == "" {
		return nil
	}
	l, err := DecodeLens(encoded)
	if err != nil {
		p.Fail("Parameter lens is not a lens: %s.", err)
		return nil
	}
	return l
}

// ThroughLens returns the preferences of a search through an encoded lens alone; nil for none.
func ThroughLens(encoded string) (*searcher.Preferences, error) {
	if encoded == "" {
		return nil, nil
	}
	l, err := DecodeLens(encoded)
	if err != nil {
		return nil, err
	}
	return OfSearch(l.Over(searcher.Preferences{}), false), nil
}

// Searched reads the preferences that change results, through the lens of the parameters.
func (p *Params) Searched() searcher.Preferences { return p.Lens().Over(p.Preferred()) }
