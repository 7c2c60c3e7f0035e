package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"anatomy/internal/plural"
	"anatomy/vocab"
)

// GroupDigits returns a whole number with its digits in groups of three.
func GroupDigits(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// FormatPercent returns a share between 0 and 1 as percent, with three digits.
func FormatPercent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// FormatHitRatio returns the share of a cache's look-ups that it answered.
func FormatHitRatio(hits, misses int64) string {
	if hits+misses == 0 {
		return "no look-ups"
	}
	return fmt.Sprintf("%.1f %% hits", 100*float64(hits)/float64(hits+misses))
}

// FormatDuration returns a duration to the millisecond, or from 1 s on to a tenth of a second.
func FormatDuration(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// FormatAge returns how long before now a time was: "3 hours ago".
func FormatAge(now, then time.Time) string {
	switch d := now.Sub(then); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural.Count(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return plural.Count(int(d/time.Hour), "hour") + " ago"
	default:
		return plural.Count(int(d/(24*time.Hour)), "day") + " ago"
	}
}

// Tally lists the keys whose count is above 0 with their counts, the highest first.
func Tally(counts map[string]int64) string {
	var parts []string
	for _, key := range vocab.KeysByCount(counts) {
		if n := counts[key]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, key))
		}
	}
	return strings.Join(parts, ", ")
}

// PrintJSON prints a value as the API does, on one line.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// A ByteSize is the value of a flag in bytes: a number, optionally followed by KB, MB or GB, which
// are powers of ten.
type ByteSize int64

func (b *ByteSize) String() string { return strconv.FormatInt(int64(*b), 10) }
func (b *ByteSize) Type() string   { return "SIZE" }

// Set parses a size.
func (b *ByteSize) Set(s string) error {
	unit := int64(1)
	for suffix, size := range map[string]int64{"KB": 1e3, "MB": 1e6, "GB": 1e9} {
		if number, ok := strings.CutSuffix(strings.ToUpper(s), suffix); ok {
			s, unit = number, size
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return errors.New("a size is a whole number above 0, optionally followed by KB, MB or GB")
	}
	*b = ByteSize(n * unit)
	return nil
}

// AtMost returns num, or the largest int for 0, which means all.
func AtMost(num int) int {
	if num <= 0 {
		return math.MaxInt
	}
	return num
}
