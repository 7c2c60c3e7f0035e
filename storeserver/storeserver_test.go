package storeserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"anatomy/disk/repository"
	"anatomy/vocab"
)

func nothingKnown(vocab.ContentID) (vocab.DocID, bool, error) { return 0, false, nil }

func page(doc vocab.DocID, host, body string) *vocab.Page {
	return &vocab.Page{Doc: doc, URL: fmt.Sprintf("http://%s/%d", host, doc), Fetched: time.Unix(1_790_000_000, 0).UTC(), Body: []byte(body)}
}

// receipts collects the receipts, by document.
type receipts struct {
	mu    sync.Mutex
	of    map[vocab.DocID]Receipt
	order []vocab.DocID
}

func (r *receipts) done(doc vocab.DocID) func(Receipt) {
	return func(got Receipt) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.of == nil {
			r.of = make(map[vocab.DocID]Receipt)
		}
		r.of[doc] = got
		r.order = append(r.order, doc)
	}
}

func (r *receipts) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order)
}

func openRepo(t testing.TB, dir string) *repository.Repository {
	t.Helper()
	repo, err := repository.Open(dir, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return repo
}

// start runs s until the returned function is called.
func start(t testing.TB, s *Server) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	}
}

func mustPut(t testing.TB, s *Server, r *receipts, p *vocab.Page) {
	t.Helper()
	if err := s.Put(context.Background(), Item{Page: p, Done: r.done(p.Doc)}); err != nil {
		t.Fatal(err)
	}
}

func TestWrittenByAgeSizeAndHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		repo := openRepo(t, t.TempDir())
		s := New(repo, nothingKnown, Options{GroupBytes: 50_000})
		defer start(t, s)()
		var got receipts
		mustPut(t, s, &got, page(1, "a.test", "one"))
		time.Sleep(1900 * time.Millisecond)
		mustPut(t, s, &got, page(2, "b.test", "two"))
		synctest.Wait()
		if n := got.count(); n != 0 {
			t.Fatalf("%d written before their time", n)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if n := got.count(); n != 1 || got.order[0] != 1 {
			t.Fatalf("after two seconds: %v", got.order)
		}
		mustPut(t, s, &got, page(3, "c.test", string(make([]byte, 50_000))))
		synctest.Wait()
		if n := got.count(); n != 2 || got.order[1] != 3 {
			t.Fatalf("a full group: %v", got.order)
		}
		s.Hurry()
		synctest.Wait()
		if n := got.count(); n != 3 {
			t.Fatalf("after Hurry: %v", got.order)
		}
		mustPut(t, s, &got, page(4, "d.test", string(make([]byte, 25_000))))
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		if n := got.count(); n != 3 {
			t.Fatalf("half full, before half the time: %v", got.order)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if n := got.count(); n != 4 {
			t.Fatalf("half full, after half the time: %v", got.order)
		}
		for doc, r := range got.of {
			if rec, err := repo.Read(r.Address); err != nil || rec.Page.Doc != doc {
				t.Errorf("document %d at %v: %v, %v", doc, r.Address, rec.Page, err)
			}
		}
	})
}

// TestHeldCounts: held bytes count as pending.
func TestHeldCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := &gated{Repository: openRepo(t, t.TempDir()), open: make(chan struct{})}
		s := New(gate, nothingKnown, Options{Age: time.Hour, MaxPending: 10000})
		defer start(t, s)()
		var got receipts
		if err := s.Put(context.Background(), Item{Page: page(1, "a.test", "x"), Held: 20000, Done: got.done(1)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // past half: it is being written
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Put(cancelled, Item{Page: page(2, "a.test", "x"), Done: got.done(2)}); !errors.Is(err, context.Canceled) {
			t.Errorf("Put did not wait: %v", err)
		}
		close(gate.open)
		mustPut(t, s, &got, page(3, "a.test", "x"))
	})
}

func TestLargestGroupGoesFirstAndPutWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := &gated{Repository: openRepo(t, t.TempDir()), open: make(chan struct{})}
		s := New(gate, nothingKnown, Options{Age: time.Hour, MaxPending: 10000})
		defer start(t, s)()
		var got receipts
		body := func(n int, c byte) string { return string(bytes.Repeat([]byte{c}, n)) }
		mustPut(t, s, &got, page(1, "small.test", body(1000, 1)))
		mustPut(t, s, &got, page(2, "large.test", body(5000, 2)))
		synctest.Wait() // past half: the larger group is being written
		mustPut(t, s, &got, page(3, "large.test", body(5000, 3)))
		put := make(chan error)
		go func() {
			put <- s.Put(context.Background(), Item{Page: page(4, "small.test", "x"), Done: got.done(4)})
		}()
		synctest.Wait()
		select {
		case <-put:
			t.Fatal("Put did not wait")
		default:
		}
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Put(cancelled, Item{Page: page(5, "small.test", "x"), Done: got.done(5)}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled Put: %v", err)
		}
		close(gate.open)
		if err := <-put; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(got.order) != 2 || got.order[0] != 2 || got.order[1] != 3 {
			t.Errorf("order of writing is %v", got.order)
		}
	})
}

