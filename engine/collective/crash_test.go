package collective_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"anatomy/disk/durable/durabletest"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
)

// TestPowerLoss has the machine lose power at random moments of a crawl into shards. The folder is
// whole then, and the crawl goes on to what one folder holds: no parcel is lost or counts twice.
func TestPowerLoss(t *testing.T) {
	web := testweb.Generate(t, 7, 40, 5*time.Millisecond)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	root := t.TempDir()
	dir := filepath.Join(root, "many")
	const seed, every = 3, 30
	random := rand.New(rand.NewPCG(seed, 0))
	var losses []*durabletest.Disk
	stop := durabletest.UseMirror(t, root, func(disk *durabletest.Disk) {
		switch random.IntN(every) {
		case 0:
			losses = append(losses, disk.Crash(nil)) // all is lost that was not synced
		case 1:
			losses = append(losses, disk.Crash(random))
		}
	})
	o := web.Options(dir, web.Seed)
	o.BatchBytes = 1 // each flush sends parcels
	crawl(t, o, 3)
	stop()
	found := describe(t, dir)
	found.same(t, want)
	random.Shuffle(len(losses), func(i, j int) { losses[i], losses[j] = losses[j], losses[i] })
	tried := map[bool]int{} // by whether parcels were there
	for _, disk := range losses {
		after := filepath.Join(t.TempDir(), "many")
		testweb.Must(t, disk.CopyTo(filepath.Dir(after), root))
		const most = 2
		waiting := len(parcels(t, after)) > 0
		if tried[waiting]++; tried[waiting] > most {
			continue
		}
		if m, err := shards.Read(after); err == nil && m != nil {
			testweb.Checked(t, after)
		}
		crawl(t, web.Options(after, web.Seed), 3)
		testweb.Checked(t, after)
		again := describe(t, after)
		if again.same(t, want); t.Failed() {
			t.Fatalf("after one of %d losses of power, seed %d", len(losses), seed)
		}
	}
	if tried[true] == 0 {
		t.Errorf("no parcel was there at any of %d losses of power", len(losses))
	}
}

func parcels(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "parcels", "*", "*.parcel"))
	testweb.Must(t, err)
	return files
}

// TestFailedWrite has any write fail, once or because the disk is full: the crawl ends with an error or
// with its work done, and goes on when the disk is well again.
func TestFailedWrite(t *testing.T) {
	web := testweb.Generate(t, 5, 30, 0)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	faults := durabletest.UseFaults(t)
	failed := 0
	for n := 20; n < 2000; n *= 3 {
		o := web.Options(filepath.Join(t.TempDir(), "many"), web.Seed)
		o.BatchBytes = 1
		faults.FailAt(n, syscall.ENOSPC, n%2 == 0)
		c, err := collective.Open(t.Context(), o, 3)
		if err == nil {
			_, err = run(t.Context(), c)
		}
		if !faults.Stop() {
			testweb.Must(t, err)
			break
		}
		if err != nil {
			failed++
		}
		crawl(t, o, 3)
		testweb.Checked(t, o.Dir)
		again := describe(t, o.Dir)
		if again.same(t, want); t.Failed() {
			t.Fatalf("after write %d has failed: %v", n, err)
		}
	}
	if failed < 2 {
		t.Errorf("only %d crawls have failed", failed)
	}
}

// TestInterrupted interrupts a crawl again and again, and resumes it with the number of shards that
// the folder has.
func TestInterrupted(t *testing.T) {
	web := testweb.Generate(t, 9, 40, 5*time.Millisecond)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	o := web.Options(filepath.Join(t.TempDir(), "many"), web.Seed)
	n, interruptions := 4, 0
	for pages := int64(3); ; pages += 11 {
		ctx, stop := context.WithCancel(t.Context())
		c, err := collective.Open(ctx, o, n)
		testweb.Must(t, err)
		o.Seeds, n = nil, 0
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		for c.Stats().Pages < pages && len(done) == 0 {
			time.Sleep(time.Millisecond)
		}
		if stop(); len(done) == 0 {
			interruptions++
		}
		testweb.Must(t, <-done)
		ended := c.Phase().Name == "computing ranks"
		testweb.Must(t, c.Close())
		if ended {
			break
		}
		testweb.Checked(t, o.Dir)
	}
	if interruptions < 2 {
		t.Errorf("only %d interruptions", interruptions)
	}
	found := describe(t, o.Dir)
	found.same(t, want)
}
