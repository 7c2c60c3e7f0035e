package vocab_test

import (
	"testing"
	"time"

	"anatomy/vocab"
)

// TestPhaseText: what a crawl does at its end has a step, a share and the time left, if they are known.
func TestPhaseText(t *testing.T) {
	for want, p := range map[string]vocab.Phase{
		"step 4 of 5: merging the index, 25 %, 30 s left": {Name: "merging the index", Step: 4, Steps: 5, Share: .25, Took: 10 * time.Second},
		"step 4 of 5: merging the index, 0 %":             {Name: "merging the index", Step: 4, Steps: 5},
		"step 2 of 5: electing, for 3 s":                  {Name: "electing", Step: 2, Steps: 5, Share: -1, Took: 3 * time.Second},
		"step 5 of 5: computing ranks, 99 %, 1 s left":    {Name: "computing ranks", Step: 5, Steps: 5, Share: .99, Took: 2 * time.Second},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
