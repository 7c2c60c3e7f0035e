package peer

import (
	"context"
	"sync"
	"time"

	"anatomy/vocab"
)

const (
	readEvery   = 2 * time.Second  // between reads of the list while it is used
	rereadAfter = time.Second      // the same if a node is missing from the list
	maxAge      = 30 * time.Second // of a list that is used without waiting for a new one
	maxWait     = 2 * time.Second  // for a new list
	readTimeout = 10 * time.Second // one request for each node
)

// A Directory is the list of the live nodes. It reads the list in the background while it is used,
// and keeps the last list while the bucket is unreachable.
type Directory struct {
	list func(context.Context) ([]vocab.ClusterNode, error)

	mu      sync.Mutex                   // guards what follows
	live    map[string]vocab.ClusterNode // by certificate; replaced, never changed
	began   time.Time                    // of the last read
	ended   time.Time                    // of the last complete one, which may have failed
	reading chan struct{}                // closed at the end of the read in progress; nil if none is
}

// NewDirectory returns a directory of the nodes that list returns, see node.Nodes.
func NewDirectory(list func(context.Context) ([]vocab.ClusterNode, error)) *Directory {
	return &Directory{list: list}
}

// find calls in with the live nodes by certificate, and returns its result. If that is false or the
// list was not used for some time, find first waits for a new list, unless the last one is less
// than a second old.
func (d *Directory) find(
	ctx context.Context, in func(live map[string]vocab.ClusterNode) bool,
) bool {
	if live, _, isOld := d.look(readEvery); !isOld && in(live) {
		return true
	}
	if _, reading, _ := d.look(rereadAfter); reading != nil {
		ctx, cancel := context.WithTimeout(ctx, maxWait)
		defer cancel()
		select {
		case <-reading:
		case <-ctx.Done():
		}
	}
	live, _, _ := d.look(readEvery)
	return in(live)
}

// look returns the live nodes as last read, and whether that was long ago. It starts a read if the
// last one began at least age ago.
func (d *Directory) look(age time.Duration) (
	live map[string]vocab.ClusterNode, reading <-chan struct{}, isOld bool,
) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reading == nil && time.Since(d.began) >= age {
		d.began, d.reading = time.Now(), make(chan struct{})
		go d.read()
	}
	return d.live, d.reading, time.Since(d.ended) >= maxAge
}

func (d *Directory) read() {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	all, err := d.list(ctx)
	live := map[string]vocab.ClusterNode{}
	for _, n := range all {
		// A node that was killed and started again is listed twice.
		if n.Certificate != "" && !n.Silent && !n.Heard.Before(live[n.Certificate].Heard) {
			live[n.Certificate] = n
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.live = live
	}
	close(d.reading)
	d.reading, d.ended = nil, time.Now()
}

// knows reports whether a certificate is that of a live node.
func (d *Directory) knows(ctx context.Context, certificate string) bool {
	return d.find(ctx, func(live map[string]vocab.ClusterNode) bool {
		_, ok := live[certificate]
		return ok
	})
}
