// Package node makes a machine the owner of the collection in a bucket, or a follower.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"anatomy/disk/repository"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/vocab"
)

// Options configure a node.
type Options struct {
	Bucket   bucket.Bucket
	Dir      string // the data folder, or the folder of shards
	Machine  string // name of this machine, for display
	Version  string // of the program
	Log      *slog.Logger
	Progress func(done, all int64) // bytes of a generation that is copied; may be nil

	// Snapshot makes a copy of the data folder and deletes it after use has returned.
	Snapshot func(ctx context.Context, use func(*snapshot.Snapshot) error) error

	Changes func(context.Context) string // see replica.PublisherOptions; may be nil

	Shard *ShardOptions // for a shard of a divided collection; nil for a whole one
}

// ShardOptions are the options for a shard of a divided collection. Other shards may know the
// content of a valid generation, so no owner reverts to an earlier one.
type ShardOptions struct {
	Node      string                        // see lease.Claim
	May       func(free time.Duration) bool // see lease.Options
	State     func() string                 // see replica.PublisherOptions
	Received  func() []uint64               // likewise
	OnCurrent func(*replica.Generation)     // likewise
	Every     time.Duration                 // between generations
}

func (o *Options) follower() replica.FollowerOptions {
	return replica.FollowerOptions{Bucket: o.Bucket, Dir: o.Dir, Log: o.Log, Progress: o.Progress}
}

// skipped is the number of generations and file numbers that a new owner skips. It exceeds what its
// predecessor can have used since the generation from which the new owner continues.
const skipped = 1 << 20

// skippedFiles is the same for files of the repository.
const skippedFiles = 64

// releaseWithin bounds the duration of a hand-over.
const releaseWithin = 30 * time.Second

// An Owner owns the collection.
type Owner struct {
	o     Options
	lease *lease.Lease
	lock  io.Closer // see lockOwner

	publisher atomic.Pointer[replica.Publisher] // nil until the folder has the newest state
}

// Own makes this machine the owner. If wait is set, it blocks until the present owner dies or hands
// over, and calls waiting, which may be nil. Otherwise the error wraps [lease.ErrHeld]. The error
// wraps [replica.ErrOther] if the folder has another collection than the bucket.
func Own(ctx context.Context, o Options, wait bool, waiting func(lease.Holder)) (*Owner, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := replica.Usable(ctx, o.Bucket); err != nil {
		return nil, err
	}
	if err := replica.Belongs(ctx, o.Bucket, o.Dir); err != nil {
		return nil, err
	}
	newest, err := replica.Newest(ctx, o.Bucket)
	if err != nil {
		return nil, err
	}
	lock, err := lockOwner(o.Dir)
	if err != nil {
		return nil, err
	}
	claim := lease.Options{
		Bucket: o.Bucket, Machine: o.Machine, Version: o.Version, Log: o.Log,
		Least: newest.Epoch + 1, Previous: lastOwner(o.Dir), Wait: wait, Waiting: waiting,
	}
	if o.Shard != nil {
		claim.Node, claim.May = o.Shard.Node, o.Shard.May
	}
	held, err := lease.Acquire(ctx, claim)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	w := &Owner{o: o, lease: held, lock: lock}
	if _, err := replica.Initialize(ctx, o.Bucket); err != nil { // only the owner may call it
		return nil, errors.Join(err, w.release(ctx), lock.Close())
	}
	return w, nil
}

// Run first brings the data folder to the newest state of the collection. That is the state of the
// folder if no other machine was the owner since, and the latest generation otherwise; an empty
// bucket receives the folder. Then Run calls write, which may change the folder, and publishes the
// folder until write has returned and its last state is published. It renews the lease throughout,
// and releases it at the end.
//
// The context of write ends when ctx does, or when the machine is no longer the owner; then Run
// returns the error of [lease.Lease.Run].
func (w *Owner) Run(ctx context.Context, write func(context.Context) error) error {
	writing, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewal errgroup.Group
	renewal.Go(func() error {
		err := w.lease.Run(renewing, func() { lose(lease.ErrDrained) })
		if err != nil {
			lose(err)
		}
		return err
	})
	err := w.publish(writing, lose, write)
	stop()
	lost := renewal.Wait()
	switch {
	case lost != nil:
		err = lost // other errors follow from it
	case errors.Is(context.Cause(writing), lease.ErrDrained) && (err == nil || errors.Is(err, context.Canceled)):
		err = lease.ErrDrained
	}
	if !errors.Is(err, lease.ErrCutOff) {
		err = errors.Join(err, w.release(ctx))
	}
	return errors.Join(err, w.lock.Close())
}

