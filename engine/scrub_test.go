package engine_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/urlserver"
)

// TestWatchScrubs: a crawl that never ends finds what its disk has forgotten, says so once and goes on; of a whole repository
// it says nothing.
func TestWatchScrubs(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	rollRepository(t, o.Dir)
	testweb.Crawl(t, o)
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	warnings := int64(0)
	o.Log = slog.New(hearer{slog.DiscardHandler, func(message string) {
		if strings.HasPrefix(message, "the data folder is damaged") {
			warnings++
		}
	}})
	o.Damage = damage.NewLog(o.Log)
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	defer c.Close()
	files, err := filepath.Glob(filepath.Join(datadir.Repository(o.Dir), "*.repo"))
	testweb.Must(t, err)
	for damaged := range int64(2) {
		if damaged > 0 {
			f, err := os.OpenFile(files[0], os.O_RDWR, 0)
			testweb.Must(t, err)
			b := make([]byte, 1)
			_, err = f.ReadAt(b, 100)
			testweb.Must(t, err)
			b[0] ^= 1
			_, err = f.WriteAt(b, 100)
			testweb.Must(t, err)
			testweb.Must(t, f.Close())
		}
		for range 12 {
			testweb.Must(t, c.Scrub(0))
		}
		if st := c.Status(); st.Damaged != damaged || warnings != damaged || st.Scrubbed == 0 || st.Scrubs == 0 {
			t.Errorf("%d places damaged, %d warnings, %d bytes read, %d times all; want %d", st.Damaged, warnings, st.Scrubbed, st.Scrubs, damaged)
		}
	}
	if n := o.Damage.Counts(); n[damage.Repository] != 1 || len(n) != 1 {
		t.Errorf("the index and the links are not damaged, reported: %v", n)
	}
	links, err := filepath.Glob(filepath.Join(o.Dir, "links", "*.links"))
	testweb.Must(t, err)
	whole, err := os.ReadFile(links[0])
	testweb.Must(t, err)
	whole[len(whole)/2] ^= 1
	testweb.Must(t, os.WriteFile(links[0], whole, 0o644))
	for range 20 { // the index is read after the repository
		testweb.Must(t, c.Scrub(0))
	}
	n := o.Damage.Counts()
	if st := c.Status(); n[damage.Links] != 1 || st.Damaged != 2 || warnings != 2 {
		t.Errorf("damage of the links: reported %v, status %d, %d warnings", n, st.Damaged, warnings)
	}
}

// TestScrubRests: a crawl that has verified the whole repository does not start again at once.
func TestScrubRests(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	defer c.Close()
	for c.Status().Scrubs == 0 {
		testweb.Must(t, c.Scrub(time.Hour))
	}
	read := c.Status().Scrubbed
	for range 20 {
		testweb.Must(t, c.Scrub(time.Hour))
	}
	if got := c.Status().Scrubbed; got != read {
		t.Errorf("%d bytes were read again at once", got-read)
	}
	testweb.Must(t, c.Scrub(0))
	if c.Status().Scrubbed == read {
		t.Error("nothing is read again after a rest")
	}
}

// TestScrubRestsWithoutIndex: a crawl without segments and links rests after its repository, too.
func TestScrubRestsWithoutIndex(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	o.Seeds = nil
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	defer c.Close()
	for range 3 {
		testweb.Must(t, c.Scrub(time.Hour))
	}
	if n := c.Status().Scrubs; n != 1 {
		t.Errorf("the repository was read %d times without a rest", n)
	}
}

// TestIdleMerge: as long as nothing is to be merged, no segment is opened to see that.
func TestIdleMerge(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	defer c.Close()
	if len(c.Builder().Manifest().Segments) == 0 {
		t.Fatal("there is no segment")
	}
	if n := testing.AllocsPerRun(10, func() { testweb.Must(t, c.Builder().Merge(t.Context())) }); n > 20 {
		t.Errorf("%g allocations to see that nothing is to be merged", n)
	}
}

// TestQuiet: a crawl that never ends merges everything when it had nothing to do for a while, and not
// for each parcel of links.
func TestQuiet(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	o.Seeds = nil // a flush may run that has not published yet
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	defer c.Close()
	now := time.Now()
	const took = 10 * engine.Quiet
	for _, at := range []struct {
		merged, after time.Duration // the end of a merge that took so long, from then on
		want          bool
	}{
		{-time.Hour, 0, false}, {-time.Hour, engine.Quiet - 1, false}, {-time.Hour, engine.Quiet, true},
		{0, engine.Quiet, false}, {0, engine.IdleShare*took - 1, false}, {0, engine.IdleShare * took, true},
		{engine.Quiet - engine.MergeShare*took, engine.Quiet, true},
	} {
		c.Merged(now.Add(at.merged), took)
		if got := c.IsQuiet(now.Add(at.after)); got != at.want {
			t.Errorf("quiet %v after the last work, with a merge %v after it: %v", at.after, at.merged, got)
		}
	}
	_, err = c.AddSeeds([]string{"http://other.test/"})
	testweb.Must(t, err)
	if c.IsQuiet(now.Add(time.Hour)) {
		t.Error("quiet with a URL to fetch")
	}
}

// TestShortRepository: a crawl that opens a repository without the last pages that were acknowledged
// warns once, and reports it as damage. It does not for a whole one.
func TestShortRepository(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	testweb.Crawl(t, o)
	files, err := filepath.Glob(filepath.Join(datadir.Repository(o.Dir), "*.repo"))
	testweb.Must(t, err)
	last := files[len(files)-1]
	for _, cut := range []int64{0, 40} {
		info, err := os.Stat(last)
		testweb.Must(t, err)
		testweb.Must(t, os.Truncate(last, info.Size()-cut))
		var warnings []string
		o.Damage = damage.NewLog(slog.New(hearer{slog.DiscardHandler, func(message string) {
			warnings = append(warnings, message)
		}}))
		c, err := engine.Open(t.Context(), o)
		testweb.Must(t, err)
		st := c.Status()
		testweb.Must(t, c.Close())
		want := int64(min(cut, 1))
		n := int64(o.Damage.Counts()[damage.Repository])
		if n != want || st.Damaged != want || int64(len(warnings)) != want {
			t.Errorf("%d bytes cut off: %d problems, status %d, warnings %q", cut, n, st.Damaged, warnings)
		}
	}
}
