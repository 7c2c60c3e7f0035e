package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/rankvector"
	"anatomy/internal/test/testweb"
	"anatomy/pagerank"
	"anatomy/ranking"
)

// rankForEver computes the default vector again and again, by two dampings in turn.
func rankForEver(dir string) error {
	for n := 0; ; n++ {
		o := ranking.Options{Options: pagerank.Options{Damping: []float64{0.3, 0.6}[n%2], Progress: func(i int, _ float64) { fmt.Println("iteration", i) }}}
		if _, err := ranking.Compute(context.Background(), dir, o); err != nil {
			return err
		}
		fmt.Println("ranked")
	}
}

// rankFile returns the content of the file of the default vector, and its name.
func rankFile(dir string) (string, error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(datadir.Rank(dir, m.Ranks[rankvector.Default]))
	return m.Ranks[rankvector.Default] + string(b), err
}

// TestRankKilled: whenever a computation is killed, the vector before it is whole and current, or the new
// one is; a computation that is stopped, or cannot write, leaves it to the last byte.
func TestRankKilled(t *testing.T) {
	dir, _ := testweb.CrawlDemo(t)
	_, err := ranking.Compute(t.Context(), dir, ranking.Options{Options: pagerank.Options{Damping: 0.3}})
	testweb.Must(t, err)
	random := rand.New(rand.NewPCG(5, 6))
	killed := 0
	for range 8 {
		c := startChild(t, childOrder{Dir: dir, Rank: true})
		left := random.IntN(60)
		c.await(func(string) bool { left--; return left < 0 })
		c.kill()
		if _, dead := c.wait(); dead {
			killed++
		}
		v, err := rankvector.ReadFolder(dir, rankvector.Default)
		testweb.Must(t, err)
		if v.Damping != 0.3 && v.Damping != 0.6 || v.Residual > v.Tolerance {
			t.Errorf("after a kill the vector is %+v", *v)
		}
	}
	if killed < 8 {
		t.Errorf("%d of 8 were killed", killed)
	}
	before, err := rankFile(dir)
	testweb.Must(t, err)
	for at := 1; at < 12; at += 3 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := ranking.Compute(ctx, dir, ranking.Options{Options: pagerank.Options{Damping: 0.8, Tolerance: 1e-14, Progress: func(i int, _ float64) {
			if i == at {
				cancel()
			}
		}}})
		cancel()
		if after, failed := rankFile(dir); !errors.Is(err, context.Canceled) || failed != nil || after != before {
			t.Errorf("stopped after %d iterations: %v; %v; the vector is the same: %v", at, err, failed, after == before)
		}
	}
}
