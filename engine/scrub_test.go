package engine

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/urlserver"
)

// TestWatchScrubs: a crawl that never ends finds what its disk has forgotten, says so once and goes on; of a whole repository
// it says nothing.
func TestWatchScrubs(t *testing.T) {
	w := newMovingWeb(t, seedOf(t), 16)
	o := w.folder("data")
	crawl(t, o)
	rollRepository(t, o.Dir)
	crawl(t, o)
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	warnings := int64(0)
	o.Log = slog.New(hearer{slog.DiscardHandler, func(message string) {
		if strings.HasPrefix(message, "the repository is damaged") {
			warnings++
		}
	}})
	c, err := Open(t.Context(), o)
	must(t, err)
	defer c.Close()
	c.scrub.every = 0
	files, err := filepath.Glob(filepath.Join(datadir.Repository(o.Dir), "*.repo"))
	must(t, err)
	for damaged := range int64(2) {
		if damaged > 0 {
			f, err := os.OpenFile(files[0], os.O_RDWR, 0)
			must(t, err)
			b := make([]byte, 1)
			_, err = f.ReadAt(b, 100)
			must(t, err)
			b[0] ^= 1
			_, err = f.WriteAt(b, 100)
			must(t, err)
			must(t, f.Close())
		}
		for range 3 {
			must(t, c.scrubIfQuiet())
		}
		if st := c.Status(); st.Damaged != damaged || warnings != damaged || st.Scrubbed == 0 || st.Scrubs == 0 {
			t.Errorf("%d places damaged, %d warnings, %d bytes read, %d times all; want %d", st.Damaged, warnings, st.Scrubbed, st.Scrubs, damaged)
		}
	}
}
