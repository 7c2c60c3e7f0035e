package meter

import (
	"strings"
	"testing"

	"anatomy/vocab"
)

// TestErrors: failures are counted by kind, and servers cannot make kinds without bound.
func TestErrors(t *testing.T) {
	var errors Errors
	for _, f := range []vocab.Fetch{
		{Outcome: vocab.Fetched, Status: 200},
		{Outcome: vocab.Skipped, Reason: "interrupted"},
		{Outcome: vocab.NotFound, Status: 404, Reason: "404 Not Found", Target: vocab.Target{URL: "http://a.test/old"}},
		{Outcome: vocab.NotFound, Status: 404, Reason: "404 Not Found", Target: vocab.Target{URL: "http://a.test/new"}},
		{Outcome: vocab.NotFound, Status: 401, Reason: "401 Unauthorized"},
		{Outcome: vocab.Failed, Status: 599},
		{Outcome: vocab.Failed, Reason: "https: connect to a.test at 10.0.0.1: connection refused"},
		{Outcome: vocab.Failed, Reason: "connect to b.test at 10.0.0.2: connection refused"},
		{Outcome: vocab.NoName, Reason: "c.test: no such name"},
	} {
		errors.Add(&f)
	}
	for range 3 * maxKinds {
		errors.Add(&vocab.Fetch{Outcome: vocab.Failed, Reason: strings.Repeat("x", len(errors.kinds))})
	}
	got, examples := errors.Read()
	for kind, n := range map[string]int64{"gone: 404 Not Found": 2, "login needed": 1, "failed: 599": 1, "failed: connection refused": 2, "no such name": 1} {
		if got[kind] != n {
			t.Errorf("%q: %d, want %d", kind, got[kind], n)
		}
	}
	if example := examples["gone: 404 Not Found"]; example != "http://a.test/new" || len(examples) != len(got) {
		t.Errorf("examples %v", examples)
	}
	if len(got) > maxKinds+1 || got[otherKinds] == 0 {
		t.Errorf("%d kinds: %v", len(got), got)
	}
}
