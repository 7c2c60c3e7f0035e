package agenda

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestOrder: events come in the order of their times, those of one time in the order of Add, also
// if events are added meanwhile.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var a Agenda
	added, done := 0, 0
	var now time.Duration
	lastAt, lastAdded := time.Duration(-1), 0
	add := func() {
		added++
		at, number := now+time.Duration(r.IntN(20)), added
		a.Add(at, func() {
			done++
			if at < lastAt || at == lastAt && number < lastAdded {
				t.Fatalf("event %d of %v after event %d of %v", number, at, lastAdded, lastAt)
			}
			lastAt, lastAdded = at, number
		})
	}
	for range 200 {
		add()
	}
	for {
		at, do, ok := a.Next()
		if !ok {
			break
		}
		now = at
		do()
		if added < 2000 {
			add()
			if r.IntN(2) == 0 {
				add()
			}
		}
	}
	if added < 2000 || done != added {
		t.Errorf("%d of %d events came", done, added)
	}
}
