package division_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/division"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/urlserver"
	"anatomy/vocab"
)

var must = testweb.Must

// quick are paces with which tests do not wait.
var quick = division.Intervals{
	Publish: 100 * time.Millisecond, Follow: 50 * time.Millisecond, Look: 50 * time.Millisecond,
	Quiet: 300 * time.Millisecond, Grace: 200 * time.Millisecond, HandOn: time.Second, Retry: 100 * time.Millisecond,
	Away: 2 * time.Second, Share: 50 * time.Millisecond,
}

type member struct{ *collective.Member }

func (m member) Work() vocab.ShardWork {
	st := m.Stats()
	return vocab.ShardWork{Pages: st.Pages, Queued: st.Queued, InFlight: st.InFlight, Complete: m.IsComplete()}
}

// A process is a node of a test.
type process struct {
	dir     string
	node    *division.Node
	stop    context.CancelFunc
	ended   chan error
	mu      sync.Mutex
	members map[int]member
}

// begin begins a node. The first of a bucket founds a collection of n shards.
func begin(t *testing.T, web *testweb.Generated, b bucket.Bucket, dir string, n int) *process {
	t.Helper()
	return beginCopies(t, web, b, dir, n, 0)
}

// beginCopies is begin with [division.Options.Copies].
func beginCopies(t *testing.T, web *testweb.Generated, b bucket.Bucket, dir string, n, copies int) *process {
	t.Helper()
	must(t, division.Create(t.Context(), b, dir, "test", func() error { return collective.CreateDivided(dir, n) }))
	_, err := division.Join(t.Context(), b, dir)
	must(t, err)
	must(t, division.AddURLs(t.Context(), b, []string{web.Seed}))
	o := web.Options(dir)
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	o.BatchBytes = 1 // each flush sends parcels
	all, err := collective.NewMembers(o)
	must(t, err)
	p := &process{dir: dir, ended: make(chan error, 1), members: map[int]member{}}
	d := division.New(division.Options{
		Bucket: b, Dir: dir, Shards: n, Machine: filepath.Base(dir), Of: all.Of, Intervals: quick, Copies: copies,
		Open: func(ctx context.Context, shard int, post parcel.Post) (division.Member, error) {
			opened, err := all.Open(ctx, shard, post)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.members[shard] = member{opened}
			return p.members[shard], err
		},
		Rank: func(ctx context.Context, put func(int, string, []byte) error) error {
			_, err := ranking.Compute(ctx, dir, ranking.Options{Put: put})
			return err
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	p.node, p.stop = d, stop
	go func() { p.ended <- errors.Join(d.Run(ctx), all.Close()) }()
	t.Cleanup(p.end)
	return p
}

func (p *process) end() {
	p.stop()
	p.ended <- <-p.ended
}

// TestNodes crawls a web into four shards that three nodes divide among them, the last of which comes
// when the crawl goes on; the first one leaves. Every node has the pages, hits, anchor texts and ranks of one folder
// in the end, and so has what is restored. A node that has not copied a shard yet answers without it.
func TestNodes(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 5, 90, 0)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	if len(want.searchable) < 50 || len(want.ranks) < 50 {
		t.Fatalf("one folder has %d documents and %d ranks", len(want.searchable), len(want.ranks))
	}
	b, root := &buckettest.Memory{}, t.TempDir()
	const n = 4
	first := begin(t, web, b, filepath.Join(root, "a"), n)
	second := begin(t, web, b, filepath.Join(root, "b"), n)
	third := begin(t, web, b, filepath.Join(root, "c"), n)
	divided := func(st *vocab.ClusterStatus) bool {
		owners := 0
		for _, node := range st.Nodes {
			if len(node.Owns) > 0 {
				owners++
			}
		}
		return owners > 1
	}
	waitFor(t, b, divided)
	first.end()
	testweb.Checked(t, first.dir) // it is a state that can be read
	for _, p := range []*process{second, third} {
		same := func() error {
			if err := shards.Check(p.dir); err != nil {
				return err
			}
			found, err := tryDescribe(t, p.dir)
			if err == nil && !found.equals(want) {
				err = errors.New("the node has something else")
			}
			return err
		}
		eventually(t, same, func() { describe(t, p.dir).same(t, want) })
	}
	answersWithout(t, b, filepath.Join(root, "d"), third.dir, n)
	restored := filepath.Join(root, "restored")
	_, err := division.Restore(t.Context(), b, restored, func(int64, int64) {})
	must(t, err)
	testweb.Checked(t, restored)
	describe(t, restored).same(t, want)
	for url, times := range web.Requests() {
		if times > 4 && !strings.HasSuffix(url, "/robots.txt") { // by one folder, by shards, and when cut off
			t.Errorf("%s was requested %d times", url, times)
		}
	}
}

const patience = 90 * time.Second

func waitFor(t *testing.T, b bucket.Bucket, is func(*vocab.ClusterStatus) bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(50 * time.Millisecond) {
		if st, err := division.Status(t.Context(), b); err == nil && is(st) {
			return
		}
	}
	st, err := division.Status(t.Context(), b)
	t.Fatalf("%+v, %v", st, err)
}

// eventually waits until check succeeds, and calls fail if it does not.
func eventually(t *testing.T, check func() error, fail func()) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Error(err)
	fail()
}

// A description is what is compared of two collections.
type description struct {
	searchable []string // documents with their hits
	ranks      map[string]string
}

func describe(t *testing.T, dir string) description {
	t.Helper()
	d, err := tryDescribe(t, dir)
	must(t, err)
	return d
}

func tryDescribe(t *testing.T, dir string) (d description, err error) {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return d, err
	}
	quiet := &quietly{TB: t}
	d = description{ranks: map[string]string{}}
	err = quiet.run(func() {
		for _, folder := range dirs {
			d.searchable = append(d.searchable, testweb.Searchable(quiet, folder)...)
			maps.Copy(d.ranks, testweb.Ranks(quiet, folder))
		}
	})
	slices.Sort(d.searchable)
	return d, err
}

func (d description) equals(o description) bool {
	return slices.Equal(d.searchable, o.searchable) && maps.Equal(d.ranks, o.ranks)
}

func (d description) same(t *testing.T, want description) {
	t.Helper()
	testweb.SameLists(t, "documents", d.searchable, want.searchable)
	testweb.SameMaps(t, "ranks", d.ranks, want.ranks)
}

// Quietly turns failures of helpers into an error: files vanish while a folder is written.
type quietly struct {
	testing.TB
	said bytes.Buffer
}

func (q *quietly) run(do func()) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%v %s", failed, q.said.String())
		}
	}()
	do()
	if q.said.Len() > 0 {
		err = errors.New(q.said.String())
	}
	return err
}

func (q *quietly) Helper()                      {}
func (q *quietly) Error(args ...any)            { fmt.Fprintln(&q.said, args...) }
func (q *quietly) Errorf(f string, args ...any) { fmt.Fprintf(&q.said, f+"\n", args...) }
func (q *quietly) Fatal(args ...any)            { q.Error(args...); panic("fatal") }
func (q *quietly) Fatalf(f string, args ...any) { q.Errorf(f, args...); panic("fatal") }
