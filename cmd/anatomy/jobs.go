package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/history"
	"anatomy/cmd/anatomy/internal/progress"
	"anatomy/cmd/anatomy/internal/rankpage"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/cmd/anatomy/internal/schedule"
	"anatomy/cmd/anatomy/internal/sharded"
	"anatomy/cmd/anatomy/internal/tuning"
	"anatomy/collection"
	"anatomy/disk/crawllog"
	"anatomy/engine"
	"anatomy/internal/plural"
	"anatomy/ranking"
	"anatomy/upkeep"
	"anatomy/web/admin"
)

// jobs run the jobs of the admin page in the process of the server. When the server ends, the
// running job ends as with Ctrl-C, and a crawl keeps what it fetched. jobs implements admin.Jobs.
type jobs struct {
	dir   string
	log   *slog.Logger
	site  *collection.Site
	tuned *tuning.Files // nil: weights are not learnt
	local []string      // flags of all crawls
	next  chan *job     // unbuffered: a send fails while a job runs

	mu    sync.Mutex
	jobs  []*job // newest first, at most keptJobs
	count int
}

// keptJobs bounds the list of jobs.
const keptJobs = 20

// A job runs or has ended. The lock of jobs guards its fields.
type job struct {
	admin.Job
	page []byte
	work func(ctx context.Context, t *job) (said string, err error)
	say  func() string // returns the progress; nil if unknown
}

func newJobs(dir string, site *collection.Site, log *slog.Logger) *jobs {
	return &jobs{dir: dir, log: log, site: site, next: make(chan *job)}
}

// run runs jobs until ctx ends.
func (j *jobs) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case t := <-j.next:
			said, err := t.work(ctx, t)
			j.finish(ctx, t, said, err)
		}
	}
}

func (j *jobs) finish(ctx context.Context, t *job, said string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t.Ended, t.Said, t.say = time.Now(), said, nil
	switch {
	case err != nil && !cli.IsInterrupted(err):
		t.Failed, t.Said = true, cli.ErrorText(err)
		j.log.Error("job failed", "job", t.Name, "error", err)
	case ctx.Err() != nil:
		t.Failed, t.Said = true, "The server ended."
	}
	t.HasPage = t.page != nil
}

var errBusy = errors.New("Another job is running. Wait until it ends.")

// Begin begins a job. It fails while another one runs.
func (j *jobs) Begin(o admin.JobOptions) error {
	t := &job{}
	switch {
	case o.Rank:
		t.Name, t.work = "ranks", j.rank(o)
	case o.Learn && j.tuned != nil:
		t.Name, t.Learns, t.work = "weights", true, j.learn
	default:
		options, kept, err := j.crawlOptions(o)
		if err != nil {
			return err
		}
		t.Name, t.work = crawlName(o), j.crawl(options, kept, crawllog.AdminPage)
	}
	return j.begin(t)
}

// beginScheduled begins the recrawl of a schedule. It fails while another job runs.
func (j *jobs) beginScheduled(s schedule.Schedule) error {
	options, kept, err := j.crawlOptions(admin.JobOptions{Recrawl: true})
	if err != nil {
		return err
	}
	options.URLs.Recrawl.Ahead = s.Ahead()
	t := &job{work: j.crawl(options, kept, crawllog.Schedule)}
	t.Name = "scheduled recrawl"
	return j.begin(t)
}

// begin starts a job, unless another one runs.
func (j *jobs) begin(t *job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case j.next <- t:
	default:
		return errBusy
	}
	j.count++
	t.Number, t.Began = j.count, time.Now()
	j.jobs = slices.Insert(j.jobs, 0, t)
	j.jobs = j.jobs[:min(len(j.jobs), keptJobs)]
	return nil
}

// List returns the running job and earlier ones, newest first.
func (j *jobs) List() []admin.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]admin.Job, len(j.jobs))
	for i, t := range j.jobs {
		all[i] = t.Job
		if t.say != nil {
			all[i].Said = t.say()
		}
	}
	return all
}

// RankPage returns the report of a job, or nil.
func (j *jobs) RankPage(number int) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range j.jobs {
		if t.Number == number && t.HasPage {
			return t.page
		}
	}
	return nil
}

// report sets the function that describes the progress of a job.
func (j *jobs) report(t *job, say func() string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t.say = say
}

func (j *jobs) rank(o admin.JobOptions) func(context.Context, *job) (string, error) {
	return func(ctx context.Context, t *job) (string, error) {
		options := ranking.Options{}
		options.Damping = o.Damping
		r, err := ranking.Compute(ctx, j.dir, options)
		if err != nil {
			return "", err
		}
		var page bytes.Buffer
		if err := rankpage.Render(&page, r); err != nil {
			return "", err
		}
		t.page = page.Bytes()
		return fmt.Sprintf("%s, %s, damping %g; %s", plural.Count(r.Pages, "page"), plural.Count(r.Links, "link"), r.Damping, rankpage.Iterations(len(r.Residuals), r.Residuals[len(r.Residuals)-1], r.Tolerance)), nil
	}
}

