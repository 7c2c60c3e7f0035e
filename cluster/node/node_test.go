package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/snapshot"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/vocab"
)

var must = testweb.Must

func options(b bucket.Bucket, dir string) node.Options {
	return node.Options{
		Bucket: b, Dir: dir, Machine: filepath.Base(dir), Version: "test",
		Snapshot: func(ctx context.Context, use func(*snapshot.Snapshot) error) error {
			return upkeep.Snapshot(ctx, dir, snapshot.Publish, use)
		},
	}
}

// own has a machine own the collection while it crawls.
func own(t *testing.T, b bucket.Bucket, dir string, crawl engine.Options) {
	t.Helper()
	w, err := node.Own(t.Context(), options(b, dir), false, nil)
	must(t, err)
	must(t, w.Run(t.Context(), func(ctx context.Context) error {
		crawl.Dir = dir
		testweb.Crawl(t, crawl)
		return nil
	}))
}

// TestOwnUnwritable: a lock that cannot be written is not one that another process holds.
func TestOwnUnwritable(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(datadir.Cluster(dir), "owner.lock"), 0o700))
	if _, err := node.Own(t.Context(), options(&buckettest.Memory{}, dir), false, nil); !errors.As(err, new(*fs.PathError)) {
		t.Errorf("%v, want the error of the file system", err)
	}
}

// TestTakeOver has three machines crawl a web in turns. One of them crawls on when it is not the
// owner any more: nobody sees what it fetched, and it goes on from what the others have. In the end
// there are the pages of one machine.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 9, 120, 0)
	b, root := &buckettest.Memory{}, t.TempDir()
	dir := func(name string) string { return filepath.Join(root, name) }
	some := func(n uint64) engine.Options {
		o := web.Options("", web.Seed)
		o.URLs.MaxPages = n
		return o
	}
	one := some(0)
	one.Dir = dir("one")
	testweb.Crawl(t, one)

	own(t, b, dir("a"), some(30))
	astray := some(60)
	astray.Dir = dir("a")
	testweb.Crawl(t, astray) // and the bucket does not get it
	own(t, b, dir("b"), some(50))
	own(t, b, dir("a"), some(70))
	own(t, b, dir("c"), some(0))
	own(t, b, dir("b"), some(0))
	for _, name := range []string{"b", "c"} {
		testweb.Checked(t, dir(name))
		testweb.SameMaps(t, name, testweb.Fates(t, dir(name)), testweb.Fates(t, dir("one")))
		testweb.SameLists(t, name, testweb.Searchable(t, dir(name)), testweb.Searchable(t, dir("one")))
	}
}

// TestBegin has machines begin in an empty bucket at the same time: none puts anything before all have
// seen that it is empty. One of them owns the collection, and the bucket gets one identity.
func TestBegin(t *testing.T) { synctest.Test(t, begin) }

func begin(t *testing.T) {
	const machines = 3
	b, root := &buckettest.Memory{}, t.TempDir()
	var seen sync.WaitGroup
	seen.Add(machines)
	var puts, identities atomic.Int32
	b.Set(func(_ context.Context, op, name string) error {
		if op == "put" && puts.Add(1) <= machines {
			seen.Done()
			seen.Wait()
		}
		if op == "put" && name == "anatomy.json" {
			identities.Add(1)
		}
		return nil
	})
	var owners atomic.Int32
	var group errgroup.Group
	for i := range machines {
		group.Go(func() error {
			dir := filepath.Join(root, fmt.Sprint(i))
			w, err := node.Own(t.Context(), options(b, dir), false, nil)
			if errors.Is(err, lease.ErrHeld) {
				return nil
			}
			if err != nil {
				return err
			}
			owners.Add(1)
			return w.Run(t.Context(), func(context.Context) error {
				time.Sleep(time.Minute) // until the others know
				return nil
			})
		})
	}
	must(t, group.Wait())
	if owners.Load() != 1 || identities.Load() != 1 {
		t.Errorf("%d machines owned the collection, and the bucket got %d identities", owners.Load(), identities.Load())
	}
}

