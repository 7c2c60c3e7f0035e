package warc

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// cluewebVersion is the version of the files of ClueWeb09. Many of them are broken in known ways:
// line ends lost their carriage returns after lengths were counted, so lengths are too large; URLs
// contain line ends; dates have the day of the year instead of the day of the month.
const cluewebVersion = "0.18"

// betweenClueWeb separates two records if nothing but line ends is between them.
var betweenClueWeb = []byte("\nWARC/" + cluewebVersion + "\n")

// dayOfYear is a date such as 2009-03-65T08:43:19-0800.
var dayOfYear = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2,3})(T\d{2}:\d{2}:\d{2})([+-]\d{4}|Z)$`)

// cluewebDate parses a date whose day may be the day of the year.
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