// learn learns weights from the judged queries.
func (j *jobs) learn(ctx context.Context, t *job) (string, error) {
	return j.tuned.Learn(ctx, func(said string) { j.report(t, func() string { return said }) })
}

func crawlName(o admin.JobOptions) string {
	name := "crawl, where the last one stopped"
	if len(o.URLs) > 0 {
		name = "crawl of " + o.URLs[0]
	}
	if len(o.URLs) > 1 {
		name += fmt.Sprintf(" and %d more", len(o.URLs)-1)
	}
	return name
}

// crawlOptions returns the options of a crawl as the crawl command would set them, and the rules
// that the data folder keeps.
func (j *jobs) crawlOptions(o admin.JobOptions) (engine.Options, *rules.Rules, error) {
	global := &cli.GlobalFlags{Data: j.dir}
	c, f := newCrawlFlags(global)
	c.SetContext(context.Background())
	flags := slices.Clone(j.local)
	if len(o.URLs) > 0 && o.Scope != "" { // a crawl that continues keeps its scope
		flags = append(flags, "--scope="+o.Scope)
	}
	if o.MaxPages > 0 {
		flags = append(flags, fmt.Sprintf("--max-pages=%d", o.MaxPages))
	}
	if o.Recrawl {
		flags = append(flags, "--recrawl")
	}
	if err := c.ParseFlags(flags); err != nil {
		return engine.Options{}, nil, err
	}
	kept, err := rules.Read(c, j.dir, ruleFlags(false))
	if err != nil {
		return engine.Options{}, nil, err
	}
	kept.AddURLs(o.URLs)
	options, err := f.options(c, global, j.log, o.URLs)
	options.Damage = j.site.Damage
	if err == nil && f.contact == "" && f.agent == "" && !f.private {
		err = errors.New("The operators of the crawled sites need a contact: start the server with ANATOMY_CONTACT set to a mail or web address.")
	}
	return options, kept, err
}

// crawl returns the work of a crawl. by is a constant of crawllog: the trigger of the crawl.
func (j *jobs) crawl(o engine.Options, kept *rules.Rules, by string) func(context.Context, *job) (string, error) {
	return func(ctx context.Context, t *job) (string, error) {
		c, err := sharded.Open(ctx, o, 0)
		if err != nil {
			return "", err
		}
		if err := kept.Keep(); err != nil {
			return "", errors.Join(err, c.Close())
		}
		before := c.Stats()
		run := history.Begin(&o, by, before)
		j.report(t, func() string {
			s := c.Stats()
			return fmt.Sprintf("%s, %d queued, %s, %d searchable", plural.Count(s.Pages, "page"), s.Queued, plural.Count(s.Errors(), "error"), s.Searchable)
		})
		err = c.Run(ctx)
		stats := c.Stats()
		j.report(t, nil)
		first, _, _ := strings.Cut(progress.Summary(before, stats, false), "\n")
		return first, errors.Join(err, run.End(stats, c.Status().Errors, ctx.Err() != nil, err), c.Close())
	}
}

// followSchedule begins recrawls by the schedule in the rules of the data folder, until ctx ends.
func (j *jobs) followSchedule(ctx context.Context) error {
	failure := ""
	return schedule.Run(ctx, func() (schedule.Schedule, time.Time) {
		s, last, err := schedule.Read(j.dir)
		if err != nil && err.Error() != failure { // once
			j.log.Error("schedule of recrawls", "error", err)
		}
		failure = ""
		if err != nil {
			failure = err.Error()
		}
		return s, last
	}, func(s schedule.Schedule) bool {
		err := j.beginScheduled(s)
		if err != nil && !errors.Is(err, errBusy) {
			j.log.Error("recrawl not started", "error", err)
		}
		return !errors.Is(err, errBusy)
	})
}

// Holdings measures the collection.
func (j *jobs) Holdings(ctx context.Context) (*collection.Holdings, error) {
	return j.site.Holdings(ctx)
}

// Remove blocks pages permanently.
func (j *jobs) Remove(ctx context.Context, targets []string) (string, error) {
	r, err := upkeep.Block(ctx, j.dir, targets)
	return blocked(&r) + ".", err
}

// Restore unblocks pages.
func (j *jobs) Restore(ctx context.Context, targets []string) (string, error) {
	r, err := upkeep.Unblock(ctx, j.dir, targets)
	return unblocked(&r) + ".", err
}

// Removed lists the patterns of blocked pages.
func (j *jobs) Removed(ctx context.Context) ([]string, error) { return upkeep.Blocked(ctx, j.dir) }
