package vocab

import (
	"fmt"
	"math"
	"time"
)

// Controls are the limits that the publisher of a page sets on what is shown of it, by robots
// directives. The zero value allows everything.
type Controls struct {
	NoArchive  bool   // no copy of the page is shown
	Bounded    bool   // at most MaxSnippet characters of its text are shown
	MaxSnippet uint32 // 0 without Bounded
	Until      int64  // Unix seconds: the page leaves the results then; 0 for a page without end
}

// Bound adds a bound on the characters shown. The smallest of several counts.
func (c *Controls) Bound(n uint32) {
	if !c.Bounded || n < c.MaxSnippet {
		c.Bounded, c.MaxSnippet = true, n
	}
}

// End adds the time at which the page leaves the results. The earliest of several counts.
func (c *Controls) End(t time.Time) {
	if at := max(t.Unix(), 1); c.Until == 0 || at < c.Until {
		c.Until = at
	}
}

// NoSnippet reports whether no text of the page may be shown.
func (c Controls) NoSnippet() bool { return c.Bounded && c.MaxSnippet == 0 }

// Allowed returns the number of characters that may be shown.
func (c Controls) Allowed() int {
	if !c.Bounded {
		return math.MaxInt
	}
	return int(c.MaxSnippet)
}

// Cut returns as much of the beginning of text as may be shown.
func (c Controls) Cut(text string) string {
	left := c.Allowed()
	if len(text) <= left {
		return text
	}
	for i := range text {
		if left == 0 {
			return text[:i]
		}
		left--
	}
	return text
}

// Directives returns the controls as robots directives: "max-snippet:50".
func (c Controls) Directives() (all []string) {
	switch {
	case c.NoSnippet():
		all = append(all, "nosnippet")
	case c.Bounded:
		all = append(all, fmt.Sprintf("max-snippet:%d", c.MaxSnippet))
	}
	if c.NoArchive {
		all = append(all, "noarchive")
	}
	if c.Until != 0 {
		all = append(all, "unavailable_after: "+time.Unix(c.Until, 0).UTC().Format(time.RFC3339))
	}
	return all
}
