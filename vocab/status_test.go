package vocab

import (
	"testing"
	"time"
)

// TestNextRetryOfShards: shards together are due when the first of them is.
func TestNextRetryOfShards(t *testing.T) {
	soon := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	var all CrawlStatus
	for _, next := range []time.Time{{}, soon.Add(time.Hour), soon, {}} {
		all.Add(&CrawlStatus{NextRetry: next})
	}
	if !all.NextRetry.Equal(soon) {
		t.Error(all.NextRetry)
	}
}
