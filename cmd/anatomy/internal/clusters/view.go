package clusters

import (
	"context"
	"sync"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/node"
	"anatomy/vocab"
)

// A View shows a cluster as one machine of it does on its pages.
type View struct {
	bucket bucket.Bucket
	copied func() time.Time

	mu     sync.Mutex // held while the bucket is read
	asked  time.Time
	status *vocab.ClusterStatus
	err    error
}

const (
	lookEvery  = 5 * time.Second // every look lists the bucket
	lookWithin = 2 * time.Second
)

// NewView returns the view of a machine. copied returns when its copy last was the newest state.
func NewView(b bucket.Bucket, copied func() time.Time) *View { return &View{bucket: b, copied: copied} }

// Copied returns when machine and bucket last had the same state; zero for never.
func (v *View) Copied() time.Time { return v.copied() }

// Status returns the state of the cluster of the last seconds.
func (v *View) Status(ctx context.Context) (*vocab.ClusterStatus, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.asked) > lookEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin) // others wait for it, too
		defer cancel()
		v.status, v.err = node.Status(ctx, v.bucket)
		v.asked = time.Now()
	}
	return v.status, v.err
}
