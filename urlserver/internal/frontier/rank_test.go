package frontier

import (
	"testing"
	"time"

	"anatomy/vocab"
)

// TestLearn: smoothing 0.8; requests per connection are 50 at first, then what earlier connections took.
func TestLearn(t *testing.T) {
	h := &Host{}
	if h.perConnection() != 50 {
		t.Errorf("%d requests a connection at first", h.perConnection())
	}
	for _, step := range []struct {
		report        vocab.HostReport
		connect       time.Duration
		answer        time.Duration
		perConnection uint32
	}{
		{vocab.HostReport{}, 0, 0, 50},
		{vocab.HostReport{ConnectTime: 10 * time.Millisecond, AnswerTime: 100 * time.Millisecond, Requests: 32}, 10 * time.Millisecond, 100 * time.Millisecond, 50},
		{vocab.HostReport{ConnectTime: 20 * time.Millisecond, AnswerTime: 200 * time.Millisecond, Requests: 80}, 12 * time.Millisecond, 120 * time.Millisecond, 80},
		{vocab.HostReport{Requests: 30, Closed: 3}, 12 * time.Millisecond, 120 * time.Millisecond, 10},
		{vocab.HostReport{Requests: 1, Closed: 2}, 12 * time.Millisecond, 120 * time.Millisecond, 1},
		{vocab.HostReport{ConnectTime: -1, AnswerTime: -1, Requests: -1, Closed: -1}, 12 * time.Millisecond, 120 * time.Millisecond, 1},
	} {
		h.learn(&step.report)
		if h.Connect != step.connect || h.Answer != step.answer || h.perConnection() != step.perConnection {
			t.Errorf("after %+v: %v %v %d", step.report, h.Connect, h.Answer, h.perConnection())
		}
	}
}
