package plural

import (
	"strconv"
	"strings"
	"time"
)

// units are the units of Duration, the largest first.
var units = [...]struct {
	name string
	size time.Duration
}{
	{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second},
	{"millisecond", time.Millisecond},
}

// Duration returns a duration of at least 0 in words: its largest unit, and the rest in the next
// smaller one. "30 days", "1 hour 20 minutes", "1 second 500 milliseconds". What is below a
// millisecond is dropped.
func Duration(d time.Duration) string {
	for i, u := range units {
		if d < u.size {
			continue
		}
		text := Count(int64(d/u.size), u.name)
		if i+1 < len(units) {
			if rest := d % u.size / units[i+1].size; rest > 0 {
				text += " " + Count(int64(rest), units[i+1].name)
			}
		}
		return text
	}
	return "0 seconds"
}

// ParseDuration is the inverse of Duration. ok is false for other texts.
func ParseDuration(text string) (d time.Duration, ok bool) {
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 32)
		if err != nil {
			return 0, false
		}
		for _, u := range units {
			if strings.TrimSuffix(words[i+1], "s") == u.name {
				d += time.Duration(n) * u.size
			}
		}
	}
	return d, Duration(d) == text
}
