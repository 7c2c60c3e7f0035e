// Package reported translates texts that other rooms write in English. It recognizes them by their
// formats.
package reported

import (
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/internal/plural"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/text"
)

// A format recognizes a text by its English.
type format struct {
	english string
	text    *regexp.Regexp
	verbs   []verb // in the order of the text
	literal int    // bytes of the text outside verbs
}

// A verb is an argument of a format.
type verb struct {
	argument int
	isNumber bool
}

// formats are those of Formats, the longest text outside verbs first: it fits best.
var formats = sync.OnceValue(func() (all []format) {
	for _, english := range Formats {
		for _, form := range messages.English().Forms(english) {
			all = append(all, newFormat(english, form))
		}
	}
	slices.SortStableFunc(all, func(a, b format) int { return b.literal - a.literal })
	return all
})

var verbInFormat = regexp.MustCompile(`%(?:\[(\d)\])?([ds])`)

// newFormat returns the format of one plural form of a message.
func newFormat(english, form string) format {
	f := format{english: english}
	pattern, rest := "^", 0
	for i, at := range verbInFormat.FindAllStringSubmatchIndex(form, -1) {
		v := verb{argument: i, isNumber: form[at[4]] == 'd'}
		if at[2] >= 0 {
			v.argument = int(form[at[2]] - '1')
		}
		pattern += regexp.QuoteMeta(form[rest:at[0]])
		if f.literal += at[0] - rest; v.isNumber {
			pattern += `(\d+)`
		} else {
			pattern += `(.+?)`
		}
		rest = at[1]
		f.verbs = append(f.verbs, v)
	}
	f.literal += len(form) - rest
	f.text = regexp.MustCompile(pattern + regexp.QuoteMeta(form[rest:]) + "$")
	return f
}

// maxReported bounds texts within texts, as the text of a site can have the form of many.
const maxReported = 6

// Text translates a text of another room, into English with numbers as people write them. It reports
// whether the catalogues have it.
func Text(m *messages.Printer, english string) (translated string, ok bool) {
	translated, ok = within(m, english, maxReported)
	return translated, ok || m == messages.English()
}

// within is Text for a text with at most depth texts within each other.
func within(m *messages.Printer, english string, depth int) (translated string, ok bool) {
	if english == "" {
		return "", true
	}
	if depth == 0 {
		return english, false
	}
	if list := strings.Split(english, ", "); len(list) > 1 {
		for i, one := range list {
			if list[i], ok = within(m, one, depth-1); !ok {
				break
			}
		}
		if ok {
			return strings.Join(list, m.Comma), true
		}
	}
	for _, f := range formats() {
		if found := f.text.FindStringSubmatch(english); found != nil {
			return m.Text(f.english, f.arguments(m, found[1:], depth-1)...), true
		}
	}
	return english, false
}

// arguments returns the arguments of a message for the parts of the English text at its verbs.
func (f *format) arguments(m *messages.Printer, found []string, depth int) []any {
	all := make([]any, len(f.verbs))
	for i, v := range f.verbs {
		if n, err := strconv.Atoi(found[i]); v.isNumber && err == nil {
			all[v.argument] = n
		} else {
			all[v.argument] = argumentText(m, found[i], depth)
		}
	}
	return all
}

var fraction = regexp.MustCompile(`^-?\d+\.\d+(e[+-]\d+)?$`)

// quotations is a list of words in quotation marks, which are not translated.
var quotations = regexp.MustCompile(`^“[^”]*”(?:, “[^”]*”)*$`)

func argumentText(m *messages.Printer, english string, depth int) string {
	if quotations.MatchString(english) {
		list := strings.Split(strings.Trim(english, "“”"), "”, “")
		for i, word := range list {
			list[i] = m.Text("“%s”", word)
		}
		return strings.Join(list, m.Comma)
	}
	if fraction.MatchString(english) {
		return m.Decimal(english)
	}
	if d, ok := plural.ParseDuration(english); ok && m != messages.English() {
		return Duration(m, d)
	}
	translated, _ := within(m, english, depth)
	return translated
}

// Duration returns a time between visits: 3 h 20 min, 7 days.
func Duration(m *messages.Printer, d time.Duration) string {
	if d >= 48*time.Hour {
		return m.Text("%d days", int(d.Hours()/24))
	}
	return m.Decimal(text.Long(d))
}

// HTML returns a text of another room as an element, which says if it is in English.
func HTML(m *messages.Printer, english string) template.HTML {
	translated, ok := Text(m, english)
	return Element(translated, ok)
}

// Sentence returns a text of another room as a sentence.
func Sentence(m *messages.Printer, english string) template.HTML {
	translated, ok := Text(m, english)
	first, size := utf8.DecodeRuneInString(translated)
	if !ok {
		m = messages.English()
	}
	return Element(m.Text("%s.", string(unicode.ToUpper(first))+translated[size:]), ok)
}

// Element returns a text that is in the language of the page, or in English.
func Element(text string, translated bool) template.HTML {
	escaped := template.HTML(template.HTMLEscapeString(text))
	if translated {
		return escaped
	}
	return `<span lang="en">` + escaped + "</span>"
}
