package engine_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// TestPhases: when nothing is left to fetch a crawl passes its phases in order, and each that has a
// share ends with the whole of it. A crawl that is interrupted neither merges nor ranks.
func TestPhases(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		w := testweb.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.Page("a.test/", `<title>A</title><p>words <a href="/b">b</a>`)
		w.Page("a.test/b", `<title>B</title><p>other words <a href="/">a</a>`)
		if interrupted {
			w.Listen(func(key string) {
				if key == "a.test/b" {
					cancel()
				}
			})
		}
		c, err := engine.Open(ctx, w.Options(filepath.Join(t.TempDir(), "data"), "http://a.test/"))
		testweb.Must(t, err)
		if p := c.Phase(); p.Name != "" {
			t.Errorf("before the end: %+v", p)
		}
		if st := c.Status(); st.Phase != (vocab.Phase{}) {
			t.Errorf("the status before the end: %+v", st.Phase)
		}
		testweb.Must(t, c.Run(ctx))
		p, st := c.Phase(), c.Status()
		testweb.Must(t, c.Close())
		if st.Phase.Name != p.Name || st.Phase.Step != p.Step || st.State != vocab.Finishing || st.RequestsPerPage < 1 {
			t.Errorf("interrupted %v: the status has phase %+v, state %s, %v requests a page", interrupted, st.Phase, st.State, st.RequestsPerPage)
		}
		want := vocab.Phase{Name: "computing ranks", Step: 6, Steps: 6, Share: 1}
		if interrupted {
			want = vocab.Phase{Name: "making the last pages searchable", Step: 4, Steps: 6, Share: -1}
		}
		if p.Took = 0; p != want {
			t.Errorf("interrupted %v: %+v, want %+v", interrupted, p, want)
		}
	}
}

// TestTimeLeft: the rest takes as long for its size as what is done.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		share float64
		took  time.Duration
		want  time.Duration
		known bool
	}{
		{.25, 10 * time.Second, 30 * time.Second, true},
		{1, 10 * time.Second, 0, true},
		{.01, 10 * time.Second, 0, false},
		{-1, 10 * time.Second, 0, false},
		{.5, 10 * time.Millisecond, 0, false},
	} {
		p := vocab.Phase{Share: c.share, Took: c.took}
		if left, ok := p.Left(); left != c.want || ok != c.known {
			t.Errorf("%v after %v: %v, %v", c.share, c.took, left, ok)
		}
	}
}
