package division_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"anatomy/cluster/bucket"
	"anatomy/cluster/division"
	"anatomy/collection"
	"anatomy/disk/shards"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// A hidingBucket lists no objects below a prefix while hidden is set.
type hidingBucket struct {
	bucket.Bucket
	prefix string
	hidden atomic.Bool
}

func (h *hidingBucket) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Object, error] {
	if h.hidden.Load() && strings.HasPrefix(prefix, h.prefix) {
		return func(func(bucket.Object, error) bool) {}
	}
	return h.Bucket.List(ctx, prefix, after)
}

// answersWithout checks that a new node in dir answers over the n shards of a crawled collection but
// one, names that one, and answers over all when it has copied it. whole is a complete copy.
func answersWithout(t *testing.T, b bucket.Bucket, dir, whole string, n int) {
	t.Helper()
	var sizes []int
	documents, shard := 0, 0 // of all shards; the smallest shard with documents
	for i := range n {
		size := testweb.OpenSite(t, shards.Folder(whole, i)).Searcher.Stats().Documents
		sizes, documents = append(sizes, size), documents+size
		if size > 0 && (sizes[shard] == 0 || size < sizes[shard]) {
			shard = i
		}
	}
	hiding := &hidingBucket{Bucket: b, prefix: fmt.Sprintf("shards/%d/", shard)}
	hiding.hidden.Store(true)
	_, err := division.Join(t.Context(), hiding, dir)
	must(t, err)
	node := division.New(division.Options{Bucket: hiding, Dir: dir, Shards: n, Machine: "copies", Intervals: quick})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		stop()
		must(t, <-ended)
	}()
	lacks := func() error {
		_, missing, err := shards.Copied(dir)
		if err == nil && !slices.Equal(missing, []int{shard}) {
			err = fmt.Errorf("shards %d are missing", missing)
		}
		return err
	}
	eventually(t, lacks, t.FailNow)
	site, links := testweb.OpenSite(t, dir), collection.NewSharedLinks(dir)
	defer links.Close()
	if missing := site.MissingShards(); !slices.Equal(missing, []int{shard}) {
		t.Errorf("shards %d are missing, want %d", missing, shard)
	}
	others := func() error { // a shard is there shortly before its documents are
		_, err := site.Refresh()
		if found := site.Searcher.Stats().Documents; err == nil && found != documents-sizes[shard] {
			err = fmt.Errorf("%d of %d documents without shard %d", found, documents, shard)
		}
		return err
	}
	eventually(t, others, t.FailNow)
	if _, _, err := links.Sources(ctx, []vocab.DocID{1}, 10); !errors.Is(err, collection.ErrNotReady) {
		t.Errorf("links without a shard: %v", err)
	}
	hiding.hidden.Store(false)
	complete := func() error {
		_, err := site.Refresh()
		if s := site.Searcher.Stats(); err == nil && (s.Missing != nil || s.Documents != documents) {
			err = fmt.Errorf("%d of %d documents, and shards %d are missing", s.Documents, documents, s.Missing)
		}
		return err
	}
	eventually(t, complete, t.FailNow)
	_, _, err = links.Sources(ctx, []vocab.DocID{1}, 10)
	must(t, err)
	read := 0
	for doc := range vocab.DocID(1000) {
		doc = vocab.Outer(shard, doc)
		if !site.Has(doc) {
			continue
		}
		page, err := site.Page(ctx, doc)
		must(t, err)
		if page != nil {
			read++
		}
	}
	if read == 0 {
		t.Errorf("no page of shard %d can be read", shard)
	}
}
