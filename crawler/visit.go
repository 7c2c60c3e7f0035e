package crawler

import (
	"context"
	"time"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A visit is the processing of one lease.
type visit struct {
	*pacer
	o       *Options
	lease   *vocab.Lease
	origins *origins
	fetcher *fetcher
	missing *missingPages
	handled func() // see Options.Ready; nil if not to be called
	sought  bool   // findSitemap was called

	resources map[string]*vocab.Resource // by URL, which scripts of its pages have loaded
	loaded    int64                      // bytes of their bodies
}

// target fetches one URL and returns its outcome.
func (v *visit) target(ctx context.Context, t vocab.Target) vocab.Fetch {
	f := vocab.Fetch{Target: t}
	if v.isOver(ctx, &f) {
		return f
	}
	u, err := weburl.Parse(t.URL)
	if err != nil {
		setOutcome(&f, vocab.Refused, err.Error())
		return f
	}
	if why := v.silent[u.Origin()]; why != "" {
		setOutcome(&f, vocab.Skipped, why)
		return f
	}
	o := v.origins.get(ctx, &u, t.Tries)
	if v.lease.FindSitemap && !v.sought && o.rules != nil {
		v.sought = true
		v.findSitemap(ctx, o)
	}
	switch {
	case o.rules == nil && ctx.Err() != nil:
		setOutcome(&f, vocab.Skipped, interrupted)
	case o.rules == nil && o.reported:
		setOutcome(&f, vocab.Skipped, o.reason)
	case o.rules == nil:
		o.reported = o.outcome == vocab.Failed // a permanent outcome applies to every target
		f.RetryAfter = o.retryAfter
		setOutcome(&f, o.outcome, o.reason)
	case !o.rules.Allowed(u.PathAndQuery()):
		setOutcome(&f, vocab.Forbidden, "robots.txt forbids it")
	case v.isOver(ctx, &f):
	case !v.wait(ctx) || !v.ready(ctx):
		setOutcome(&f, vocab.Skipped, interrupted)
	case v.o.Confirm != nil && t.Kind != vocab.IconTarget && !v.o.Confirm(t.Doc):
		setOutcome(&f, vocab.Skipped, "URLs of its shape lead to no pages")
	default:
		v.fetcher.fetch(ctx, &u, &f)
		v.checkMissing(ctx, &u, &f)
		v.render(ctx, &f)
	}
	return f
}

// isOver reports whether the visit was stopped, and makes the target Skipped in that case.
func (v *visit) isOver(ctx context.Context, f *vocab.Fetch) bool {
	switch {
	case v.stop != "":
		setOutcome(f, vocab.Skipped, v.stop)
	case ctx.Err() != nil:
		setOutcome(f, vocab.Skipped, interrupted)
	default:
		return false
	}
	return true
}

// ready blocks until a page may be fetched. It returns false if ctx is done.
func (v *visit) ready(ctx context.Context) bool {
	if v.o.Ready == nil {
		return true
	}
	v.activity.set("processor")
	var err error
	v.handled, err = v.o.Ready(ctx)
	return err == nil
}

// finish completes the report.
func (v *visit) finish(connect time.Duration) vocab.HostReport {
	v.report.ConnectTime, v.report.Requests, v.report.Closed = connect, v.answers, v.closed
	if v.answers > 0 {
		v.report.AnswerTime = v.took / time.Duration(v.answers)
	}
	return v.report
}
