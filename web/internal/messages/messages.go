// Package messages has the texts of the pages in the languages of their readers.
//
// A message is named by its English text. The catalogue of a language has its translation: one text,
// or one for each plural form of the number that is its first argument. It has three files:
// LANGUAGE.toml for the search pages, LANGUAGE.admin.toml for the admin page, and LANGUAGE.api.toml
// for the description of the API. The catalogue of English has plural forms, and names that are shown
// otherwise than they are written. Arguments are written as in package fmt; a number written with %d
// gets the separators of the language.
package messages

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
	"golang.org/x/text/number"
)

//go:embed *.toml
var files embed.FS

// tags are the languages with a catalogue, English first: it is used if no other fits.
var tags = []language.Tag{
	language.English, language.German, language.French, language.Spanish, language.Portuguese,
	language.Japanese, language.SimplifiedChinese,
}

// all returns the printers of all languages. Reading the catalogues takes 85 ms of processor time, twice
// that of all else in the start of a command, and most commands show no page.
var all = sync.OnceValue(readAll)

var matcher = language.NewMatcher(tags)

// English returns the texts as they are written in templates and code.
func English() *Printer { return all()[0] }

// A Printer has the texts of one language. It is safe for use by several goroutines.
type Printer struct {
	Tag      string // BCP 47: "de", "zh-Hans"
	Comma    string // these three with the space after them, if there is one
	Semi     string
	Colon    string
	texts    map[string]string // translations of messages without plural forms
	plurals  map[string]forms
	months   []string
	date     string // arguments: day, name of the month, year, number of the month
	moment   string // arguments: date, time of day
	percent  string // argument: number
	mark     string // between a whole number and its fraction
	messages *message.Printer
}

// All returns the printers of all languages.
func All() []*Printer { return slices.Clone(all()) }

// maxAccept bounds a field Accept-Language in bytes. A longer one is ignored.
const maxAccept = 256

// For returns the printer for a field Accept-Language (RFC 9110 §12.5.4): English if it is
// malformed, or names no language with a catalogue.
func For(accept string) *Printer {
	if accept == "" || len(accept) > maxAccept {
		return English()
	}
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return English()
	}
	_, i, confidence := matcher.Match(wanted...)
	if confidence == language.No {
		return English()
	}
	return all()[i]
}

// Text returns a message.
func (p *Printer) Text(english string, args ...any) string {
	if p.counts(english, args) {
		return p.messages.Sprintf(english, args...)
	}
	text, ok := p.texts[english]
	if !ok {
		text = english
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// counts reports whether a message needs a plural form, or separators in a number.
func (p *Printer) counts(english string, args []any) bool {
	for _, a := range args {
		if n, ok := a.(int); ok && (n >= 1000 || p.plurals[english] != nil) {
			return true
		}
	}
	return false
}

// HTML returns a message whose arguments are elements: template.HTML, or texts, which it escapes.
// No message that it is called with contains "<" or "&".
func (p *Printer) HTML(english string, args ...any) template.HTML {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = template.HTML(template.HTMLEscapeString(s))
		}
	}
	return template.HTML(p.Text(english, args...))
}

// Forms returns the texts of a message in all plural forms, or the message itself if it has none.
func (p *Printer) Forms(english string) []string {
	if forms, ok := p.plurals[english]; ok {
		return slices.Collect(maps.Values(forms))
	}
	return []string{english}
}

// Count returns a number with separators: 1,234 or 1.234.
func (p *Printer) Count(n int) string { return p.messages.Sprintf("%d", n) }

// Date returns a day: 2 Jan 2006. golang.org/x/text has no dates.
func (p *Printer) Date(t time.Time) string {
	year, month, day := t.UTC().Date()
	return fmt.Sprintf(p.date, day, p.months[month-1], year, month)
}

