package access

import (
	"fmt"
	"testing"
	"time"
)

// TestQuotaIsBounded: a crowd of clients takes bounded memory, and those that are counted already
// stay limited.
func TestQuotaIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	q := NewQuota(2, func() time.Time { return now })
	refused := 0
	for i := range maxSpenders + 1000 {
		if _, _, ok := q.spend(fmt.Sprint(i), 1); !ok {
			refused++
		}
	}
	if len(q.spenders) > maxSpenders+1 || refused != 998 {
		t.Errorf("%d clients, %d refused", len(q.spenders), refused)
	}
	if _, _, ok := q.spend("0", 2); ok {
		t.Error("the first client has a new quota")
	}
	now = now.Add(rateWindow)
	if _, _, ok := q.spend("new", 2); !ok || len(q.spenders) != 1 {
		t.Errorf("after a minute: %v, %d clients", ok, len(q.spenders))
	}
}
