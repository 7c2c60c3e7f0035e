package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/vocab"
)

const (
	presencePrefix = "nodes/"
	presenceEvery  = 10 * time.Second
	presenceSilent = 3 * presenceEvery
	presenceGone   = 24 * time.Hour
	maxPresence    = 4 << 10 // bytes
	maxNodes       = 1000    // that are shown
)

// Announce says that a node is there until ctx ends. A bucket that this machine may not write to is
// no failure: the node is not seen then.
func Announce(ctx context.Context, b bucket.Bucket, status func() vocab.ClusterNode) {
	id := make([]byte, 8)
	rand.Read(id)
	name := presencePrefix + hex.EncodeToString(id)
	for ctx.Err() == nil {
		if content, err := json.Marshal(status()); err == nil {
			b.Put(ctx, name, bytes.NewReader(content), int64(len(content)))
		}
		select {
		case <-ctx.Done():
		case <-time.After(presenceEvery):
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	b.Delete(ctx, name)
}

// Nodes returns the nodes that announce themselves, or did in the last day, and deletes older ones.
// now is a time by the bucket's clock that is not long ago.
func Nodes(ctx context.Context, b bucket.Bucket, now time.Time) (all []vocab.ClusterNode, err error) {
	var found []bucket.Object
	for o, err := range b.List(ctx, presencePrefix, "") {
		if err != nil {
			return nil, err
		}
		if o.Changed.After(now) {
			now = o.Changed
		}
		if found = append(found, o); len(found) == maxNodes {
			break
		}
	}
	for _, o := range found {
		if now.Sub(o.Changed) > presenceGone {
			if err := b.Delete(ctx, o.Name); err != nil {
				return nil, err
			}
			continue
		}
		r, err := b.Get(ctx, o.Name, 0, -1)
		if err != nil {
			continue // it ended meanwhile
		}
		content, err := io.ReadAll(io.LimitReader(r, maxPresence))
		r.Close()
		var p vocab.ClusterNode
		if err != nil || json.Unmarshal(content, &p) != nil {
			continue
		}
		p.Heard, p.Silent = o.Changed, now.Sub(o.Changed) > presenceSilent
		p.Machine, p.Version = lease.Printable(p.Machine), lease.Printable(p.Version)
		p.Role, p.Failing = lease.Printable(p.Role), lease.Printable(p.Failing)
		all = append(all, p)
	}
	return all, nil
}
