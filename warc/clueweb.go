package warc

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// cluewebVersion is the version of the files of ClueWeb09, of which many are broken in ways that their
// readers have to know: line ends lost their carriage returns after the lengths were counted, so that
// lengths are too large; URLs have line ends in them; dates name the day of the year instead of that of
// the month.
const cluewebVersion = "0.18"

// betweenClueWeb separates two records whose line ends are no more than that.
var betweenClueWeb = []byte("\nWARC/" + cluewebVersion + "\n")

// dayOfYear is a date such as 2009-03-65T08:43:19-0800.
var dayOfYear = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2,3})(T\d{2}:\d{2}:\d{2})([+-]\d{4}|Z)$`)

// cluewebDate parses a date whose day may be that of the year.
func cluewebDate(s string) (time.Time, bool) {
	m := dayOfYear.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return time.Time{}, false
	}
	t, err := time.Parse("2006-01-02T15:04:05Z0700", m[1]+"-01-01"+m[4]+m[5])
	if err != nil {
		return t, false
	}
	month, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	ofYear := t.AddDate(0, 0, day-1)
	if day >= 1 && int(ofYear.Month()) == month && ofYear.Year() == t.Year() {
		return ofYear, true
	}
	ofMonth := t.AddDate(0, month-1, day-1)
	return ofMonth, day >= 1 && int(ofMonth.Month()) == month
}
