package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/web"
	"anatomy/weburl"
)

// A desk does the work that is begun on the dashboard, in the process of the server: it ends with it,
// as Ctrl-C ends a crawl, and what was fetched is kept. It implements web.Desk.
type desk struct {
	dir   string
	log   *slog.Logger
	site  *engine.Site
	local engine.Options // of crawls, where they differ from the defaults: for tests
	next  chan *task     // holds none: who gives one is told whether it was taken

	mu    sync.Mutex
	tasks []*task // newest first, at most keptTasks
	count int
}

// keptTasks are how many are remembered.
const keptTasks = 20

// A task is work under way, or its end. What may change is guarded by the desk.
type task struct {
	web.Task
	page []byte
	work func(ctx context.Context, t *task) (said string, err error)
	say  func() string // how far it is; nil where it cannot tell
}

func newDesk(dir string, site *engine.Site, log *slog.Logger) *desk {
	return &desk{dir: dir, log: log, site: site, next: make(chan *task)}
}

// run works until ctx ends.
func (d *desk) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case t := <-d.next:
			said, err := t.work(ctx, t)
			d.finish(ctx, t, said, err)
		}
	}
}

func (d *desk) finish(ctx context.Context, t *task, said string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Ended, t.Said, t.say = time.Now(), said, nil
	switch {
	case err != nil && !isInterrupted(err):
		t.Failed, t.Said = true, message(err)
		d.log.Error("work of the dashboard failed", "work", t.Name, "error", err)
	case ctx.Err() != nil:
		t.Failed, t.Said = true, "The server ended."
	}
	t.HasPage = t.page != nil
}

var errAtWork = errors.New("Other work runs: wait for its end.")

// Begin begins work where none runs.
func (d *desk) Begin(o web.Order) error {
	t := &task{}
	if o.Rank {
		t.Name, t.work = "ranks", d.rank(o)
	} else {
		options, err := d.crawlOptions(o)
		if err != nil {
			return err
		}
		t.Name, t.work = crawlName(o), d.crawl(options)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case d.next <- t:
	default:
		return errAtWork
	}
	d.count++
	t.Number, t.Began = d.count, time.Now()
	d.tasks = slices.Insert(d.tasks, 0, t)
	d.tasks = d.tasks[:min(len(d.tasks), keptTasks)]
	return nil
}

// Tasks are those that run and ran.
func (d *desk) Tasks() []web.Task {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]web.Task, len(d.tasks))
	for i, t := range d.tasks {
		all[i] = t.Task
		if t.say != nil {
			all[i].Said = t.say()
		}
	}
	return all
}

// RankPage is the report of a task.
func (d *desk) RankPage(number int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tasks {
		if t.Number == number && t.HasPage {
			return t.page
		}
	}
	return nil
}

// tell has the task say how far it is.
func (d *desk) tell(t *task, say func() string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t.say = say
}

func (d *desk) rank(o web.Order) func(context.Context, *task) (string, error) {
	return func(ctx context.Context, t *task) (string, error) {
		options := engine.RankOptions{}
		options.Damping = o.Damping
		r, err := engine.Rank(ctx, d.dir, options)
		if err != nil {
			return "", err
		}
		var page bytes.Buffer
		if err := renderRankPage(&page, r); err != nil {
			return "", err
		}
		t.page = page.Bytes()
		return fmt.Sprintf("%s, %s, damping %g; %s", counted(r.Pages, "page"), counted(r.Links, "link"), r.Damping, iterations(len(r.Residuals), r.Residuals[len(r.Residuals)-1], r.Tolerance)), nil
	}
}

func crawlName(o web.Order) string {
	name := "crawl, where the last one stopped"
	if len(o.URLs) > 0 {
		name = "crawl of " + o.URLs[0]
	}
	if len(o.URLs) > 1 {
		name += fmt.Sprintf(" and %d more", len(o.URLs)-1)
	}
	return name
}

func (d *desk) crawlOptions(o web.Order) (engine.Options, error) {
	options := d.local
	options.Dir, options.Log, options.Seeds, options.PDF = d.dir, d.log, o.URLs, readPDF()
	for _, u := range o.URLs {
		if _, err := engine.ParseSeed(u); err != nil {
			return options, err
		}
	}
	scope, err := weburl.ParseScope(cmp.Or(o.Scope, "domain"))
	if err != nil {
		return options, err
	}
	options.URLs.Scope, options.URLs.MaxPages = scope, o.MaxPages
	if o.Recrawl {
		options.URLs.Recrawl.Mode = urlserver.RecrawlDue
	}
	options.Crawler.Contact = cmp.Or(options.Crawler.Contact, os.Getenv("ANATOMY_CONTACT"))
	if options.Crawler.Contact == "" && !options.Crawler.AllowPrivate {
		return options, errors.New("The sites that are visited could not reach you: begin the server with ANATOMY_CONTACT set to an address of mail or of a page.")
	}
	return options, nil
}

func (d *desk) crawl(o engine.Options) func(context.Context, *task) (string, error) {
	return func(ctx context.Context, t *task) (string, error) {
		c, err := engine.Open(ctx, o)
		if err != nil {
			return "", err
		}
		before := c.Stats()
		d.tell(t, func() string {
			s := c.Stats()
			return fmt.Sprintf("%s, %d queued, %s, %d searchable", counted(s.Pages, "page"), s.Queued, counted(s.Errors(), "error"), s.Searchable)
		})
		err = c.Run(ctx)
		stats := c.Stats()
		d.tell(t, nil)
		first, _, _ := strings.Cut(summary(before, stats, false), "\n")
		return first, errors.Join(err, c.Close())
	}
}

// Holdings measures the collection.
func (d *desk) Holdings(ctx context.Context) (*web.Holdings, error) { return d.site.Holdings(ctx) }

// Remove takes pages out of the results for good.
func (d *desk) Remove(ctx context.Context, targets []string) (string, error) {
	r, err := engine.Ban(ctx, d.dir, targets)
	return fmt.Sprintf("%s removed, %s among them.", counted(r.Documents, "document"), counted(r.Pages, "page")), err
}

// Restore brings pages back.
func (d *desk) Restore(ctx context.Context, targets []string) (string, error) {
	r, err := engine.Unban(ctx, d.dir, targets)
	return fmt.Sprintf("%s fetched again by the crawl that runs, or by the next, %s among them.", counted(r.Documents, "document"), counted(r.Pages, "page")), err
}

// Removed lists the patterns of what is out.
func (d *desk) Removed(ctx context.Context) ([]string, error) { return engine.Bans(ctx, d.dir) }
