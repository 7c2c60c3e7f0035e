package urlserver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// TestTrapsByURL: the tests run in 2030.
func TestTrapsByURL(t *testing.T) {
	b := newBench(t, Options{Delay: -1})
	b.seed("http://a.test/", "http://a.test/s/s/s/s/s/s")
	b.s.Take(b.now)
	for path, want := range map[string]docindex.Trap{
		"/s/s/s/s/s/s":             0, // a seed
		"/x/x/x/x/x":               docindex.Repetitive,
		"/x/x/x/x":                 0,
		"/11/11/11/2011":           0,
		"/a/b/a/b/a":               0,
		"/a/b/a/b/a/b":             docindex.Repetitive,
		"/0/a/b/c/a/b/c/a/b/c":     docindex.Repetitive,
		"/a/b/c/a/b/c/":            0,
		"/cal/2041/5/17":           docindex.FarFuture,
		"/cal/2041-05-17.html":     docindex.FarFuture,
		"/cal?date=2041-05":        docindex.FarFuture,
		"/cal?month=5&year=2041":   docindex.FarFuture,
		"/cal/20410517":            docindex.FarFuture,
		"/cal/2035/5/17":           0,
		"/cal/1890/5/17":           0,
		"/thread/2041/2":           0,
		"/thread/2041/20/90":       0,
		"/doc/iso-8859-10.html":    0,
		"/page-2041.html":          0,
		"/id/20419999":             0,
		"/id/120410517":            0,
		"/id/2041051":              0,
		"/cal/2041/05/17/2041/x/y": docindex.FarFuture,
	} {
		r, _, err := b.s.Get(b.link("http://a.test" + path)[0])
		if err != nil || r.Trap != want || (r.State == docindex.Trapped) != (want != 0) {
			t.Errorf("%s: %s (%s), %v; want %s", path, r.State, r.Trap, err, want)
		}
	}
	if st := b.s.Stats(); st.Traps[docindex.Repetitive] != 3 || st.Traps[docindex.FarFuture] != 6 || st.States[docindex.Trapped] != 9 {
		t.Errorf("%+v", st.Traps)
	}
	b.check()
}

func TestShapes(t *testing.T) {
	for url, want := range map[string][]string{
		"http://a.test/":                            {"/"},
		"http://a.test/a/b.html":                    {"/", "/a/"},
		"http://a.test/1/2/3/4/5/6/7":               {"/", "/1/", "/1/2/", "/1/2/3/", "/1/2/3/4/"},
		"http://a.test/a/?z=1&b=2;b=3":              {"/", "/a/", "/a/?b&z"},
		"http://a.test/?item[1]=x&item[22]=y":       {"/", "/?item[]"},
		"http://a.test/list?20301231":               {"/", "/list?"},
		"http://a.test/list?20301231&page=7&lang=x": {"/", "/list?&lang&page"},
	} {
		u := mustParse(t, url)
		if got := shapes(&u); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// walk fetches everything that is queued, shows what text says of each URL, and gives how many pages
// were fetched.
func (b *bench) walk(text func(url string) uint64) (fetched int) {
	b.t.Helper()
	for {
		l, wait, ok := b.s.Take(b.now)
		if !ok && wait == 0 {
			return fetched
		}
		b.pass(wait)
		for _, target := range l.URLs {
			fetched++
			if err := b.s.Shown(target.Doc, text(target.URL)); err != nil {
				b.t.Fatal(err)
			}
			b.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200})
		}
		if ok {
			b.release(l, vocab.HostReport{})
		}
	}
}

func (b *bench) links(format string, n int) {
	b.t.Helper()
	for i := range n {
		b.link(fmt.Sprintf(format, i))
	}
}