// gated blocks Append until open is closed.
type gated struct {
	Repository
	open chan struct{}
}

func (g *gated) Append(r []repository.Record) ([]vocab.Address, error) {
	<-g.open
	return g.Repository.Append(r)
}

func TestDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		repo := openRepo(t, t.TempDir())
		known := func(c vocab.ContentID) (vocab.DocID, bool, error) {
			if c == newEntry(Item{Page: page(0, "", "old")}).content {
				return 77, true, nil
			}
			return 0, false, nil
		}
		s := New(repo, known, Options{})
		stop := start(t, s)
		var got receipts
		mustPut(t, s, &got, page(2, "b.test", "same"))
		mustPut(t, s, &got, page(1, "b.test", "same")) // sorts first, so it is the original
		mustPut(t, s, &got, page(3, "c.test", "old"))
		s.Hurry()
		synctest.Wait()
		mustPut(t, s, &got, page(4, "d.test", "same")) // the index does not know it yet
		mustPut(t, s, &got, page(77, "e.test", "old")) // its own body again
		err := s.Put(context.Background(), Item{Done: got.done(5), Redirect: &Redirect{Doc: 5, URL: "http://a.test/5", Location: "http://a.test/6", Of: 6}})
		if err != nil {
			t.Fatal(err)
		}
		stop()
		want := map[vocab.DocID]vocab.DocID{1: 0, 2: 1, 3: 77, 4: 1, 77: 0, 5: 0}
		for doc, of := range want {
			r := got.of[doc]
			rec, err := repo.Read(r.Address)
			if err != nil || r.Err != nil || r.DuplicateOf != of || rec.Page.Doc != doc {
				t.Errorf("document %d: %+v, %v, %v", doc, r, rec, err)
			}
			if of != 0 && (rec.Kind != repository.DuplicateRecord || rec.Of != of) {
				t.Errorf("document %d is stored as %v of %d", doc, rec.Kind, rec.Of)
			}
		}
		if st := s.Stats(); st.Pages != 2 || st.Duplicates != 3 || st.Redirects != 1 || st.PendingBytes != 0 {
			t.Errorf("stats %+v", st)
		}
		if err := s.Put(context.Background(), Item{Page: page(9, "a.test", "late")}); !errors.Is(err, ErrClosed) {
			t.Errorf("Put after the end: %v", err)
		}
	})
}

// full fails on demand, like a full disk.
type full struct {
	Repository
	appending, syncing error
	keep               int // records that an Append which fails has written
}

func (f *full) Append(r []repository.Record) ([]vocab.Address, error) {
	if f.appending == nil {
		return f.Repository.Append(r)
	}
	places, err := f.Repository.Append(r[:min(f.keep, len(r))])
	return places, errors.Join(err, f.appending)
}

func (f *full) Sync() error {
	if f.syncing != nil {
		return f.syncing
	}
	return f.Repository.Sync()
}

func TestFullDiskPausesAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &full{Repository: openRepo(t, t.TempDir()), appending: syscall.ENOSPC, keep: 1}
		s := New(disk, nothingKnown, Options{})
		defer start(t, s)()
		var got receipts
		mustPut(t, s, &got, page(1, "a.test", "one"))
		mustPut(t, s, &got, page(2, "a.test", "two"))
		mustPut(t, s, &got, page(3, "a.test", "two"))
		s.Hurry()
		synctest.Wait()
		if got.of[1].Err != nil || !errors.Is(got.of[2].Err, syscall.ENOSPC) || !errors.Is(got.of[3].Err, syscall.ENOSPC) {
			t.Fatalf("receipts %+v", got.of)
		}
		again := Item{Page: page(2, "a.test", "two"), Done: got.done(2)}
		if err := s.Put(t.Context(), again); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Put at once: %v", err)
		}
		disk.appending, disk.syncing = nil, syscall.ENOSPC
		time.Sleep(5 * time.Second)
		if err := s.Put(t.Context(), again); err != nil {
			t.Fatalf("Put after a while: %v", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := got.of[2].Err; !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("a failed sync is acknowledged: %v", err)
		}
		disk.syncing = nil
		time.Sleep(5 * time.Second)
		if err := s.Put(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if r := got.of[2]; r.Err != nil || r.DuplicateOf != 0 {
			t.Fatalf("after all: %+v", r)
		}
		mustPut(t, s, &got, page(3, "a.test", "two"))
	})
}

func TestFailedLookupCostsOneItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("index is damaged")
		one := newEntry(Item{Page: page(1, "", "one")}).content
		s := New(openRepo(t, t.TempDir()), func(c vocab.ContentID) (vocab.DocID, bool, error) {
			if c == one {
				return 0, false, bad
			}
			return 0, false, nil
		}, Options{})
		var got receipts
		stop := start(t, s)
		mustPut(t, s, &got, page(1, "a.test", "one"))
		mustPut(t, s, &got, page(2, "a.test", "two"))
		stop()
		if !errors.Is(got.of[1].Err, bad) || got.of[2].Err != nil {
			t.Errorf("receipts %+v", got.of)
		}
	})
}

// watched records how much of the repository's file was synced at each receipt.
type watched struct {
	*repository.Repository
	path   string
	synced int64
}

func (w *watched) Sync() error {
	err := w.Repository.Sync()
	if info, statErr := os.Stat(w.path); err == nil && statErr == nil {
		w.synced = info.Size()
	}
	return err
}

// After a crash at any moment, all acknowledged pages can be read, and so can the original of every
// acknowledged duplicate. The file keeps what was synced, and some prefix of the rest.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		repo, err := repository.Open(dir, repository.Options{BlockBytes: rapid.IntRange(1, 2000).Draw(t, "block")})
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		disk := &watched{Repository: repo, path: filepath.Join(dir, "000001.repo")}
		s := New(disk, nothingKnown, Options{})
		type receipt struct {
			page   *vocab.Page
			synced int64
			Receipt
		}
		var receipts []receipt
		doc := vocab.DocID(0)
		for range rapid.IntRange(1, 6).Draw(t, "cycles") {
			var items []*entry
			for range rapid.IntRange(1, 6).Draw(t, "items") {
				doc++
				p := page(doc, "a.test", rapid.StringMatching(`[ab]{1,3}`).Draw(t, "body"))
				items = append(items, newEntry(Item{Page: p, Done: func(r Receipt) {
					receipts = append(receipts, receipt{p, disk.synced, r})
				}}))
			}
			s.cycle(items)
		}
		data, err := os.ReadFile(disk.path)
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(0, len(data)).Draw(t, "cut")
		after, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(after, "000001.repo"), data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := repository.Open(after, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		bodies := make(map[vocab.DocID]string)
		for _, r := range receipts {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if r.synced > int64(cut) {
				continue // not acknowledged when the machine died
			}
			rec, err := again.Read(r.Address)
			if err != nil || rec.Page.Doc != r.page.Doc {
				t.Fatalf("cut at %d of %d: document %d: %v, %v", cut, len(data), r.page.Doc, rec, err)
			}
			if r.DuplicateOf == 0 {
				bodies[r.page.Doc] = string(rec.Page.Body)
			} else if bodies[r.DuplicateOf] != string(r.page.Body) {
				t.Fatalf("document %d is a duplicate of %d, whose body is %q", r.page.Doc, r.DuplicateOf, bodies[r.DuplicateOf])
			}
		}
	})
}

func TestRecentRemembersAGeneration(t *testing.T) {
	var r recent
	id := func(i int) (c vocab.ContentID) {
		c[0], c[1], c[2] = byte(i), byte(i>>8), byte(i>>16)
		return c
	}
	const n = 3*generation + 5
	for i := range n {
		r.add(id(i), vocab.DocID(i+1))
		if doc, ok := r.find(id(max(0, i-generation+1))); !ok || doc == 0 {
			t.Fatalf("after %d: the one a generation ago is forgotten", i)
		}
	}
	if _, ok := r.find(id(0)); ok {
		t.Error("nothing is ever forgotten")
	}
}

func BenchmarkPut(b *testing.B) {
	repo := openRepo(b, b.TempDir())
	s := New(repo, nothingKnown, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	body := bytes.Repeat([]byte("<p>some words of a page that is not very long, but long enough</p>\n"), 500)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	doc := vocab.DocID(0)
	for b.Loop() {
		doc++
		p := page(doc, "a.test", string(body))
		copy(p.Body, fmt.Sprint(doc))
		if err := s.Put(ctx, Item{Page: p, Done: func(Receipt) {}}); err != nil {
			b.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}
