package clusters

import (
	"context"
	"errors"
	"testing"
	"time"

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

// TestViewKeepsCopied: a machine that hands over has no copy for a moment, and reports the last time that it
// had the newest state.
func TestViewKeepsCopied(t *testing.T) {
	var at time.Time
	v := NewView(nil, func() time.Time { return at })
	first, second := time.Unix(1_800_000_000, 0), time.Unix(1_800_000_005, 0)
	for i, c := range []struct{ copied, want time.Time }{
		{time.Time{}, time.Time{}}, {first, first}, {time.Time{}, first}, {second, second},
	} {
		if at = c.copied; !v.Copied().Equal(c.want) {
			t.Errorf("%d: %v, want %v", i, v.Copied(), c.want)
		}
	}
}