// A folder whose pages are all alike gets as many as may repeat, its first, what that is worth, and the
// rest of a lease; its subfolders are part of it. Others get all, and so does a mirror of them.
func TestSpentFolder(t *testing.T) {
	o := Options{Delay: -1, Repeats: 20, LeaseSize: 8}
	b := newBench(t, o)
	b.seed("http://a.test/")
	b.links("http://a.test/real/%d", 1000)
	b.links("http://a.test/mirror/%d", 1000)
	b.links("http://a.test/maze/%d/", 1000)
	b.links("http://a.test/session/?sid=%d", 1000)
	text := func(url string) uint64 {
		var n uint64
		u := mustParse(t, url)
		switch {
		case u.Query() != "":
			return 1
		case u.Path() == "/":
			return 2
		}
		fmt.Sscanf(u.Path(), "/real/%d", &n)
		fmt.Sscanf(u.Path(), "/mirror/%d", &n)
		return 10 + n // 10 is that of the maze
	}
	got := b.walk(text)
	const real, maze, session = 1 + 2*1000, 20 + 1 + 4 + 1, 20 + 1 + 1 + 1
	if got < real+maze+session || got > real+maze+session+2*8 {
		t.Errorf("%d pages fetched, want %d and a lease or two", got, real+maze+session)
	}
	refused := uint64(real + 2*1000 - got)
	st := b.s.Stats()
	if st.Traps[docindex.SpentFolder]+st.Traps[docindex.SpentQuery] != refused || st.Traps[docindex.SpentQuery] == 0 || st.States[docindex.Finished] != uint64(got) {
		t.Errorf("%+v; want %d refused", st, refused)
	}
	r := b.record(b.link("http://a.test/maze/right/left/")[0], docindex.Trapped)
	want := fmt.Sprintf("a.test/maze/ repeats itself: %d of its %d pages showed nothing new", b.yield("/maze/").Repeated, b.yield("/maze/").Repeated+1)
	if why, err := WhyTrapped(b.s.db, &r); why != want || err != nil {
		t.Errorf("%s, %v; want %s", why, err, want)
	}
	b.check()

	b.reopen(o)
	b.record(b.link("http://a.test/maze/more/")[0], docindex.Trapped)
	b.record(b.link("http://a.test/session/?sid=more")[0], docindex.Trapped)
	b.record(b.link("http://a.test/session/?page=1")[0], docindex.Queued)
	if n := b.walk(text); n != 1 {
		t.Errorf("%d pages fetched after a restart, want 1", n)
	}

	o.Repeats = -1 // the user wants all: what was refused is looked at again
	b.reopen(o)
	b.walk(text)
	if st := b.s.Stats(); st.States[docindex.Trapped] != 0 || st.States[docindex.Finished] != st.Known {
		t.Errorf("%+v", st)
	}
	b.check()
}

func (b *bench) yield(shape string) docindex.Yield {
	b.t.Helper()
	y, err := b.s.db.Yield("a.test", shape)
	if err != nil {
		b.t.Fatal(err)
	}
	return y
}

// What a folder has brought is known after a crash, but for what was never done, and for less than half
// of its new pages.
func TestYieldsSurviveACrash(t *testing.T) {
	o := Options{Delay: -1, Repeats: 20, LeaseSize: 8}
	b := &bench{t: t, fs: vfs.NewCrashableMem(), now: epoch}
	b.open(o)
	b.seed("http://a.test/")
	b.links("http://a.test/maze/%d/", 1000)
	l, _, _ := b.s.Take(b.now)
	for _, target := range l.URLs {
		if err := b.s.Shown(target.Doc, 1); err != nil {
			t.Fatal(err)
		}
		b.done(Result{Doc: target.Doc, Outcome: vocab.Fetched, Status: 200})
	}
	b.fs = b.fs.CrashClone(vfs.CrashCloneCfg{})
	b.open(o)
	if y := b.yield("/"); y != (docindex.Yield{New: 1, Repeated: 7}) {
		t.Errorf("%+v", y)
	}
}

// A page that is fetched again, or told of twice, is counted once.
func TestShownOnce(t *testing.T) {
	b := newBench(t, Options{Delay: -1, Retry: []time.Duration{1}})
	b.seed("http://a.test/")
	b.s.Shown(1, 7) // not in flight
	l := b.take("http://a.test/")
	b.done(Result{Doc: 1, Outcome: vocab.Failed, Status: 500})
	b.release(l, vocab.HostReport{})
	b.pass(time.Second)
	b.take("http://a.test/")
	b.s.Shown(1, 7)
	b.s.Shown(1, 7)
	b.done(Result{Doc: 1, Outcome: vocab.Fetched, Status: 200})
	if y := b.yield("/"); y != (docindex.Yield{New: 1}) {
		t.Errorf("%+v", y)
	}
}
