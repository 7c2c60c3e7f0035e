package urlserver

import (
	"slices"
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/weburl"
)

// A trap is a part of the web without end: a relative link that breeds, a calendar, a page under as
// many names as it is asked for. What a URL alone shows is refused here, when it is found; what only
// its pages show is in yield.go. Seeds are never refused.

// trap says why a URL by itself is not to be fetched, or 0.
func (s *Server) trap(u *weburl.URL, r *docindex.Record) docindex.Trap {
	switch {
	case s.seeds[r.Doc]:
	case r.Depth > s.o.MaxDepth:
		return docindex.TooDeep
	case repetitive(u.Path()):
		return docindex.Repetitive
	case farFuture(u, s.now):
		return docindex.FarFuture
	}
	return 0
}

// The bounds of a path. Real paths repeat a segment now and then (/gui/gui/), dates too (/11/11/11/).
const (
	maxRepeats = 4 // of one segment, anywhere
	maxRounds  = 2 // of several segments in the same order, one round after the other
	maxRound   = 8 // segments
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
	for round := 2; round <= maxRound; round++ {
		if turns(segments, round) {
			return true
		}
	}
	return false
}

// turns says whether so many segments come more than maxRounds times running.
func turns(segments []string, round int) bool {
	same := 0
	for i := round; i < len(segments); i++ {
		if same++; segments[i] != segments[i-round] {
			same = 0
		}
		if same == round*maxRounds {
			return true
		}
	}
	return false
}

// A calendar shows years that nobody plans for. Farther numbers are rather no years: an endless calendar
// passes the near ones first.
const (
	yearsAhead = 10
	yearsAtAll = 200
)

// farFuture says whether a URL names a day, a month written 2040-05, or a year=2040 that is far ahead.
// A number and another behind a slash are no date: they are as often the second page of thread 2050.
func farFuture(u *weburl.URL, now time.Time) bool {
	if now.IsZero() {
		return false
	}
	text := u.String()[len(u.Scheme())+len("://")+len(u.Host()):]
	for i := 0; i < len(text); i++ {
		if !digit(text[i]) {
			continue
		}
		n := digits(text[i:])
		if n == 4 || n == 8 {
			if year := number(text[i : i+4]); year > now.Year()+yearsAhead && year <= now.Year()+yearsAtAll && dated(text[:i], text[i+4:]) {
				return true
			}
		}
		i += n
	}
	return false
}

// dated says whether the number between two texts is the year of a date.
func dated(before, after string) bool {
	if digits(after) == 4 {
		return monthAndDay(after[:2], after[2:4])
	}
	if strings.HasSuffix(before, "year=") {
		return true
	}
	if after == "" || strings.IndexByte("-/_.", after[0]) < 0 {
		return false
	}
	sep, after := after[0], after[1:]
	m := digits(after)
	if m == 0 || m > 2 {
		return false
	}
	rest := after[m:]
	if rest != "" && rest[0] == sep {
		if d := digits(rest[1:]); d > 0 {
			return d <= 2 && monthAndDay(after[:m], rest[1:1+d])
		}
	}
	return sep == '-' && m == 2 && monthAndDay(after[:m], "1")
}

func monthAndDay(month, day string) bool {
	m, d := number(month), number(day)
	return m >= 1 && m <= 12 && d >= 1 && d <= 31
}

func digit(c byte) bool { return c-'0' < 10 }

// digits is how many digits a text begins with.
func digits(s string) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); n >= 0 {
		return n
	}
	return len(s)
}

// number is the value of at most four digits.
func number(s string) (n int) {
	for _, c := range []byte(s) {
		n = 10*n + int(c-'0')
	}
	return n
}

// maxFolders is how many folders of a path are looked at, the outermost first.
const maxFolders = 5

// shapes are the groups of a host's URLs that one belongs to: the folders that it is in, "/a/b/", and
// where it has a query its path with the names of its parameters, "/a/b/c?x&y".
func shapes(u *weburl.URL) []string {
	path := u.Path()
	all := make([]string, 0, maxFolders+1)
	for i := 0; i < len(path) && len(all) < maxFolders; i++ {
		if path[i] == '/' {
			all = append(all, path[:i+1])
		}
	}
	if q := u.Query(); q != "" {
		all = append(all, path+"?"+pattern(q))
	}
	return all
}

// pattern is the sorted names of a query's parameters, without the digits in them: item[1] and item[2]
// are of one kind.
func pattern(query string) string {
	var names []string
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, ok := strings.Cut(part, "=")
		if !ok {
			name = "" // a value
		}
		names = append(names, strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, name))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "&")
}

// kindOf says what a shape is, as the reason of a refusal.
func kindOf(shape string) docindex.Trap {
	if strings.IndexByte(shape, '?') >= 0 {
		return docindex.SpentQuery
	}
	return docindex.SpentFolder
}
