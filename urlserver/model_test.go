package urlserver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func mustParse(t interface{ Fatal(...any) }, raw string) weburl.URL {
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(raw, err)
	}
	return u
}

func drawPolicy(t *rapid.T) Policy {
	return Policy(rapid.IntRange(0, len(PolicyNames())-1).Draw(t, "policy"))
}

// A model is a simple URL server: maps without a disk, and everything is checked.
type model struct {
	docs     []modelDoc // by docID; the first is none
	byID     map[vocab.Fingerprint]vocab.DocID
	inFlight map[vocab.DocID]bool
	leases   map[uint64]vocab.Lease
	freeAt   map[string]time.Time // site: no lease before
	out      map[string]int       // site: leases out
}

type modelDoc struct {
	url   weburl.URL
	kind  vocab.TargetKind
	depth uint16
	done  bool // Complete recorded a final outcome
	open  bool // within scope
	tries int
}

func newModel() *model {
	return &model{docs: make([]modelDoc, 1), byID: map[vocab.Fingerprint]vocab.DocID{}, inFlight: map[vocab.DocID]bool{},
		leases: map[uint64]vocab.Lease{}, freeAt: map[string]time.Time{}, out: map[string]int{}}
}

// add returns the docIDs that the server has to return.
func (m *model) add(found []Found, open func(weburl.URL) bool) []vocab.DocID {
	var docs []vocab.DocID
	for _, f := range found {
		id, ok := m.byID[f.URL.Fingerprint()]
		if !ok {
			id = vocab.DocID(len(m.docs))
			m.byID[f.URL.Fingerprint()] = id
			m.docs = append(m.docs, modelDoc{url: f.URL, kind: f.Kind, depth: f.Depth, open: f.Seed || open(f.URL)})
		}
		docs = append(docs, id)
	}
	return docs
}

// A harness runs a server beside its model.
type harness struct {
	t   *rapid.T
	fs  *vfs.MemFS
	s   *Server
	m   *model
	now time.Time
	o   Options
}

func (h *harness) open() {
	h.o.FS = h.fs
	s, err := Open("data", h.o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.s = s
}

func (h *harness) inScope(u weburl.URL) bool { return u.Site() != "c.test" }

func (h *harness) drawFound() []Found {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Found {
		scheme := rapid.SampledFrom([]string{"http", "https"}).Draw(t, "scheme")
		name := rapid.SampledFrom([]string{"a.test", "www.a.test", "b.test", "b.test:8080", "10.0.0.1", "c.test"}).Draw(t, "host")
		path := rapid.IntRange(0, 30).Draw(t, "path")
		f := Found{URL: mustParse(t, fmt.Sprintf("%s://%s/%d", scheme, name, path)), Depth: uint16(rapid.IntRange(0, 3).Draw(t, "depth"))}
		if path == 0 {
			f.Kind = vocab.SitemapTarget
		}
		return f
	}), 0, 12).Draw(h.t, "found")
}

func (h *harness) add() {
	found := h.drawFound()
	want := h.m.add(found, h.inScope)
	got, err := h.s.Add(found)
	if err != nil || !slices.Equal(got, want) {
		h.t.Fatalf("Add: docIDs %v, %v; want %v", got, err, want)
	}
}

func (h *harness) take() (ok bool, wait time.Duration) {
	l, wait, ok := h.s.Grant(h.now)
	if !ok {
		return false, wait
	}
	m := h.m
	if at := m.freeAt[l.Site]; h.now.Before(at) {
		h.t.Fatalf("lease of %s at %v, %v too early", l.Site, h.now, at.Sub(h.now))
	}
	if m.out[l.Site]++; m.out[l.Site] > 1 {
		h.t.Fatalf("site %s is leased twice", l.Site)
	}
	if len(l.URLs) == 0 || len(l.URLs) > h.o.LeaseSize {
		h.t.Fatalf("lease of %d URLs", len(l.URLs))
	}
	least := uint8(0)
	byDepth := !h.o.Policy.ByQuality()
	for _, target := range l.URLs {
		u := mustParse(h.t, target.URL)
		d := &m.docs[target.Doc]
		switch {
		case m.inFlight[target.Doc]:
			h.t.Fatalf("document %d is leased twice", target.Doc)
		case d.done || !d.open:
			h.t.Fatalf("document %d is leased; done %v, in scope %v", target.Doc, d.done, d.open)
		case d.url.Fingerprint() != u.Fingerprint() || u.Host() != l.Host || u.Site() != l.Site:
			h.t.Fatalf("document %d is leased as %s of %s, %s", target.Doc, target.URL, l.Host, l.Site)
		case byDepth && d.kind == vocab.PageTarget &&
			BreadthFirst.FirstPriority(d.kind, d.depth) < least:
			h.t.Fatalf("%s comes too late", target.URL)
		case int(target.Tries) != d.tries:
			h.t.Fatalf("document %d was tried %d times, not %d", target.Doc, d.tries, target.Tries)
		}
		if d.kind == vocab.PageTarget { // sitemaps take turns with pages
			least = BreadthFirst.FirstPriority(d.kind, d.depth)
		}
		m.inFlight[target.Doc] = true
	}
	m.leases[l.ID] = l
	return true, 0
}

