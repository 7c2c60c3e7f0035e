package engine_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/durable/durabletest"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/storeserver"
)

// Whenever the machine loses power during a crawl, what was published is there afterwards, no
// structure is damaged, and the crawl continues to the same end.
func TestPowerLossDuringCrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("most of it is spent on copies of the folder")
	}
	web := testweb.Generate(t, 7, 60, 20*time.Millisecond)
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	type loss struct {
		call      int
		disk      *durabletest.Disk
		published uint64 // generation
	}
	const seed, every = 1, 30
	random := rand.New(rand.NewPCG(seed, 0))
	var losses []loss
	var published atomic.Uint64
	calls := 0
	stop := durabletest.UseMirror(t, root, func(disk *durabletest.Disk) {
		if calls++; random.IntN(every) > 0 {
			return
		}
		after := disk.Crash(nil) // all is lost that was not synced
		if random.IntN(2) == 0 {
			after = disk.Crash(random)
		}
		losses = append(losses, loss{calls, after, published.Load()})
	})
	o := web.Options(dir, web.Seed)
	o.BatchBytes, o.Connections = 1, 1 // much is published
	o.Published = func(m datadir.Manifest) { published.Store(m.Generation) }
	c, err := engine.Open(t.Context(), o)
	testweb.Must(t, err)
	c.SetStore(c.Repository(), storeserver.Options{Age: 20 * time.Millisecond})
	testweb.Must(t, c.Run(t.Context()))
	testweb.Must(t, c.Close())
	stop()
	testweb.Checked(t, dir)
	fates, searchable := testweb.Fates(t, dir), testweb.Searchable(t, dir)

	opened := 0
	for _, l := range losses {
		after := filepath.Join(t.TempDir(), "data")
		testweb.Must(t, l.disk.CopyTo(filepath.Dir(after), root))
		m, err := datadir.ReadManifest(after)
		if err != nil && !errors.Is(err, datadir.ErrNone) || m.Generation < l.published {
			t.Errorf("generation %d, %v; published was %d", m.Generation, err, l.published)
		}
		if datadir.HasRepository(after) {
			opened++
			testweb.Checked(t, after)
		}
		testweb.Crawl(t, web.Options(after, web.Seed))
		testweb.Checked(t, after)
		testweb.SameMaps(t, "pages", testweb.Fates(t, after), fates)
		testweb.SameLists(t, "index", testweb.Searchable(t, after), searchable)
		if t.Failed() {
			t.Fatalf("after power was lost at call %d of %d, seed %d", l.call, calls, seed)
		}
	}
	if opened == 0 || published.Load() < 3 {
		t.Errorf("%d folders were opened, %d manifests published", opened, published.Load())
	}
	t.Logf("%d generations, %d calls, power was lost at %d of them; %d folders with pages",
		published.Load(), calls, len(losses), opened)
}
