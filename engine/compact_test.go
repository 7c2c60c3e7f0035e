package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/storeserver"
	"anatomy/upkeep"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// supersede fills a folder with pages in several files of the repository, many of them replaced since.
func supersede(t *testing.T, w *movingWeb, rounds int) engine.Options {
	o := w.folder("data")
	testweb.Crawl(t, o)
	for range rounds {
		rollRepository(t, o.Dir)
		w.move()
		testweb.Crawl(t, testweb.Recrawling(o))
	}
	return o
}

// rollRepository begins a new file.
func rollRepository(t testing.TB, dir string) {
	t.Helper()
	r, err := repository.Open(datadir.Repository(dir), repository.Options{})
	testweb.Must(t, err)
	testweb.Must(t, r.Roll())
	testweb.Must(t, r.Close())
}

// cached reads every page in the index through a site.
func cached(t *testing.T, s *collection.Site, all map[vocab.DocID]vocab.Page) {
	t.Helper()
	n := 0
	for doc, want := range all {
		info, err := s.Document(t.Context(), doc)
		if err != nil || info.Address == 0 {
			continue
		}
		n++
		if page, err := s.Page(t.Context(), doc); err != nil || !bytes.Equal(page.Body, want.Body) || page.URL != want.URL {
			t.Errorf("document %d: %v", doc, err)
		}
	}
	if n == 0 {
		t.Error("no page is cached")
	}
}

// recordsKept counts the records of the repository by kind.
func recordsKept(t *testing.T, dir string) repository.Totals {
	t.Helper()
	totals, err := repository.Check(datadir.Repository(dir), func(problem error) { t.Error(problem) })
	testweb.Must(t, err)
	return totals
}