func (h *harness) release(id uint64, report vocab.HostReport) {
	l := h.m.leases[id]
	delete(h.m.leases, id)
	report.Lease = id
	if err := h.s.Release(h.now, report); err != nil {
		h.t.Fatal(err)
	}
	h.m.out[l.Site]--
	gap := max(h.o.Delay, 5*report.AnswerTime, report.HoldFor)
	if at := h.now.Add(gap); at.After(h.m.freeAt[l.Site]) {
		h.m.freeAt[l.Site] = at
	}
}

func (h *harness) done(docs []vocab.DocID, outcome func(vocab.DocID) vocab.Outcome) {
	var results []Result
	for _, doc := range docs {
		r := Result{Doc: doc, Outcome: outcome(doc), Status: 200, Fetched: h.now}
		d := &h.m.docs[doc]
		delete(h.m.inFlight, doc)
		switch r.Outcome {
		case vocab.Skipped:
		case vocab.Failed:
			d.tries++
			r.Status, r.Reason = 500, "500"
			d.done = d.tries > 3
		default:
			d.tries, d.done = 0, true
		}
		results = append(results, r)
	}
	if err := h.s.Complete(h.now, results); err != nil {
		h.t.Fatal(err)
	}
}

func keys[K interface{ ~uint64 }, V any](m map[K]V) []K {
	var ks []K
	for k := range m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return ks
}

// drain crawls without failures until the server ends the crawl.
func (h *harness) drain() {
	for range 10_000 {
		ok, wait := h.take()
		h.done(keys(h.m.inFlight), func(vocab.DocID) vocab.Outcome { return vocab.Fetched })
		for _, id := range keys(h.m.leases) {
			h.release(id, vocab.HostReport{})
		}
		if !ok && wait == 0 {
			return
		}
		h.now = h.now.Add(wait)
	}
	h.t.Fatal("the crawl does not end")
}

// verify compares everything known at the end.
func (h *harness) verify() {
	if err := h.s.Check(func(problem string) { h.t.Error(problem) }); err != nil {
		h.t.Fatal(err)
	}
	n := 0
	err := h.s.Each(1, func(r docindex.Record) error {
		n++
		d := h.m.docs[r.Doc]
		u := mustParse(h.t, r.URL)
		if u.Fingerprint() != d.url.Fingerprint() {
			h.t.Errorf("document %d is %s, not %s", r.Doc, r.URL, d.url.String())
		}
		if final := r.State == docindex.Finished || r.State == docindex.GivenUp; final != d.done || (r.State == docindex.OutOfScope) == d.open {
			h.t.Errorf("document %d is %s; done %v, in scope %v", r.Doc, r.State, d.done, d.open)
		}
		return nil
	})
	if n != len(h.m.docs)-1 || err != nil {
		h.t.Errorf("%d documents, %v; want %d", n, err, len(h.m.docs)-1)
	}
}

