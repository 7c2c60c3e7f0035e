package vocab

import (
	"math"
	"time"
)

// A Day is a date in days since 1 January 1970, up to the year 2149. 0 is no date. Example: 19,849 is
// 6 May 2024.
type Day uint16

const daySeconds = 24 * 60 * 60

// DayOf returns the day of t in UTC, or 0 if a Day cannot represent it.
func DayOf(t time.Time) Day {
	if n := t.Unix() / daySeconds; n > 0 && n <= math.MaxUint16 {
		return Day(n)
	}
	return 0
}

// Time returns the beginning of the day in UTC.
func (d Day) Time() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// String returns the day as in ISO 8601, "2024-05-06", and "" for no date.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return d.Time().Format(time.DateOnly)
}
