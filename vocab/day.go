package vocab

import (
	"math"
	"time"
)

// A Day is a date: days since 1 January 1970, which itself, as 0, stands for none. It reaches to 2149.
// Example: 19,849 is 6 May 2024.
type Day uint16

const daySeconds = 24 * 60 * 60

// DayOf is the day of a time in UTC, 0 where that is no Day.
func DayOf(t time.Time) Day {
	if n := t.Unix() / daySeconds; n > 0 && n <= math.MaxUint16 {
		return Day(n)
	}
	return 0
}

// Time is the beginning of a day in UTC.
func (d Day) Time() time.Time { return time.Unix(int64(d)*daySeconds, 0).UTC() }

// String is the day as in ISO 8601, "2024-05-06", and "" for none.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return d.Time().Format(time.DateOnly)
}
