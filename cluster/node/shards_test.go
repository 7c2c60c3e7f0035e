package node_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/node"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
)

// crawlShards crawls into three shards.
func crawlShards(t *testing.T, o engine.Options) {
	t.Helper()
	c, err := collective.Open(t.Context(), o, 3)
	must(t, err)
	must(t, errors.Join(c.Run(t.Context()), c.Close()))
}

// ownShards has a machine own the collection while it crawls into shards.
func ownShards(t *testing.T, b bucket.Bucket, crawl engine.Options) {
	t.Helper()
	w, err := node.Own(t.Context(), options(b, crawl.Dir), false, nil)
	must(t, err)
	must(t, w.Run(t.Context(), func(context.Context) error {
		crawlShards(t, crawl)
		return nil
	}))
}

// TestTakeOverShards has three machines crawl a web into shards in turns. One of them crawls on when it
// is not the owner any more: the parcels that it sends are not seen by the others. In the end there are
// the pages, anchor texts and ranks of one folder.
func TestTakeOverShards(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 9, 80, 0)
	b, root := &buckettest.Memory{}, t.TempDir()
	some := func(name string, n uint64) engine.Options {
		o := web.Options(filepath.Join(root, name), web.Seed)
		o.URLs.MaxPages, o.BatchBytes = n, 1 // each flush sends parcels
		return o
	}
	one := some("one", 0)
	testweb.Crawl(t, one)
	ownShards(t, b, some("a", 20))
	crawlShards(t, some("a", 40)) // and the bucket does not get it
	ownShards(t, b, some("b", 30))
	ownShards(t, b, some("a", 50))
	ownShards(t, b, some("c", 0))
	ownShards(t, b, some("b", 0))
	want, ranks := holdings(t, one.Dir)
	if len(want) < 50 || len(ranks) < 50 {
		t.Fatalf("one folder has %d pages and %d ranks", len(want), len(ranks))
	}
	for _, name := range []string{"b", "c"} {
		dir := filepath.Join(root, name)
		testweb.Checked(t, dir)
		pages, found := holdings(t, dir)
		testweb.SameLists(t, name, pages, want)
		testweb.SameMaps(t, name, found, ranks)
	}
}

// holdings returns what can be searched in a folder, or in its shards, and the ranks.
func holdings(t *testing.T, dir string) (pages []string, ranks map[string]string) {
	t.Helper()
	dirs, err := shards.Folders(dir)
	must(t, err)
	ranks = map[string]string{}
	for _, folder := range dirs {
		pages = append(pages, testweb.Searchable(t, folder)...)
		maps.Copy(ranks, testweb.Ranks(t, folder))
	}
	slices.Sort(pages)
	return pages, ranks
}