// Moment returns a day and the time of day in UTC.
func (p *Printer) Moment(t time.Time) string {
	return fmt.Sprintf(p.moment, p.Date(t), t.UTC().Format("15:04 UTC"))
}

// Second is Moment with seconds.
func (p *Printer) Second(t time.Time) string {
	return fmt.Sprintf(p.moment, p.Date(t), t.UTC().Format("15:04:05 UTC"))
}

// Decimal returns a number written in ASCII with the decimal mark of the language: 0.5 or 0,5.
func (p *Printer) Decimal(number string) string { return strings.Replace(number, ".", p.mark, 1) }

// Percent returns a share in percent: 12.5 % or 12.5%.
func (p *Printer) Percent(share float64) string {
	return fmt.Sprintf(p.percent, p.Decimal(fmt.Sprintf("%.1f", 100*share)))
}

// WholePercent returns a share in percent without decimals: −12 % or −12%.
func (p *Printer) WholePercent(share float64) string {
	return fmt.Sprintf(p.percent, strings.Replace(fmt.Sprintf("%.0f", 100*share), "-", "−", 1))
}

// Duration returns the time of a query, with a no-break space: 0.84 ms, 12 ms, 1.3 s.
func (p *Printer) Duration(d time.Duration) string {
	v, digits, unit := float64(d)/1e6, 2, "\u00a0ms"
	switch {
	case v >= 1000:
		v, digits, unit = v/1000, 1, "\u00a0s"
	case v >= 10:
		digits = 0
	}
	return p.messages.Sprint(number.Decimal(v, number.Scale(digits))) + unit
}

// A catalogue is the content of the files of a language.
type catalogue struct {
	Date     string // layout: %[1]d day, %[2]s name of the month, %[3]d year, %[4]d month
	Moment   string // layout: date, time of day
	Percent  string // layout of a number in percent
	Comma    string // these three with the space after them
	Semi     string `toml:"semicolon"`
	Colon    string
	Months   []string          // twelve names
	Texts    map[string]string // by English text
	Plurals  map[string]forms  // by English text; the number is the first argument
	language language.Tag
}

// forms are the texts of a message by plural form: one, many, other.
type forms map[string]string

// readAll reads the catalogues. It panics on an error: they are part of the program.
func readAll() (all []*Printer) {
	built := catalog.NewBuilder(catalog.Fallback(language.English))
	for _, tag := range tags {
		c := read(tag)
		if err := c.register(built); err != nil {
			panic(fmt.Sprintf("%s.toml: %v", tag, err))
		}
		p := &Printer{
			Tag: tag.String(), texts: c.Texts, plurals: c.Plurals, months: c.Months, date: c.Date,
			moment: c.Moment, percent: c.Percent, Comma: c.Comma, Semi: c.Semi, Colon: c.Colon,
			messages: message.NewPrinter(tag, message.Catalog(built)),
		}
		p.mark = strings.Trim(p.messages.Sprint(number.Decimal(0.5)), "05")
		all = append(all, p)
	}
	return all
}

func read(tag language.Tag) *catalogue {
	c := catalogue{language: tag}
	names, _ := fs.Glob(files, tag.String()+".*toml") // fails for a malformed pattern alone
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err == nil {
			err = toml.Unmarshal(text, &c) // adds to the maps
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
	}
	return &c
}

// register adds the messages to those of golang.org/x/text.
func (c *catalogue) register(b *catalog.Builder) error {
	for english, text := range c.Texts {
		if err := b.SetString(c.language, english, text); err != nil {
			return err
		}
	}
	for english, forms := range c.Plurals {
		var cases []any
		for _, form := range slices.Sorted(maps.Keys(forms)) { // "other", which is last, must be last
			if form != "other" {
				cases = append(cases, form, forms[form])
			}
		}
		cases = append(cases, "other", forms["other"])
		if err := b.Set(c.language, english, plural.Selectf(1, "%d", cases...)); err != nil {
			return err
		}
	}
	return nil
}
