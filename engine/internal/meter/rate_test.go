package meter

import (
	"testing"
	"time"

	"anatomy/vocab"
)

// TestRate: a rate is kept for each of the last seconds.
func TestRate(t *testing.T) {
	var p Rate
	now := time.Unix(1000, 0)
	for second := range int64(vocab.RateSeconds + 30) {
		p.Record(now.Add(time.Duration(second)*time.Second), second*second)
	}
	rate, rates := p.Read()
	if len(rates) != vocab.RateSeconds || rates[len(rates)-1] != 2*149-1 || rate != 2*149-rateSpan {
		t.Errorf("%v, %v", rate, rates)
	}
}
