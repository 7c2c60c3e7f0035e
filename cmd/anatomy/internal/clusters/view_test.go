package clusters

import (
	"context"
	"errors"
	"testing"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/replica"
)

// TestView asks for the status of a cluster again and again, by clients that have gone, too. The bucket
// is read once.
func TestView(t *testing.T) {
	b := &buckettest.Memory{}
	_, err := replica.Found(t.Context(), b)
	must(t, err)
	v := NewView(b, nil)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 3 {
		if st, err := v.Status(gone); err != nil || st.Owner != nil || st.Generation != "" {
			t.Errorf("%+v, %v, want a cluster without owner", st, err)
		}
		b.Set(func(context.Context, string, string) error { return errors.New("read again") })
	}
}
