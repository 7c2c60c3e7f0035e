package clusters

import (
	"context"
	"errors"
	"testing"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/replica"
)

// TestView asks for the status of a cluster again and again. The bucket is read once. A client that
// leaves does not wait for a bucket that does not answer, and later ones get what it answered.
func TestView(t *testing.T) {
	b := &buckettest.Memory{}
	_, err := replica.Initialize(t.Context(), b)
	must(t, err)
	v := NewView(b, nil)
	answers := make(chan bool)
	b.Set(func(context.Context, string, string) error { <-answers; return nil })
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := v.Status(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	close(answers)
	for range 3 {
		if st, err := v.Status(t.Context()); err != nil || st.Owner != nil || st.Generation != "" {
			t.Errorf("%+v, %v, want a cluster without owner", st, err)
		}
		b.Set(func(context.Context, string, string) error { return errors.New("read again") })
	}
}
