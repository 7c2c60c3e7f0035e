package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// ErrEnding says that a crawl takes no more orders, as it is about to end.
var ErrEnding = errors.New("the crawl is about to end: try again in a moment")

// A BanReport says what became of what was to be removed for good, or brought back.
type BanReport struct {
	Patterns  []string `json:"patterns"`  // that came into force, or went out of it
	Documents int      `json:"documents"` // known URLs that they match and that changed
	Pages     int      `json:"pages"`     // of them pages that were kept until now
}

// Ban removes pages for good: they leave the results at once and are not fetched again, over all runs, until
// Unban. A target is a URL, a site ("example.org" is all its hosts), or a pattern of URLs with stars. The crawl
// that runs on the folder does it, or else this process, which then writes to the folder.
func Ban(ctx context.Context, dir string, targets []string) (BanReport, error) {
	return orderBan(ctx, dir, "/ban", targets, (*Crawl).Ban)
}

// Unban has pages that were removed fetched again by this crawl or the next. Its targets are those that Ban
// was given.
func Unban(ctx context.Context, dir string, targets []string) (BanReport, error) {
	return orderBan(ctx, dir, "/unban", targets, (*Crawl).Unban)
}

// Bans lists the patterns of what is removed for good.
func Bans(ctx context.Context, dir string) (patterns []string, err error) {
	var answer BanReport
	if err = NewControl(dir).ask(ctx, "GET", "/bans", nil, &answer); !errors.Is(err, vocab.ErrNoCrawl) {
		return answer.Patterns, err
	}
	err = withDocuments(dir, func(db *docindex.DB) (err error) {
		patterns, err = urlserver.Banned(db)
		return err
	})
	return patterns, err
}

func orderBan(ctx context.Context, dir, path string, targets []string, do func(*Crawl, context.Context, []string) (BanReport, error)) (report BanReport, err error) {
	if err := CheckTargets(targets); err != nil {
		return report, err
	}
	err = NewControl(dir).ask(ctx, "POST", path, banRequest{targets}, &report)
	if !errors.Is(err, vocab.ErrNoCrawl) {
		return report, err
	}
	err = maintain(ctx, dir, Options{}, func(c *Crawl, ctx context.Context) (err error) {
		report, err = do(c, ctx, targets)
		return err
	})
	return report, err
}

// maintain opens a folder that is there for work that fetches nothing, does it while the stages behind a crawl
// run, and makes what came of it durable and searchable.
func maintain(ctx context.Context, dir string, o Options, work func(*Crawl, context.Context) error) error {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	m, err := datadir.Read(dir)
	if err != nil {
		return err
	}
	o.Dir, o.URLs = dir, urlserver.Options{KeepScope: true}
	o.NoIndex = o.NoIndex || m.Generation == 0 // and there is none to keep
	c, err := Open(ctx, o)
	if err != nil {
		return err
	}
	c.offline, c.brief = true, true
	err = c.run(ctx, func(ctx context.Context) error { return work(c, ctx) })
	return errors.Join(err, c.Close())
}

// CheckTargets says whether Ban and Unban make sense of targets.
func CheckTargets(targets []string) error {
	_, err := banPatterns(targets)
	return err
}

// banPatterns are the patterns of weburl.Filter that targets stand for.
func banPatterns(targets []string) (patterns []string, err error) {
	for _, target := range targets {
		t := strings.TrimSpace(target)
		switch {
		case strings.Trim(t, "*/:.") == "" || strings.ContainsAny(t, " \t\n"):
			return nil, fmt.Errorf("%q is no URL, no site, and no pattern of URLs", target)
		case strings.Contains(t, "*"):
			patterns = append(patterns, t)
			continue
		}
		u, err := ParseSeed(t)
		if err != nil {
			return nil, err
		}
		_, rest, _ := strings.Cut(u.String(), "://")
		if strings.Contains(t, "/") {
			patterns = append(patterns, rest)
		} else {
			patterns = append(patterns, rest+"*", "*."+rest+"*")
		}
	}
	return patterns, nil
}

// Ban is the function Ban for a crawl that runs.
func (c *Crawl) Ban(ctx context.Context, targets []string) (BanReport, error) {
	return c.ban(ctx, targets, func(patterns []string) ([]string, error) {
		err := c.urls.Ban(patterns)
		c.visits.recall(func(host string) bool {
			u, err := weburl.Parse("http://" + host + "/")
			return err == nil && c.urls.IsBanned(&u)
		})
		return patterns, err
	})
}

// Unban is the function Unban for a crawl that runs.
func (c *Crawl) Unban(ctx context.Context, targets []string) (BanReport, error) {
	return c.ban(ctx, targets, c.urls.Unban)
}

func (c *Crawl) ban(ctx context.Context, targets []string, change func([]string) ([]string, error)) (report BanReport, err error) {
	patterns, err := banPatterns(targets)
	if err != nil {
		return report, err
	}
	if !c.orders.begin() {
		return report, ErrEnding
	}
	defer c.orders.end()
	if report.Patterns, err = change(patterns); err != nil || len(report.Patterns) == 0 {
		return report, err
	}
	err = c.enforceBans(ctx, &report)
	c.stir()
	return report, err
}

// enforceBans brings records and index in agreement with the patterns that are banned.
func (c *Crawl) enforceBans(ctx context.Context, report *BanReport) error {
	err := c.urls.EachBanned(func(r docindex.Record, banned bool) error {
		if banned {
			seized, err := c.urls.Seize(r.Doc)
			if !seized || err != nil {
				return err // its fetch is under way, and comes to the same
			}
			s := settled{result: urlserver.Result{Doc: r.Doc, Outcome: vocab.Removed}}
			if r.Fetch != nil && r.History.Visits > 0 {
				s.before = &r
			}
			c.settle(s)
		} else {
			c.settle(settled{do: func(ctx context.Context) error { return c.restore(ctx, r.Doc) }})
		}
		report.Documents++
		if r.IsPage() {
			report.Pages++
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	c.inTurn(func(context.Context) error { return nil })
	if err := c.urls.Err(); err != nil {
		return err
	}
	if !c.o.NoIndex {
		if err := c.builder.Flush(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return c.urls.BanDone()
}

// finishBans does what a crash cut off of a ban.
func (c *Crawl) finishBans(ctx context.Context) error {
	pending, err := c.urls.BanPending()
	if err != nil || !pending {
		return err
	}
	return c.enforceBans(ctx, &BanReport{})
}

// restore has a document whose ban was lifted fetched again, and the index forget that it was banned.
func (c *Crawl) restore(ctx context.Context, doc vocab.DocID) error {
	if err := c.urls.Restore(doc); err != nil || c.o.NoIndex {
		return err
	}
	if c.builder.Holds(doc) {
		if err := c.builder.Flush(ctx); err != nil {
			return err
		}
	}
	c.builder.Release(doc)
	return nil
}

// isBanned says whether a URL is removed for good.
func (c *Crawl) isBanned(url string) bool {
	u, err := weburl.Parse(url)
	return err == nil && c.urls.IsBanned(&u)
}

// orders are what others have a crawl do that goes through its stages, which must not end meanwhile. The zero
// value takes none.
type orders struct {
	mu   sync.RWMutex
	open bool
}

// begin says whether the stages run; then they do until end.
func (o *orders) begin() bool {
	o.mu.RLock()
	if !o.open {
		o.mu.RUnlock()
	}
	return o.open
}

func (o *orders) end() { o.mu.RUnlock() }

// set opens or closes; it waits for orders under way.
func (o *orders) set(open bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open = open
}
