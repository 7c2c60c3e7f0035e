package clusters

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"anatomy/cluster/bucket"
	"anatomy/cluster/division"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/vocab"
)

// statusOf returns the state of the cluster in a bucket.
func statusOf(ctx context.Context, b bucket.Bucket) (*vocab.ClusterStatus, error) {
	divided, err := replica.IsDivided(ctx, b)
	switch {
	case err != nil:
		return nil, err
	case divided:
		return division.Status(ctx, b)
	}
	return node.Status(ctx, b)
}

// A View shows the state of a cluster on the pages of one of its machines.
type View struct {
	bucket bucket.Bucket
	copied func() time.Time
	reads  singleflight.Group // of the bucket

	mu     sync.Mutex
	latest time.Time // that copied returned; zero for none
	read   time.Time // zero for never
	status *vocab.ClusterStatus
	err    error
}

const (
	readEvery   = 5 * time.Second  // every read lists the bucket
	readTimeout = 30 * time.Second // one request for each node, and some more
)

// NewView returns the view of a machine. copied returns when its copy last was the newest state, or zero
// while the machine begins or ends to own the collection.
func NewView(b bucket.Bucket, copied func() time.Time) *View { return &View{bucket: b, copied: copied} }

// Copied returns when the machine and the bucket last had the same state; zero for never.
func (v *View) Copied() time.Time {
	at := v.copied()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !at.IsZero() {
		v.latest = at
	}
	return v.latest
}

// Status returns the state of the cluster, at most some seconds old. If the bucket takes longer
// than ctx, a later call returns the new state.
func (v *View) Status(ctx context.Context) (*vocab.ClusterStatus, error) {
	if st, err, ok := v.recent(); ok {
		return st, err
	}
	done := v.reads.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		defer cancel()
		st, err := statusOf(ctx, v.bucket)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.read, v.status, v.err = time.Now(), st, err
		return nil, nil
	})
	select {
	case <-done:
		st, err, _ := v.recent()
		return st, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// recent returns the last status; ok is false if it is old.
func (v *View) recent() (st *vocab.ClusterStatus, err error, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.status, v.err, time.Since(v.read) < readEvery
}
