// Package node makes a machine the owner of the collection in a bucket, or a follower.
package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/snapshot"
)

// Options configure a node.
type Options struct {
	Bucket   bucket.Bucket
	Dir      string // the data folder
	Machine  string // name of this machine, for people
	Version  string // of the program
	Log      *slog.Logger
	Progress func(done, all int64) // bytes of a generation that is copied; may be nil

	// Snapshot copies the data folder as it is, and deletes the copy after use has returned.
	Snapshot func(ctx context.Context, use func(*snapshot.Snapshot) error) error
}

func (o *Options) follower() replica.FollowerOptions {
	return replica.FollowerOptions{Bucket: o.Bucket, Dir: o.Dir, Log: o.Log, Progress: o.Progress}
}

// skipped is how many generations and numbers of files a new owner leaves out: more than the one
// before it can have made since the generation from which the new one goes on.
const skipped = 1 << 20

// releaseWithin bounds the time to hand over.
const releaseWithin = 30 * time.Second

// An Owner owns the collection.
type Owner struct {
	o     Options
	lease *lease.Lease

	publisher atomic.Pointer[replica.Publisher] // nil until the folder is the newest state
}

// Own makes this machine the owner. While wait, it waits until the present owner dies or hands over,
// and calls waiting, which may be nil. Else the error wraps [lease.ErrHeld]. It wraps
// [replica.ErrOther] if the folder holds another collection than the bucket.
func Own(ctx context.Context, o Options, wait bool, waiting func(lease.Holder)) (*Owner, error) {
	if _, err := replica.Found(ctx, o.Bucket); err != nil {
		return nil, err
	}
	if err := replica.Belongs(ctx, o.Bucket, o.Dir); err != nil {
		return nil, err
	}
	newest, _, err := replica.Latest(ctx, o.Bucket)
	if err != nil {
		return nil, err
	}
	held, err := lease.Acquire(ctx, lease.Options{
		Bucket: o.Bucket, Machine: o.Machine, Version: o.Version, Log: o.Log,
		Least: newest.Epoch + 1, Previous: readOwner(o.Dir), Wait: wait, Waiting: waiting,
	})
	if err != nil {
		return nil, err
	}
	return &Owner{o: o, lease: held}, nil
}

// Run brings the data folder to the newest state of the collection: that of the folder, if nobody
// else was the owner since, or else the latest generation; an empty bucket gets what is in the folder.
// Then it calls write, which may change the folder, and publishes the folder until write returns, and
// the last state after that. It renews the lease all the time, and releases it at the end.
//
// The context of write ends when ctx does, or when the machine is no longer the owner; the error says
// so then, see [lease.Lease.Run].
func (w *Owner) Run(ctx context.Context, write func(context.Context) error) error {
	writing, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewal errgroup.Group
	renewal.Go(func() error {
		err := w.lease.Run(renewing)
		if err != nil {
			lose(err)
		}
		return err
	})
	err := w.publish(writing, lose, write)
	stop()
	if lost := renewal.Wait(); lost != nil {
		err = lost // all else follows from it
	}
	return errors.Join(err, w.release(ctx))
}

// publish calls write and publishes the folder meanwhile. If it cannot go on publishing it calls lose.
func (w *Owner) publish(
	ctx context.Context, lose context.CancelCauseFunc, write func(context.Context) error,
) error {
	p, err := w.prepare(ctx)
	if err != nil {
		return err
	}
	w.publisher.Store(p)
	publishing, end := context.WithCancel(context.WithoutCancel(ctx))
	var publisher errgroup.Group
	publisher.Go(func() error {
		err := p.Run(publishing)
		if err != nil {
			lose(err)
		}
		return err
	})
	err = write(ctx)
	end()
	return errors.Join(err, publisher.Wait())
}

// prepare brings the folder to the newest state.
func (w *Owner) prepare(ctx context.Context) (*replica.Publisher, error) {
	id, err := replica.Identify(ctx, w.o.Bucket)
	if err != nil {
		return nil, err
	}
	newest, _, err := replica.Latest(ctx, w.o.Bucket)
	if err != nil {
		return nil, err
	}
	if at, _ := replica.Last(w.o.Dir); !newest.IsZero() && newest != at {
		if err := takeOver(ctx, w.o); err != nil {
			return nil, err
		}
	}
	if err := writeOwner(w.o.Dir, w.lease.Owner); err != nil {
		return nil, err
	}
	return replica.NewPublisher(ctx, replica.PublisherOptions{
		Bucket: w.o.Bucket, Cluster: id.ID, Dir: w.o.Dir, By: w.o.Machine + " " + w.o.Version, Log: w.o.Log,
		Epoch: w.lease.Epoch, Owner: w.lease.Owner, Snapshot: w.o.Snapshot, Fence: w.lease.Check,
	})
}

// release hands over to the next owner.
func (w *Owner) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if w.lease.Check(ctx) != nil {
		return nil // it is not ours, or cannot be reached; then it ends by itself
	}
	return w.lease.Release(ctx)
}

// Status returns how far the bucket is behind the folder.
func (w *Owner) Status() (s replica.PublisherStatus) {
	if p := w.publisher.Load(); p != nil {
		s = p.Status()
	}
	return s
}

// takeOver makes the folder a copy of the newest generation that can be changed.
func takeOver(ctx context.Context, o Options) error {
	f, err := replica.NewFollower(ctx, o.follower())
	if err != nil {
		return err
	}
	err = f.Follow(ctx)
	if err == nil {
		err = datadir.Skip(o.Dir, skipped)
	}
	return errors.Join(err, f.Close())
}

// The ID of the owner that the folder last was is kept, because that one has ended when its folder is
// not locked.
func ownerPath(dir string) string { return filepath.Join(datadir.Cluster(dir), "owner") }

func readOwner(dir string) string {
	lock, err := datadir.Lock(dir)
	if err != nil {
		return ""
	}
	defer lock.Close()
	b, _ := os.ReadFile(ownerPath(dir)) // no file: none
	return strings.TrimSpace(string(b))
}

func writeOwner(dir, owner string) error {
	err := durable.MkdirAll(durable.OS, datadir.Cluster(dir))
	if err == nil {
		err = durable.WriteFile(durable.OS, ownerPath(dir), []byte(owner+"\n"))
	}
	return err
}
