package engine_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	warnings, inIndex := int64(0), false
	o.Log = slog.New(hearer{slog.DiscardHandler, func(message string) {
		if strings.HasPrefix(message, "the repository is damaged") {
			warnings++
		}
		inIndex = inIndex || strings.HasPrefix(message, "the index is damaged")
	}})
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
			testweb.Must(t, c.Scrub())
		}
		if st := c.Status(); st.Damaged != damaged || warnings != damaged || st.Scrubbed == 0 || st.Scrubs == 0 {
			t.Errorf("%d places damaged, %d warnings, %d bytes read, %d times all; want %d", st.Damaged, warnings, st.Scrubbed, st.Scrubs, damaged)
		}
	}
	if inIndex {
		t.Error("the index is whole")
	}
	links, err := filepath.Glob(filepath.Join(o.Dir, "links", "*.links"))
	testweb.Must(t, err)
	whole, err := os.ReadFile(links[0])
	testweb.Must(t, err)
	whole[len(whole)/2] ^= 1
	testweb.Must(t, os.WriteFile(links[0], whole, 0o644))
	for range 20 { // the index is read after the repository
		testweb.Must(t, c.Scrub())
	}
	if st := c.Status(); !inIndex || st.Damaged != 2 {
		t.Errorf("damage of the index: found %v, %d places", inIndex, st.Damaged)
	}
}
