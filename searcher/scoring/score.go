package scoring

import (
	"fmt"
	"strings"
)

// A Score is an integer number of millionths of a point. So the parts of an explanation add up to
// it exactly, and a page scores the same on every machine.
type Score int64

// Point is a score of 1.
const Point Score = 1_000_000

// Points returns the score in points, for display.
func (s Score) Points() float64 { return float64(s) / float64(Point) }

// Milli returns the score in thousandths of a point, rounded down, for display.
func (s Score) Milli() Milli { return Milli(s / 1000) }

// A Milli is a thousandth, the unit of weights.
type Milli int64

// String returns m as a decimal number without trailing zeros: "1.5".
func (m Milli) String() string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(m)/1000), "0"), ".")
}

// Score returns m points.
func (m Milli) Score() Score { return Score(m) * 1000 }

// Of returns the m-th part of a score; 1000 is all of it.
func (m Milli) Of(s Score) Score { return s * Score(m) / 1000 }
