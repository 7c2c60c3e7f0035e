package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/vocab"
)

const (
	presencePrefix = "nodes/"
	presenceEvery  = 10 * time.Second
	presenceSilent = 3 * presenceEvery
	presenceGone   = 24 * time.Hour
	maxPresence    = 64 << 10 // bytes
	maxNodes       = 1000     // shown at most
)

// ID returns the ID of this machine's node in a folder, 16 hexadecimal digits that the folder keeps. A
// folder that was copied to another machine gets another one. With an error, the ID is not kept.
func ID(dir string) (string, error) {
	path := filepath.Join(datadir.Cluster(dir), "node")
	if id := ReadOwn(path); len(id) == 16 {
		return id, nil
	}
	id := lease.RandomID()
	if err := durable.MkdirAll(durable.OS, filepath.Dir(path)); err != nil {
		return id, err
	}
	return id, WriteOwn(path, id)
}

// Announce writes the status of this node, whose ID is id, to the bucket until ctx ends. If this machine
// may not write to the bucket, the node is not listed; that is not an error. On start Announce deletes
// statuses older than a day.
func Announce(ctx context.Context, b bucket.Bucket, id string, status func() vocab.ClusterNode) {
	name := presencePrefix + id
	if _, old, _, err := presences(ctx, b, time.Time{}); err == nil {
		for _, o := range old {
			b.Delete(ctx, o.Name)
		}
	}
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

// presences lists the announced statuses of the last day, and older ones. now is a recent time by
// the bucket's clock.
func presences(ctx context.Context, b bucket.Bucket, now time.Time) (live, old []bucket.Object, latest time.Time, err error) {
	for o, err := range b.List(ctx, presencePrefix, "") {
		if err != nil {
			return nil, nil, now, err
		}
		if o.Changed.After(now) {
			now = o.Changed
		}
		if live = append(live, o); len(live) == maxNodes {
			break
		}
	}
	isOld := func(o bucket.Object) bool { return now.Sub(o.Changed) > presenceGone }
	for _, o := range live {
		if isOld(o) {
			old = append(old, o)
		}
	}
	return slices.DeleteFunc(live, isOld), old, now, nil
}

// Nodes returns the nodes that announced themselves in the last day. now is a recent time by the
// bucket's clock.
func Nodes(ctx context.Context, b bucket.Bucket, now time.Time) (all []vocab.ClusterNode, err error) {
	live, _, now, err := presences(ctx, b, now)
	if err != nil {
		return nil, err
	}
	for _, o := range live {
		r, err := b.Get(ctx, o.Name, 0, -1)
		if errors.Is(err, bucket.ErrNotExist) {
			continue // it ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(r, maxPresence))
		r.Close()
		if err != nil {
			return nil, err
		}
		var p vocab.ClusterNode
		if json.Unmarshal(content, &p) != nil {
			continue
		}
		p.ID = lease.Printable(strings.TrimPrefix(o.Name, presencePrefix))
		p.Heard, p.Silent = o.Changed, now.Sub(o.Changed) > presenceSilent
		p.Machine, p.Version = lease.Printable(p.Machine), lease.Printable(p.Version)
		p.Role, p.Failing = lease.Printable(p.Role), lease.Printable(p.Failing)
		all = append(all, p)
	}
	return all, nil
}
