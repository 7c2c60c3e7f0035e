package schedule

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"03:00", "00:00", "23:59", "6h", "24h", "1m", "90m"} {
		if s, err := Parse(text); err != nil || s.IsNever() || s.Ahead() <= 0 {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{"3:00", "24:00", "03:60", "03:00:00", "nightly", "59s", "-6h", "0s", "6", " 03:00", "03.00"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
	if s, err := Parse(""); err != nil || !s.IsNever() {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestDaily: a time of day comes once on each day of four years, whatever the clock skips or repeats.
func TestDaily(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Beirut"} {
		at, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"00:00", "01:30", "02:00", "02:30", "03:00", "12:00", "23:59"} {
			s, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Date(2023, 1, 1, 12, 30, 0, 0, at)
			for i := range 4 * 365 {
				next := s.Next(now, now)
				if wait := next.Sub(now); wait <= 0 || i > 0 && (wait < 22*time.Hour || wait > 26*time.Hour) {
					t.Fatalf("%s, %s: %s after %s", zone, text, next, now)
				}
				now = next
			}
			if days := now.Sub(time.Date(2023, 1, 1, 12, 30, 0, 0, at)).Round(day) / day; days != 4*365 && days != 4*365-1 {
				t.Errorf("%s, %s: %d recrawls in %d days", zone, text, 4*365, days)
			}
		}
	}
}

// begun runs a schedule in virtual time, and returns after how long recrawls begin.
func begun(t *testing.T, last, length time.Duration, read func(time.Duration) string, begin func(time.Duration) bool) (all []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		err := Run(ctx, func() (Schedule, time.Time) {
			s, err := Parse(read(time.Since(start)))
			if err != nil {
				t.Error(err)
			}
			if last == 0 {
				return s, time.Time{}
			}
			return s, start.Add(-last)
		}, func(Schedule) bool {
			if !begin(time.Since(start)) {
				return false
			}
			all = append(all, time.Since(start))
			return true
		})
		if err != nil {
			t.Error(err)
		}
	})
	return all
}

func TestRun(t *testing.T) {
	always := func(time.Duration) bool { return true }
	fixed := func(text string) func(time.Duration) string { return func(time.Duration) string { return text } }
	const h = time.Hour
	for _, test := range []struct {
		name   string
		last   time.Duration // before the start; 0: there was none
		length time.Duration
		read   func(time.Duration) string
		begin  func(time.Duration) bool
		want   []time.Duration
	}{
		{"never", h, 100 * h, fixed(""), always, nil},
		{"daily", 50 * h, 80 * h, func(time.Duration) string { return "03:00" }, always, nil},
		{"interval", 0, 19 * h, fixed("6h"), always, []time.Duration{6 * h, 12 * h, 18 * h}},
		{"goes on after a restart", 2 * h, 12 * h, fixed("6h"), always, []time.Duration{4 * h, 10 * h}},
		{"overdue", 9 * h, 8 * h, fixed("6h"), always, []time.Duration{0, 6 * h}},
		{"busy", 0, 13 * h, fixed("6h"), func(d time.Duration) bool { return d >= 6*h+5*time.Minute },
			[]time.Duration{6*h + 5*time.Minute, 12*h + 5*time.Minute}},
		{"changed", 2 * h, 12 * h, func(d time.Duration) string {
			switch {
			case d < h:
				return ""
			case d < 7*h:
				return "5h"
			}
			return "8h"
		}, always, []time.Duration{3 * h, 7 * h}},
	} {
		got := begun(t, test.last, test.length, test.read, test.begin)
		if test.name == "daily" { // by the clock of the test's time zone
			start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Local()
			s, _ := Parse("03:00")
			for now := s.Next(start, start); now.Sub(start) < test.length; now = s.Next(now, now) {
				test.want = append(test.want, now.Sub(start))
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
			continue
		}
		for i, at := range got {
			if at < test.want[i] || at > test.want[i]+look {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
	}
}
