package replica_test

import (
	"context"
	"testing"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/replica"
)

// TestUsableWhileFounded: a bucket is usable if an owner founds the collection during the check.
func TestUsableWhileFounded(t *testing.T) {
	b := &buckettest.Memory{}
	founded := false
	b.Set(func(_ context.Context, op, _ string) error {
		if op != "list" || founded {
			return nil
		}
		founded = true
		_, err := replica.Initialize(t.Context(), b)
		return err
	})
	if err := replica.Usable(t.Context(), b); err != nil || !founded {
		t.Errorf("%v; founded %v", err, founded)
	}
}