// TestAgainstModel compares random calls with the model: no URL is lost or leased twice at once, the
// delay of every site is kept, and docIDs are dense.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &harness{t: t, fs: vfs.NewMem(), m: newModel(), now: epoch, o: Options{
			Policy:      drawPolicy(t),
			SeenEntries: rapid.SampledFrom([]int{1, 50}).Draw(t, "seen entries"), scanSize: rapid.SampledFrom([]int{1, 4, 1000}).Draw(t, "scan size"),
			LeaseSize: rapid.IntRange(1, 6).Draw(t, "lease size"), Delay: time.Second, Exclude: []string{"c.test/*"}, Scope: weburl.AnyScope}}
		h.open()
		t.Repeat(map[string]func(*rapid.T){
			"add":  func(t *rapid.T) { h.t = t; h.add() },
			"take": func(t *rapid.T) { h.t = t; h.take() },
			"tick": func(t *rapid.T) {
				h.now = h.now.Add(time.Duration(rapid.IntRange(1, 20_000).Draw(t, "ms")) * time.Millisecond)
			},
			"done": func(t *rapid.T) {
				h.t = t
				docs := keys(h.m.inFlight)
				docs = docs[:rapid.IntRange(0, len(docs)).Draw(t, "how many")]
				h.done(docs, func(vocab.DocID) vocab.Outcome {
					return rapid.SampledFrom([]vocab.Outcome{vocab.Fetched, vocab.Fetched, vocab.Failed, vocab.Skipped, vocab.NotFound}).Draw(t, "outcome")
				})
			},
			"release": func(t *rapid.T) {
				h.t = t
				if ids := keys(h.m.leases); len(ids) > 0 {
					h.release(rapid.SampledFrom(ids).Draw(t, "lease"), vocab.HostReport{
						AnswerTime: time.Duration(rapid.IntRange(0, 500).Draw(t, "answer")) * time.Millisecond,
						HoldFor:    time.Duration(rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "hold")) * time.Second})
				}
			},
			"reopen": func(t *rapid.T) {
				h.t = t
				if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
					return
				}
				if err := h.s.Close(); err != nil {
					t.Fatal(err)
				}
				clear(h.m.inFlight)
				clear(h.m.leases)
				clear(h.m.out)
				clear(h.m.freeAt)
				h.o.Policy = drawPolicy(t)
				h.open()
			},
		})
		h.t = t
		h.drain()
		h.verify()
		if err := h.s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCrash stops the disk at some moment, loses a part of what was not synced, and continues with
// the rest.
func TestCrash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &harness{t: t, fs: vfs.NewCrashableMem(), m: newModel(), now: epoch, o: Options{
			Policy: drawPolicy(t), SeenEntries: 2, scanSize: rapid.SampledFrom([]int{1, 4, 1000}).Draw(t, "scan size"),
			LeaseSize: 4, Delay: -1, Exclude: []string{"c.test/*"}, Scope: weburl.AnyScope}}
		h.open()
		durable := 1 // documents that were made durable
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			h.add()
			if ok, _ := h.take(); ok && rapid.Bool().Draw(t, "store") {
				last := slices.Max(keys(h.m.inFlight))
				if err := h.s.MakeDurable(last); err != nil {
					t.Fatal(err)
				}
				durable = max(durable, int(last)+1)
			}
			if rapid.Bool().Draw(t, "finish") {
				h.done(keys(h.m.inFlight), func(vocab.DocID) vocab.Outcome {
					return rapid.SampledFrom([]vocab.Outcome{vocab.Fetched, vocab.Failed}).Draw(t, "outcome")
				})
				durable = len(h.m.docs)
				for _, id := range keys(h.m.leases) {
					h.release(id, vocab.HostReport{})
				}
			}
		}
		old := h.s
		h.fs = h.fs.CrashClone(vfs.CrashCloneCfg{
			UnsyncedDataPercent: rapid.IntRange(0, 100).Draw(t, "percent kept"),
			RNG:                 rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))})
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		h.open()
		known := int(h.s.Stats().Known) + 1
		if known < durable || known > len(h.m.docs) {
			t.Fatalf("%d documents after the crash; %d were durable, %d known", known-1, durable-1, len(h.m.docs)-1)
		}
		for _, d := range h.m.docs[known:] {
			delete(h.m.byID, d.url.Fingerprint())
		}
		h.m.docs = h.m.docs[:known]
		clear(h.m.inFlight)
		clear(h.m.leases)
		clear(h.m.out)
		clear(h.m.freeAt)
		h.add()
		h.drain()
		h.verify()
		h.s.Close()
	})
}
