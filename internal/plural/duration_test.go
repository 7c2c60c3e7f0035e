package plural

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 seconds":                 0,
		"100 milliseconds":          100 * time.Millisecond,
		"1 second":                  time.Second,
		"1 second 500 milliseconds": 1500 * time.Millisecond,
		"1 minute":                  time.Minute,
		"1 minute 30 seconds":       90 * time.Second,
		"2 hours":                   2 * time.Hour,
		"3 hours 20 minutes":        3*time.Hour + 20*time.Minute,
		"1 day 1 hour":              25 * time.Hour,
		"30 days":                   720 * time.Hour,
		"292 milliseconds":          292 * time.Millisecond,
		"59 minutes 59 seconds":     time.Hour - time.Second,
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
		if got, ok := ParseDuration(want); got != d || !ok {
			t.Errorf("%q is %v, %v, want %v", want, got, ok, d)
		}
	}
	if got := Duration(3*time.Hour + 20*time.Minute + 5*time.Second); got != "3 hours 20 minutes" {
		t.Error(got)
	}
	for _, text := range []string{"", "1", "3 apples", "1 hours", "90 seconds", "1 hour 90 minutes", "1h0m0s", "-1 hour"} {
		if d, ok := ParseDuration(text); ok {
			t.Errorf("%q is %v", text, d)
		}
	}
}