// TestCompact: the room of what is superseded is freed, and nothing else changes: not for those who read the
// folder meanwhile, nor for crawls and rebuilds after it.
func TestCompact(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := supersede(t, w, 6)
	site := testweb.OpenSite(t, o.Dir)
	pages := testweb.Bodies(t, o.Dir, testweb.Records(t, o.Dir))
	want, found, before := testweb.Fates(t, o.Dir), testweb.Searchable(t, o.Dir), recordsKept(t, o.Dir)

	report, err := upkeep.Compact(t.Context(), o.Dir, engine.CompactOptions{})
	testweb.Must(t, err)
	after := recordsKept(t, o.Dir)
	if report.Rewritten == 0 || report.Dropped == 0 || report.After >= report.Before || after.Pages >= before.Pages || after.Pages < len(pages) {
		t.Errorf("%+v, from %+v to %+v", report, before, after)
	}
	t.Logf("%+v, from %+v to %+v", report, before, after)
	same := func() {
		t.Helper()
		testweb.Checked(t, o.Dir)
		testweb.SameMaps(t, "pages", testweb.Fates(t, o.Dir), want)
		testweb.SameLists(t, "index", testweb.Searchable(t, o.Dir), found)
	}
	same()
	cached(t, site, pages)
	cached(t, testweb.OpenSite(t, o.Dir), pages)
	if again, err := upkeep.Compact(t.Context(), o.Dir, engine.CompactOptions{}); err != nil || again.Rewritten > 0 || again.Dead > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	w.Requests()
	testweb.Crawl(t, o) // which reads nothing of the copies again
	if asked := w.Requests(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
	same()

	for range 2 { // places that were moved are moved again
		rollRepository(t, o.Dir)
		w.move()
		testweb.Crawl(t, testweb.Recrawling(o))
		_, err = upkeep.Compact(t.Context(), o.Dir, engine.CompactOptions{})
		testweb.Must(t, err)
	}
	testweb.Crawl(t, testweb.Recrawling(o))
	w.same(o.Dir)
	cached(t, testweb.OpenSite(t, o.Dir), testweb.Bodies(t, o.Dir, testweb.Records(t, o.Dir)))
	_, err = upkeep.Rebuild(t.Context(), o.Dir, upkeep.RebuildOptions{})
	testweb.Must(t, err)
	w.same(o.Dir)
	tables, err := filepath.Glob(filepath.Join(datadir.Repository(o.Dir), "*.moved"))
	if testweb.Must(t, err); len(tables) > 0 {
		t.Errorf("left behind: %v", tables)
	}
	cached(t, testweb.OpenSite(t, o.Dir), testweb.Bodies(t, o.Dir, testweb.Records(t, o.Dir)))
}

// A hearer is a log that calls back for each message.
type hearer struct {
	slog.Handler
	hear func(message string)
}

func (h hearer) Enabled(context.Context, slog.Level) bool { return true }

func (h hearer) Handle(_ context.Context, r slog.Record) error {
	h.hear(r.Message)
	return nil
}

// TestWatchCompacts: a crawl that never ends frees the room by itself when half is dead, while it crawls.
func TestWatchCompacts(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	for range 4 { // all versions but the last are dead
		rollRepository(t, o.Dir)
		w.mu.Lock()
		for _, key := range w.keys {
			w.pages[key] = w.fresh(key)
		}
		w.mu.Unlock()
		testweb.Crawl(t, testweb.Recrawling(o))
	}
	before := recordsKept(t, o.Dir)
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.Log = slog.New(hearer{slog.DiscardHandler, func(message string) {
		if message == "repository compacted" {
			stop()
		}
	}})
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	c.LookForDeadRecordsAlways()
	testweb.Must(t, errors.Join(c.Run(ctx), c.Close()))
	if after := recordsKept(t, o.Dir); after.Pages >= before.Pages/2 {
		t.Errorf("%d pages before, %d after", before.Pages, after.Pages)
	}
	w.same(o.Dir)
}

// TestCompactVersions: as many older versions stay as are asked for, the newest, and are shown; what was removed does not stay.
func TestCompactVersions(t *testing.T) {
	w := testweb.New(t)
	o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/")
	w.Page("one.test/", "<p>version 5")
	w.Page("two.test/", "<p>version 5 of two")
	testweb.Crawl(t, o)
	repo, err := repository.Open(datadir.Repository(o.Dir), repository.Options{})
	testweb.Must(t, err)
	for doc, r := range testweb.Records(t, o.Dir) { // as if there had been visits before, a day apart
		for i := range 5 {
			older := vocab.Page{Doc: doc, URL: r.URL, Fetched: r.Fetch.Fetched.AddDate(0, 0, i-5), Body: fmt.Appendf(nil, "<p>version %d", i)}
			_, err := repo.Append([]repository.Record{{Kind: repository.PageRecord, Page: older}})
			testweb.Must(t, err)
		}
	}
	testweb.Must(t, repo.Close())
	_, err = upkeep.Block(t.Context(), o.Dir, []string{"two.test"})
	testweb.Must(t, err)
	_, err = upkeep.Compact(t.Context(), o.Dir, engine.CompactOptions{Versions: 2})
	testweb.Must(t, err)
	site := testweb.OpenSite(t, o.Dir)
	doc, err := site.Find(t.Context(), "http://one.test/")
	testweb.Must(t, err)
	if all, err := site.Versions(t.Context(), doc); err != nil || len(all.Pages) != 3 {
		t.Errorf("versions %+v, %v", all, err)
	}
	var kept []string
	r, err := repository.OpenReader(datadir.Repository(o.Dir))
	testweb.Must(t, err)
	defer r.Close()
	testweb.Must(t, r.Scan(0, func(_ vocab.Address, record *repository.Record) error {
		kept = append(kept, string(record.Page.Body))
		return nil
	}))
	slices.Sort(kept)
	if want := []string{"<!doctype html><p>version 5", "<p>version 3", "<p>version 4"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	testweb.Checked(t, o.Dir)
}

// TestCompactCrashes: a compaction that is killed at any moment loses nothing and is completed by the next.
func TestCompactCrashes(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 5))
	w := newMovingWeb(t, seed, 60)
	o := supersede(t, w, 5)
	pages := testweb.Bodies(t, o.Dir, testweb.Records(t, o.Dir))
	want, found := testweb.Fates(t, o.Dir), testweb.Searchable(t, o.Dir)
	testweb.Must(t, control.Remove(o.Dir)) // a socket cannot be copied
	took, killed := 40*time.Millisecond, 0
	for tries := 0; killed < crashes(t) && tries < 50; tries++ {
		order := childOrder{Dir: filepath.Join(t.TempDir(), "killed"), Compact: true}
		testweb.Must(t, os.CopyFS(order.Dir, os.DirFS(o.Dir)))
		for range 1 + r.IntN(3) {
			child := startChild(t, order)
			if !child.await(func(line string) bool { return line == "open" }) {
				t.Fatal("the child ended before it began")
			}
			<-time.After(time.Duration(r.Int64N(int64(took)))) // any moment will do
			child.kill()
			if _, was := child.wait(); was {
				killed++
			} else {
				took = took * 9 / 10 // it was quicker this time
			}
			testweb.Checked(t, order.Dir)
			testweb.SameMaps(t, "pages", testweb.Fates(t, order.Dir), want)
			testweb.SameLists(t, "index", testweb.Searchable(t, order.Dir), found)
			cached(t, testweb.OpenSite(t, order.Dir), pages)
		}
		if _, was := startChild(t, order).wait(); was {
			t.Fatal("nobody killed it")
		}
		testweb.Checked(t, order.Dir)
		testweb.SameMaps(t, "pages", testweb.Fates(t, order.Dir), want)
		testweb.SameLists(t, "index", testweb.Searchable(t, order.Dir), found)
		cached(t, testweb.OpenSite(t, order.Dir), pages)
		if again, err := upkeep.Compact(t.Context(), order.Dir, engine.CompactOptions{}); err != nil || again.Rewritten > 0 {
			t.Errorf("there was more to do: %+v %v", again, err)
		}
		if t.Failed() {
			return
		}
	}
	if killed == 0 {
		t.Error("no kill hit it")
	}
	t.Logf("%d kills", killed)
}

