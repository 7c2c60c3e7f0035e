// Package trap recognizes URLs that are not worth a request: files that are not pages, and infinite
// URL spaces, such as relative links that grow on each page, a calendar, or a server that sends a page
// for every name.
//
// [OfURL] judges a URL by itself, when it is found. [Yields] counts the results of fetched pages,
// by the shape of their URLs.
package trap

import (
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/weburl"
)

// OfURL returns why a URL by itself is a trap at now, or 0.
func OfURL(u *weburl.URL, now time.Time) docindex.Trap {
	switch {
	case repetitive(u.Path()):
		return docindex.Repetitive
	case farFuture(u, now):
		return docindex.FarFuture
	case isTemplate(u):
		return docindex.Template
	}
	return 0
}

// isTemplate reports whether u has an expression of a template language that no program expanded,
// such as {{ url }}, ${href} or <%= link %>. Pages that show templates have such links.
func isTemplate(u *weburl.URL) bool {
	text := u.PathAndQuery()
	if strings.IndexByte(text, '%') < 0 && strings.IndexByte(text, '{') < 0 {
		return false
	}
	text = unescape.Replace(text)
	for _, marks := range [...][2]string{{"{{", "}}"}, {"${", "}"}, {"{%", "%}"}, {"<%", "%>"}} {
		_, rest, ok := strings.Cut(text, marks[0])
		if ok && strings.Contains(rest, marks[1]) {
			return true
		}
	}
	return false
}

var unescape = strings.NewReplacer("%7B", "{", "%7D", "}", "%7b", "{", "%7d", "}", "%25", "%",
	"%3C", "<", "%3E", ">", "%3c", "<", "%3e", ">", "%24", "$")

// Bounds of a path. Real paths repeat a segment now and then (/gui/gui/), and dates do, too
// (/11/11/11/).
const (
	maxRepeats  = 4 // of one segment, anywhere
	maxInARow   = 2 // of a sequence of segments, in a row
	maxSequence = 8 // segments of such a sequence
)

func repetitive(path string) bool {
	if strings.Count(path, "/") <= maxRepeats {
		return false
	}
	segments := strings.Split(path[1:], "/")
	times := map[string]int{}
	for _, segment := range segments {
		if times[segment]++; times[segment] > maxRepeats {
			return true
		}
	}
	for size := 2; size <= maxSequence; size++ {
		if repeatsInARow(segments, size) {
			return true
		}
	}
	return false
}

// repeatsInARow reports whether a sequence of size segments occurs more than maxInARow times in a row.
func repeatsInARow(segments []string, size int) bool {
	same := 0
	for i := size; i < len(segments); i++ {
		if same++; segments[i] != segments[i-size] {
			same = 0
		}
		if same == size*maxInARow {
			return true
		}
	}
	return false
}

// A year more than yearsAhead in the future is taken as that of an endless calendar. Numbers beyond
// yearsAtAll are probably not years; an endless calendar passes the near ones first.
const (
	yearsAhead = 10
	yearsAtAll = 200
)

// farFuture reports whether a URL names a day, a month as in 2040-05, or a year as in year=2040
// that is far in the future. Two numbers separated by a slash are not a date: they may be page 2 of
// thread 2050.
func farFuture(u *weburl.URL, now time.Time) bool {
	if now.IsZero() {
		return false
	}
	text := u.String()[len(u.Scheme())+len("://")+len(u.Host()):]
	for i := 0; i < len(text); i++ {
		n := digits(text[i:])
		if n == 4 || n == 8 {
			year := number(text[i : i+4])
			future := year > now.Year()+yearsAhead && year <= now.Year()+yearsAtAll
			if future && isYear(text[:i], text[i+4:]) {
				return true
			}
		}
		i += n
	}
	return false
}

// isYear reports whether the number between two texts is the year of a date.
func isYear(before, after string) bool {
	if digits(after) == 4 {
		return monthAndDay(after[:2], after[2:4])
	}
	if strings.HasSuffix(before, "year=") {
		return true
	}
	if after == "" || strings.IndexByte("-/_.", after[0]) < 0 {
		return false
	}
	separator, after := after[0], after[1:]
	m := digits(after)
	if m == 0 || m > 2 {
		return false
	}
	rest := after[m:]
	if rest != "" && rest[0] == separator {
		if d := digits(rest[1:]); d > 0 {
			return d <= 2 && monthAndDay(after[:m], rest[1:1+d])
		}
	}
	return separator == '-' && m == 2 && monthAndDay(after[:m], "1")
}

func monthAndDay(month, day string) bool {
	m, d := number(month), number(day)
	return m >= 1 && m <= 12 && d >= 1 && d <= 31
}

// digits returns the number of digits that s begins with.
func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// number returns the value of at most four digits.
func number(s string) (n int) {
	for _, c := range []byte(s) {
		n = 10*n + int(c-'0')
	}
	return n
}
