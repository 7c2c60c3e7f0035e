package collective_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// A busyWeb has many sites at one address, and counts how many requests it answers at once.
type busyWeb struct {
	*testweb.Web
	now, most atomic.Int64
}

const busySites, busyPages = 16, 6

func newBusyWeb(t *testing.T) *busyWeb {
	w := &busyWeb{Web: testweb.New(t)}
	for site := range busySites {
		for page := range busyPages {
			body := fmt.Sprintf("<p>page %d of site %d", page, site)
			for other := range busySites {
				body += fmt.Sprintf(" <a href=http://site%d.test/%d>to %d</a>", other, (page+1)%busyPages, other)
			}
			w.Handle(fmt.Sprintf("site%d.test/%d", site, page), func(to http.ResponseWriter, _ *http.Request) {
				if n := w.now.Add(1); n > w.most.Load() {
					w.most.Store(n)
				}
				time.Sleep(5 * time.Millisecond)
				w.now.Add(-1)
				to.Header().Set("Content-Type", "text/html")
				fmt.Fprint(to, body)
			})
		}
	}
	return w
}

// TestBoundsOfAll checks that what is bounded for the whole crawl is not bounded for each shard.
func TestBoundsOfAll(t *testing.T) {
	for name, bound := range map[string]func(*engine.Options){
		"address":     func(o *engine.Options) { o.URLs.PerAddress = 3; o.Connections = 64 },
		"connections": func(o *engine.Options) { o.Connections = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			web := newBusyWeb(t)
			o := web.Options(filepath.Join(t.TempDir(), "many"), "http://site0.test/0")
			bound(&o)
			stats := crawl(t, o, 4)
			if most := web.most.Load(); most > 3 || most < 2 || stats.Pages != busySites*busyPages {
				t.Errorf("%d requests at once, %d pages", most, stats.Pages)
			}
			for key, n := range web.Requests() {
				if n > 1 {
					t.Errorf("%d requests for %s", n, key)
				}
			}
		})
	}
	t.Run("pages", func(t *testing.T) {
		o := newBusyWeb(t).Options(filepath.Join(t.TempDir(), "many"), "http://site0.test/0")
		o.URLs.MaxPages = 21
		if stats := crawl(t, o, 4); stats.Pages != 21 {
			t.Errorf("%d pages, want 21", stats.Pages)
		}
	})
}

// TestSteering steers a crawl that watches its pages.
func TestSteering(t *testing.T) {
	web := newBusyWeb(t)
	web.Page("new.test/", "new page")
	o := web.Options(filepath.Join(t.TempDir(), "many"), "http://site0.test/0")
	o.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	o.URLs.MaxPages = 0
	c, err := collective.Open(t.Context(), o, 3)
	testweb.Must(t, err)
	done := make(chan error, 1)
	ctx, stop := contextWithStop(t)
	go func() { done <- c.Run(ctx) }()
	until(t, done, func() bool { return c.Stats().Pages == busySites*busyPages })
	c.Pause()
	if s := c.Status(); s.State != vocab.Paused || s.Pages != busySites*busyPages {
		t.Errorf("paused: %s, %d pages", s.State, s.Pages)
	}
	c.Resume()
	added, err := c.AddSeeds([]string{"http://new.test/", "http://site1.test/1"})
	if err != nil || len(added) != 2 || added[0].URL != "http://new.test/" {
		t.Errorf("%v, %v", added, err)
	}
	until(t, done, func() bool { return c.Stats().Pages == busySites*busyPages+1 })
	steps, err := c.Trace("http://new.test/")
	if err != nil || len(steps) != 1 || steps[0].URL != "http://new.test/" {
		t.Errorf("%v, %v", steps, err)
	}
	report, err := c.Block(t.Context(), []string{"site2.test", "site3.test"})
	if err != nil || report.Pages != 2*busyPages {
		t.Errorf("%+v, %v", report, err)
	}
	if blocked := c.Blocked(); len(blocked) != 8 {
		t.Errorf("blocked: %q", blocked)
	}
	// The crawl watches its pages, so that one of the site may be in a visit.
	if report, err = c.Unblock(t.Context(), []string{"site3.test"}); err != nil || report.Restored < busyPages-1 || report.Restored > busyPages {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := c.Remove("site4.test"); err != nil {
		t.Error(err)
	}
	if site := c.SetDelay("www.site5.test", time.Second); site != "site5.test" {
		t.Error(site)
	}
	stop()
	testweb.Must(t, <-done)
	testweb.Must(t, c.Close())
	testweb.Checked(t, o.Dir)
}

// TestRefusals checks which folders a crawl into shards refuses.
func TestRefusals(t *testing.T) {
	web := testweb.Generate(t, 5, 20, 0)
	o := web.Options(filepath.Join(t.TempDir(), "many"), web.Seed)
	if _, err := collective.Open(t.Context(), o, 0); err == nil {
		t.Error("a crawl without a number of shards begins in a new folder")
	}
	testweb.Must(t, os.RemoveAll(o.Dir))
	testweb.Must(t, os.MkdirAll(o.Dir, 0o700)) // a kill may leave a temporary file and no SHARDS
	testweb.Must(t, os.WriteFile(filepath.Join(o.Dir, "SHARDS.tmp"), nil, 0o600))
	crawl(t, o, 2)
	count := new(collective.CountError)
	if _, err := collective.Open(t.Context(), o, 3); !errors.As(err, &count) || count.Have != 2 {
		t.Errorf("another number of shards: %v", err)
	}
	m, err := shards.Read(o.Dir)
	testweb.Must(t, err)
	m.Suffixes = "another list"
	testweb.Must(t, m.Write(o.Dir))
	if _, err := collective.Open(t.Context(), o, 2); !errors.As(err, new(*collective.SuffixError)) {
		t.Errorf("another public suffix list: %v", err)
	}
	if _, err := collective.NewMembers(o); !errors.As(err, new(*collective.SuffixError)) {
		t.Errorf("another public suffix list of a node's shards: %v", err)
	}
	if _, err := engine.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "folder of shards") {
		t.Errorf("a crawl of one folder: %v", err)
	}
	o.Dir = filepath.Join(o.Dir, "shard-1")
	if _, err := engine.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "shard") {
		t.Errorf("a crawl of one shard: %v", err)
	}
	one := web.Options(filepath.Join(t.TempDir(), "one"), web.Seed)
	testweb.Crawl(t, one)
	if _, err := collective.Open(t.Context(), one, 2); !errors.Is(err, collective.ErrNotShards) {
		t.Errorf("a data folder: %v", err)
	}
}
