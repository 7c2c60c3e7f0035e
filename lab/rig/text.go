package rig

import (
	"fmt"
	"strings"

	"anatomy/eval"
)

// Share formats a share without its zero: .512.
func Share(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }

// GainText formats a gain with its interval: +.012 (-.004 to +.028).
func GainText(g eval.Gain) string {
	signed := func(v float64) string { return strings.Replace(fmt.Sprintf("%+.3f", v), "0.", ".", 1) }
	return fmt.Sprintf("%s (%s to %s)", signed(g.Mean), signed(g.Low), signed(g.High))
}