// publish calls write and publishes the folder meanwhile. If publishing fails permanently it calls
// lose.
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
	newest, err := replica.Newest(ctx, w.o.Bucket)
	if err != nil {
		return nil, err
	}
	at, _ := replica.Last(w.o.Dir)
	isCurrent := newest == at && newest.Owner == lastOwner(w.o.Dir) && !datadir.IsLight(w.o.Dir)
	if !newest.IsZero() && !isCurrent {
		if err := takeOver(ctx, w.o); err != nil {
			return nil, err
		}
	}
	if err := writeOwner(w.o.Dir, w.lease.Owner); err != nil {
		return nil, err
	}
	o := replica.PublisherOptions{
		Bucket: w.o.Bucket, Cluster: id.ID, Dir: w.o.Dir, By: w.o.Machine + " " + w.o.Version, Log: w.o.Log,
		Epoch: w.lease.Epoch, Owner: w.lease.Owner, Snapshot: w.o.Snapshot, Fence: w.fence,
		Changes: w.o.Changes,
	}
	if s := w.o.Shard; s != nil {
		o.State, o.Received, o.OnCurrent, o.Every = s.State, s.Received, s.OnCurrent, s.Every
	}
	return replica.NewPublisher(ctx, o)
}

// release hands over to the next owner.
func (w *Owner) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if w.lease.Check(ctx) != nil {
		return nil // it is lost or cannot be reached, and expires by itself
	}
	return w.lease.Release(ctx)
}

// Epoch returns the epoch of the lease.
func (w *Owner) Epoch() uint64 { return w.lease.Epoch }

// Status returns the difference between the bucket and the folder.
func (w *Owner) Status() (s replica.PublisherStatus) {
	if p := w.publisher.Load(); p != nil {
		s = p.Status()
	}
	return s
}

// fence returns an error that wraps [replica.ErrReplaced] if another machine is the owner now.
func (w *Owner) fence(ctx context.Context) error {
	err := w.lease.Check(ctx)
	if errors.Is(err, lease.ErrLost) {
		return fmt.Errorf("%w: %w", replica.ErrReplaced, err)
	}
	return err
}

// takeOver makes the folder a whole copy of the newest generation and open to changes. File numbers and
// record addresses that the previous owner used after that generation are skipped, so they never
// name other data. If an object of the newest generation is damaged, the owner continues from the
// generation in the folder, provided that its shards are consistent.
func takeOver(ctx context.Context, o Options) error {
	f, err := replica.NewFollower(ctx, o.follower())
	if err != nil {
		return err
	}
	err = f.Follow(ctx)
	whole := f.Status().Generation != "" && !f.Status().Light && !shards.IsUnderRepair(o.Dir) && o.Shard == nil
	if errors.As(err, new(*replica.DamageError)) && whole {
		o.Log.Warn("the newest generation is damaged: continuing from the previous one, which is on this machine", "error", err)
		err = nil
	}
	if err == nil {
		err = skip(o.Dir)
	}
	return errors.Join(err, f.Close())
}

// skip skips numbers in a data folder, or in all shards of a folder.
func skip(dir string) error {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	for _, folder := range dirs {
		if err := datadir.Skip(folder, skipped); err != nil {
			return err
		}
		if err := skipFiles(folder); err != nil {
			return err
		}
	}
	return nil
}

// skipFiles starts a new file of the repository, unless the repository is empty.
func skipFiles(dir string) error {
	if !datadir.HasRepository(dir) {
		return nil
	}
	r, err := repository.Open(datadir.Repository(dir), repository.Options{})
	if err != nil {
		return err
	}
	err = r.SkipTo(vocab.MakeAddress(r.End().File()+skippedFiles, 0, 0))
	return errors.Join(err, r.Close())
}

// The owner ID that this folder last used is stored with the name of the machine. If this process
// has the lock, that owner has ended.
func ownerPath(dir string) string { return filepath.Join(datadir.Cluster(dir), "owner") }

// lockOwner locks a data folder for a process that owns the collection or waits for it.
func lockOwner(dir string) (io.Closer, error) {
	if err := durable.MkdirAll(durable.OS, datadir.Cluster(dir)); err != nil {
		return nil, err
	}
	lock, err := durable.Lock(ownerPath(dir) + ".lock")
	if errors.Is(err, durable.ErrLocked) {
		err = fmt.Errorf("another process of this machine uses the folder %s as owner or standby", dir)
	}
	return lock, err
}

// lastOwner returns the owner ID that the folder last used on this machine, or "".
func lastOwner(dir string) string { return ReadOwn(ownerPath(dir)) }

func writeOwner(dir, owner string) error { return WriteOwn(ownerPath(dir), owner) }

// ReadOwn returns the ID in a file that WriteOwn wrote on this machine, or "": the file may be missing,
// or its folder was copied from another machine.
func ReadOwn(path string) string {
	b, _ := os.ReadFile(path) // "" if the file does not exist
	id, machine, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	if host, err := os.Hostname(); err != nil || machine != host {
		return ""
	}
	return id
}

// WriteOwn writes an ID and the name of this machine to a file.
func WriteOwn(path, id string) error {
	host, err := os.Hostname()
	if err == nil {
		err = durable.WriteFile(durable.OS, path, []byte(id+" "+host+"\n"))
	}
	return err
}
