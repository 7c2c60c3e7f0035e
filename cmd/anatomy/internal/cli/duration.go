package cli

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"anatomy/internal/plural"
)

// times describes what ParseDuration accepts.
const times = "a time such as 500ms, 5s, 24h or 30d"

// ParseDuration parses a time such as 500ms, 5s, 24h or 30d. The error is a UsageError.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if d := n * float64(24*time.Hour); err == nil && math.Abs(d) < math.MaxInt64 {
			return time.Duration(d), nil
		}
	} else if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return 0, UsageErrorf("%q is not %s", text, times)
}

// DurationVar defines a flag whose value is a time, see ParseDuration. Help texts show its default in
// words: "30 days".
func DurationVar(flags *pflag.FlagSet, at *time.Duration, name string, value time.Duration, usage string) {
	*at = value
	flags.Var((*duration)(at), name, usage)
	if value > 0 {
		flags.Lookup(name).DefValue = plural.Duration(value)
	}
}

// A duration is the value of a flag.
type duration time.Duration

func (d *duration) Set(text string) error {
	parsed, err := ParseDuration(text)
	*d = duration(parsed)
	return err
}

func (d *duration) String() string { return time.Duration(*d).String() }

// Type returns pflag's name of the type.
func (d *duration) Type() string { return "duration" }
