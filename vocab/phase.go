package vocab

import (
	"fmt"
	"time"
)

// A Phase is a part of the final work of a crawl, after the last fetch.
type Phase struct {
	Name  string        `json:"name"`    // the work: "merging the index"; "" before the first phase
	Step  int           `json:"step"`    // from 1
	Steps int           `json:"steps"`   // in all
	Share float64       `json:"share"`   // of the phase that is done, from 0 to 1; negative if unknown
	Took  time.Duration `json:"took_ns"` // so far
}

// Left estimates how long the phase will take; ok is false before there is an estimate.
func (p Phase) Left() (left time.Duration, ok bool) {
	if p.Share < 0.02 || p.Took < time.Second {
		return 0, false
	}
	return time.Duration(float64(p.Took) * (1 - p.Share) / p.Share), true
}

// String returns the phase for people: "step 4 of 5: merging the index, 42 %, 8 s left".
func (p Phase) String() string {
	text := fmt.Sprintf("step %d of %d: %s", p.Step, p.Steps, p.Name)
	if p.Share >= 0 {
		text += fmt.Sprintf(", %.0f %%", 100*p.Share)
	}
	if left, ok := p.Left(); ok {
		text += fmt.Sprintf(", %.0f s left", max(1, left.Seconds()))
	} else if p.Took >= time.Second {
		text += fmt.Sprintf(", for %.0f s", p.Took.Seconds())
	}
	return text
}
