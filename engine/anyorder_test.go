package engine_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
)

// A journey takes a folder through one thing after the other that its owner may do with it.
type journey struct {
	t      testing.TB
	r      *rand.Rand
	web    *movingWeb
	o      engine.Options
	banned []string
}

// crawlUntil crawls until some requests were made, as one does who presses Ctrl-C.
func (j *journey) crawlUntil(requests int) {
	ctx, cancel := context.WithCancel(j.t.Context())
	defer cancel()
	c, err := engine.Open(ctx, testweb.Recrawling(j.o))
	testweb.Must(j.t, err)
	made := make(chan struct{}, 10000)
	j.web.Listen(func(string) { made <- struct{}{} })
	defer j.web.Listen(nil)
	go func() {
		for range requests {
			select {
			case <-made:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		testweb.Must(j.t, err)
	}
	testweb.Must(j.t, c.Close())
}

// step does one thing, and says what.
func (j *journey) step() string {
	ctx, dir := j.t.Context(), j.o.Dir
	switch j.r.IntN(9) {
	case 0:
		testweb.Crawl(j.t, testweb.Recrawling(j.o))
		return "recrawl"
	case 1:
		unheard := testweb.Recrawling(j.o)
		unheard.NoIndex = true
		testweb.Crawl(j.t, unheard)
		return "recrawl without index"
	case 2:
		j.crawlUntil(1 + j.r.IntN(30))
		return "recrawl, interrupted"
	case 3:
		rollRepository(j.t, dir) // the last file stays as it is
		_, err := upkeep.Compact(ctx, dir, engine.CompactOptions{Versions: j.r.IntN(2)})
		testweb.Must(j.t, err)
		return "compact"
	case 4:
		_, err := upkeep.Rebuild(ctx, dir, upkeep.RebuildOptions{})
		testweb.Must(j.t, err)
		return "rebuild"
	case 5:
		target := "http://" + j.web.any()
		if j.r.IntN(4) == 0 {
			target = "two.test"
		}
		_, err := upkeep.Block(ctx, dir, []string{target})
		testweb.Must(j.t, err)
		j.banned = append(j.banned, target)
		return "ban " + target
	case 6:
		return "unban" + j.unban()
	case 7:
		var file bytes.Buffer
		_, err := upkeep.Backup(ctx, &file, dir, nil)
		testweb.Must(j.t, err)
		j.o.Dir = filepath.Join(j.t.TempDir(), "restored")
		_, err = upkeep.Restore(ctx, &file, j.o.Dir, nil)
		testweb.Must(j.t, err)
		return "backup and restore"
	}
	testweb.Crawl(j.t, j.o)
	return "crawl"
}

func (j *journey) unban() (what string) {
	for _, target := range j.banned {
		_, err := upkeep.Unblock(j.t.Context(), j.o.Dir, []string{target})
		testweb.Must(j.t, err)
		what += " " + target
	}
	j.banned = nil
	return what
}

// TestAnyOrder: whatever was done with a folder, in whatever order, while the web changed: a recrawl of it comes to what a
// crawl of the web as it is now comes to.
func TestAnyOrder(t *testing.T) {
	seed := seedOf(t)
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	j := &journey{t: t, r: rand.New(rand.NewPCG(seed, 13)), web: newMovingWeb(t, seed, 30)}
	j.o = j.web.folder("data")
	testweb.Crawl(t, j.o)
	for range rounds {
		var done []string
		for range 1 + j.r.IntN(6) {
			if j.r.IntN(2) == 0 {
				j.web.move()
				done = append(done, "move")
			}
			done = append(done, j.step())
			if testweb.Checked(t, j.o.Dir); t.Failed() {
				t.Fatalf("after %q", done)
			}
		}
		j.unban()
		for range 3 { // what is gone is confirmed
			testweb.Crawl(t, testweb.Recrawling(j.o))
		}
		if j.web.same(j.o.Dir); t.Failed() {
			t.Fatalf("after %q", done)
		}
	}
}
