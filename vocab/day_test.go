package vocab

import (
	"testing"
	"time"
)

func TestDay(t *testing.T) {
	if d := Day(19849); d.String() != "2024-05-06" || DayOf(d.Time()) != d || DayOf(d.Time().Add(24*time.Hour-1)) != d {
		t.Errorf("%s, %d", d, DayOf(d.Time()))
	}
	for _, year := range []int{-5, 1, 1950, 1969, 2150, 9999} {
		if d := DayOf(time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)); d != 0 {
			t.Errorf("%d: %s", year, d)
		}
	}
	if s := Day(0).String(); s != "" {
		t.Errorf("no day is %q", s)
	}
}