// TestOldOwner suspends an owner while another machine takes over. What the old owner publishes
// afterwards has no effect, it gets an error, and it can follow.
func TestOldOwner(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 10, 60, 0)
	b, root := &buckettest.Memory{}, t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	old, err := node.Own(t.Context(), options(b, first), false, nil)
	must(t, err)
	crawl := web.Options(first, web.Seed)
	crawl.URLs.MaxPages = 20
	err = old.Run(t.Context(), func(ctx context.Context) error {
		testweb.Crawl(t, crawl)
		h, err := lease.Find(ctx, b)
		must(t, err)
		claim, silent := b.Names("owners/")[0], make(chan struct{})
		var once sync.Once
		b.Set(func(_ context.Context, op, name string) error {
			if op != "put" || name != claim {
				return nil
			}
			once.Do(func() { close(silent) })
			return buckettest.ErrAway
		})
		<-silent                                      // it renews its claim no more
		b.Change(claim, func(content []byte) []byte { // as if that were so for long
			return bytes.Replace(content, []byte(`"released":false`), []byte(`"released":true`), 1)
		})
		own(t, b, second, web.Options(second, web.Seed))
		b.Set(nil)
		if now, err := lease.Find(t.Context(), b); err != nil || now.Epoch <= h.Epoch || !now.Released {
			t.Errorf("the owner is %+v, %v", now, err)
		}
		crawl.URLs.MaxPages = 40
		c, err := engine.Open(t.Context(), crawl)
		for datadir.IsBusy(err) { // it may just be copied to the bucket
			time.Sleep(10 * time.Millisecond)
			c, err = engine.Open(t.Context(), crawl)
		}
		must(t, err)
		must(t, c.Run(t.Context()))
		must(t, c.Close())
		select {
		case <-ctx.Done(): // the old owner has noticed
		case <-time.After(time.Minute):
			t.Error("the old owner does not notice that it was replaced")
		}
		return nil
	})
	if !errors.Is(err, lease.ErrLost) {
		t.Errorf("the old owner: %v, want %v", err, lease.ErrLost)
	}
	f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: first})
	must(t, err)
	must(t, f.Follow(t.Context()))
	must(t, f.Close())
	testweb.Checked(t, first)
	testweb.SameMaps(t, "first", testweb.Fates(t, first), testweb.Fates(t, second))
}

// TestStandby takes over a folder that was followed to the newest generation. It leaves out numbers
// of files and addresses that the owner before may have used after it, and that one's folder becomes
// a copy of it.
func TestStandby(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 11, 60, 0)
	b, root := &buckettest.Memory{}, t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	crawl := web.Options("", web.Seed)
	crawl.URLs.MaxPages = 20
	own(t, b, first, crawl)
	follow := func(dir string) {
		f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: dir})
		must(t, err)
		must(t, f.Follow(t.Context()))
		must(t, f.Close())
	}
	follow(second)
	before, err := datadir.ReadManifest(second)
	must(t, err)
	crawl.Dir, crawl.URLs.MaxPages = first, 40
	testweb.Crawl(t, crawl) // not published
	crawl.URLs.MaxPages = 0
	own(t, b, second, crawl)
	after, err := datadir.ReadManifest(second)
	must(t, err)
	if after.Next < before.Next+1<<20 || after.Generation < before.Generation+1<<20 || after.Indexed.File() < before.Indexed.File()+64 {
		t.Errorf("the manifest before %+v, after %+v", before, after)
	}
	follow(first)
	testweb.Checked(t, first)
	testweb.SameMaps(t, "first", testweb.Fates(t, first), testweb.Fates(t, second))
	testweb.SameLists(t, "first", testweb.Searchable(t, first), testweb.Searchable(t, second))
	own(t, b, second, crawl)
	if again, err := datadir.ReadManifest(second); err != nil || again.Next >= after.Next+1<<20 {
		t.Errorf("the same owner leaves out numbers: %d, then %d, %v", after.Next, again.Next, err)
	}
}

// TestDamagedTakeOver goes on from the generation before if the newest one is damaged.
func TestDamagedTakeOver(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 12, 60, 0)
	b, root := &buckettest.Memory{}, t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	crawl := web.Options("", web.Seed)
	crawl.URLs.MaxPages = 20
	own(t, b, first, crawl)
	f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: second})
	must(t, err)
	must(t, f.Follow(t.Context()))
	must(t, f.Close())
	had := b.Names("objects/")
	crawl.URLs.MaxPages = 40
	own(t, b, first, crawl)
	for _, name := range b.Names("objects/") {
		if !slices.Contains(had, name) {
			b.Change(name, func([]byte) []byte { return nil })
		}
	}
	crawl.URLs.MaxPages = 0
	own(t, b, second, crawl)
	testweb.Checked(t, second)
	if stats := testweb.Fates(t, second); len(stats) < web.Pages {
		t.Errorf("%d documents of %d pages", len(stats), web.Pages)
	}
}

// TestNodeStartsAgain: a node that was killed and starts again is listed once.
func TestNodeStartsAgain(t *testing.T) {
	dir := t.TempDir()
	id, err := node.ID(dir)
	must(t, err)
	b := &buckettest.Memory{}
	var kept []byte // the status of the killed process
	for _, version := range []string{"before", "after"} {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		again, err := node.ID(dir)
		if must(t, err); again != id {
			t.Fatalf("the ID changed from %s to %s", id, again)
		}
		if kept != nil {
			must(t, b.Put(ctx, "nodes/"+id, bytes.NewReader(kept), int64(len(kept))))
		}
		go func() {
			defer close(ended)
			node.Announce(ctx, b, again, func() vocab.ClusterNode { return vocab.ClusterNode{Version: version} })
		}()
		var all []vocab.ClusterNode
		for len(all) == 0 || all[0].Version != version {
			all, err = node.Nodes(ctx, b, time.Time{})
			must(t, err)
		}
		if len(all) != 1 || all[0].ID != id {
			t.Errorf("listed: %+v", all)
		}
		kept, err = json.Marshal(all[0])
		must(t, err)
		stop()
		<-ended
	}
}