// oneByOne is a repository that makes a block of each record.
type oneByOne struct{ *repository.Repository }

func (r oneByOne) Append(records []repository.Record) (all []vocab.Address, err error) {
	for i := range records {
		at, err := r.Repository.Append(records[i : i+1])
		if all = append(all, at...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// repositoryFiles returns the sizes of the files of a repository.
func repositoryFiles(t *testing.T, dir string) []repository.FileSize {
	t.Helper()
	r, err := repository.OpenReader(datadir.Repository(dir))
	testweb.Must(t, err)
	defer r.Close()
	all, err := r.Sizes()
	testweb.Must(t, err)
	return all
}

// TestPack: a crawl that ends by itself packs the small blocks of its repository, keeps every
// version of every page, and leaves what is packed alone. Readers with old addresses find all pages,
// and one that is interrupted while it packs loses nothing.
func TestPack(t *testing.T) {
	w := testweb.New(t)
	dir := filepath.Join(t.TempDir(), "data")
	o := w.Options(dir, "http://a.test/")
	var links bytes.Buffer
	const n = 180
	text := func(i, version int) string {
		b := fmt.Appendf(nil, "<title>page %d version %d</title>", i, version)
		r := rand.New(rand.NewPCG(1, 1)) // a template
		for line := range 1500 {
			if line == 1400 {
				r = rand.New(rand.NewPCG(uint64(i), 2))
			}
			b = fmt.Appendf(b, "<p>%x words of a page\n", r.Uint32())
		}
		return string(b)
	}
	for i := range n {
		fmt.Fprintf(&links, "<a href=/%d>%d</a>", i, i)
		w.Page(fmt.Sprintf("a.test/%d", i), text(i, 1))
	}
	w.Page("a.test/", links.String())

	// A run whose pages come one by one, as from a polite crawl, and another for new versions.
	slowly := func(o engine.Options) {
		t.Helper()
		c, err := engine.Open(t.Context(), o)
		testweb.Must(t, err)
		c.SetStore(oneByOne{c.Repository()}, storeserver.Options{})
		testweb.Must(t, c.Run(t.Context()))
		testweb.Must(t, c.Close())
	}
	slowly(o)
	for i := range 20 {
		w.Page(fmt.Sprintf("a.test/%d", i), text(i, 2))
	}
	slowly(testweb.Recrawling(o))
	before := repositoryFiles(t, dir)
	pages := testweb.Bodies(t, dir, testweb.Records(t, dir))
	fates, found := testweb.Fates(t, dir), testweb.Searchable(t, dir)
	open := testweb.OpenSite(t, dir)
	first := before[0].Number
	small, raw := before[len(before)-1].Small()
	if raw < 4<<20 || small < before[len(before)-1].Bytes/2 {
		t.Fatalf("%d bytes of %d in small blocks, which hold %d", small, before[len(before)-1].Bytes, raw)
	}
	versions := recordsKept(t, dir).Pages

	// Interrupted as soon as packing begins.
	ctx, cancel := context.WithCancel(t.Context())
	c, err := engine.Open(ctx, o)
	testweb.Must(t, err)
	go func() {
		for c.Phase().Name != "packing the repository" {
			time.Sleep(100 * time.Microsecond)
		}
		cancel()
	}()
	testweb.Must(t, c.Run(ctx))
	testweb.Must(t, c.Close())
	testweb.Checked(t, dir)
	testweb.SameMaps(t, "pages, interrupted", testweb.Fates(t, dir), fates)
	cached(t, open, pages)

	testweb.Crawl(t, o)
	after := repositoryFiles(t, dir)
	bytesOf := func(files []repository.FileSize) (n int64) {
		for _, f := range files {
			n += f.Bytes
		}
		return n
	}
	if len(after) != 1 || after[0].Number == first || bytesOf(after) > bytesOf(before)/2 {
		t.Errorf("%d files of %d bytes, were %d of %d", len(after), bytesOf(after), len(before), bytesOf(before))
	}
	// How many pages are under way when a block ends decides how full the last ones are.
	if small, _ := after[len(after)-1].Small(); small*2 > bytesOf(after) {
		t.Errorf("%d bytes of %d in small blocks", small, bytesOf(after))
	}
	if kept := recordsKept(t, dir).Pages; kept != versions {
		t.Errorf("%d versions are kept of %d", kept, versions)
	}
	testweb.Checked(t, dir)
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), fates)
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), found)
	cached(t, open, pages)

	testweb.Crawl(t, testweb.Recrawling(o)) // nothing has changed
	if again := repositoryFiles(t, dir); again[0].Number != after[0].Number || bytesOf(again) != bytesOf(after) {
		t.Errorf("packed again: %d bytes in file %d", bytesOf(again), again[0].Number)
	}
}
