package cli

import (
	"errors"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "0": 0, "1h30m": 90 * time.Minute,
		"30d": 720 * time.Hour, "1.5d": 36 * time.Hour, "-1d": -24 * time.Hour,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%s: %v, %v; want %v", text, d, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "soon", "1e300d", "NaNd", "Infd", "999999999d"} {
		if d, err := ParseDuration(text); !errors.As(err, new(UsageError)) {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
}
