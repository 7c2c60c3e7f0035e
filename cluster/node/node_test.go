package node_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/snapshot"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
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

// TestTakeOver has three machines crawl a web in turns. One of them crawls on when it is not the
// owner any more: nobody sees what it fetched, and it goes on from what the others have. In the end
// there are the pages of one machine.
func TestTakeOver(t *testing.T) {
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

// TestOldOwner suspends an owner while another machine takes over. What the old one publishes after
// that changes nothing, it is told so, and it can follow.
func TestOldOwner(t *testing.T) {
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
		b.Change(b.Names("owners/")[0], func(claim []byte) []byte { // as if it were silent for long
			return bytes.Replace(claim, []byte(`"released":false`), []byte(`"released":true`), 1)
		})
		own(t, b, second, web.Options(second, web.Seed))
		if now, err := lease.Find(ctx, b); err != nil || now.Epoch <= h.Epoch || !now.Released {
			t.Errorf("the owner is %+v, %v", now, err)
		}
		crawl.URLs.MaxPages = 40
		testweb.Crawl(t, crawl)
		select {
		case <-ctx.Done(): // it is told
		case <-time.After(time.Minute):
			t.Error("the old owner is not told")
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
