package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"anatomy/control"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine/internal/favicon"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// ErrEnding is the error of a change to a crawl that is about to end.
var ErrEnding = errors.New("the crawl is about to end: try again in a moment")

// BlockPatterns converts targets to patterns of weburl.Filter. A target is a URL, a site
// ("example.org" includes all its hosts and ports), or a pattern of URLs with stars.
func BlockPatterns(targets []string) (patterns []string, err error) {
	for _, target := range targets {
		t := strings.TrimSpace(target)
		switch {
		case strings.Trim(t, "*/:.") == "" || strings.ContainsAny(t, " \t\n"):
			return nil, fmt.Errorf("%q is not a URL, a site or a pattern of URLs", target)
		case strings.Contains(t, "*"):
			patterns = append(patterns, t)
			continue
		}
		u, err := weburl.ParseTyped(t)
		if err != nil {
			return nil, err
		}
		_, rest, _ := strings.Cut(u.String(), "://")
		if strings.Contains(t, "/") {
			patterns = append(patterns, rest)
		} else {
			patterns = append(patterns, rest+"*", "*."+rest+"*")
			if host := strings.TrimSuffix(rest, "/"); !strings.Contains(host, ":") { // all ports
				patterns = append(patterns, host+":*", "*."+host+":*")
			}
		}
	}
	return patterns, nil
}

// Block blocks the pages of the targets, see BlockPatterns. They leave the results at once, and no
// run fetches them until Unblock.
func (c *Crawl) Block(ctx context.Context, targets []string) (control.BlockReport, error) {
	return changeBlocks(ctx, c.stages, &c.intake, targets, func(patterns []string) ([]string, error) {
		err := c.urls.Block(patterns)
		c.visits.cancel(func(host string) bool {
			u, err := weburl.Parse("http://" + host + "/")
			return err == nil && c.urls.IsBlocked(&u)
		})
		return patterns, err
	})
}

// Unblock lifts the blocks of targets. Pages that are still in the repository are restored without
// a fetch, even if they are out of scope; others are fetched again by this crawl or the next.
func (c *Crawl) Unblock(ctx context.Context, targets []string) (control.BlockReport, error) {
	return changeBlocks(ctx, c.stages, &c.intake, targets, c.urls.Unblock)
}

// Blocked returns the blocked patterns.
func (c *Crawl) Blocked() []string { return c.urls.Blocked() }

// changeBlocks calls change, which returns the patterns that changed, and enforces them.
func changeBlocks(
	ctx context.Context, s *stages, n *intake, targets []string, change func([]string) ([]string, error),
) (report control.BlockReport, err error) {
	patterns, err := BlockPatterns(targets)
	if err != nil {
		return report, err
	}
	if !s.gate.enter() {
		return report, ErrEnding
	}
	defer s.gate.leave()
	if report.Patterns, err = change(patterns); err != nil || len(report.Patterns) == 0 {
		return report, err
	}
	err = enforceBlocks(ctx, s, n, &report)
	s.wakeDispatcher()
	return report, err
}

// enforceBlocks updates the document index and the index to the blocked patterns.
func enforceBlocks(
	ctx context.Context, s *stages, n *intake, report *control.BlockReport,
) error {
	lifted := map[vocab.DocID]uint16{} // with their depths
	icons := favicon.NewRemover(s.dir, s.urls.IsBlocked)
	err := s.urls.EachBlockMismatch(func(r docindex.Record, blocked bool) error {
		if blocked {
			if err := icons.Remove(r.URL); err != nil { // first: after a crash the document is visited again
				return err
			}
			reserved, err := s.urls.Reserve(r.Doc)
			if !reserved || err != nil {
				return err // the document is in flight, and its outcome will be Blocked
			}
			o := &outcome{result: urlserver.Result{Doc: r.Doc, Outcome: vocab.Blocked}}
			if r.Fetch != nil && r.History.Visits > 0 {
				o.before = &r
			}
			s.events <- o
		} else {
			lifted[r.Doc] = r.Depth
		}
		if u, err := weburl.Parse(r.URL); err == nil && !s.isForeign(&u) {
			report.Documents++
		}
		if r.IsPage() {
			report.Pages++
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if report.Restored, err = restore(ctx, s, n, lifted); err != nil {
		return err
	}
	s.inTurn(func(context.Context) error { return nil })
	if err := s.urls.Err(); err != nil {
		return err
	}
	if !s.noIndex {
		if err := s.builder.Flush(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return s.urls.BlockDone()
}

// finishBlocking completes a Block or Unblock that a crash interrupted.
func finishBlocking(ctx context.Context, s *stages, n *intake) error {
	pending, err := s.urls.BlockPending()
	if err != nil || !pending {
		return err
	}
	return enforceBlocks(ctx, s, n, &control.BlockReport{})
}

// unblock queues a document whose block was lifted, and removes the block from the index.
func unblock(ctx context.Context, s *stages, doc vocab.DocID) error {
	if err := s.urls.Restore(doc); err != nil || s.noIndex {
		return err
	}
	if s.builder.Contains(doc) {
		if err := s.builder.Flush(ctx); err != nil {
			return err
		}
	}
	s.builder.AddLinkedOnly(doc)
	return nil
}

// restore restores documents whose block was lifted from the repository, or queues them if it has
// no record. It returns the number of restored documents, which are then committed. docs has the
// depth of each document.
func restore(
	ctx context.Context, s *stages, n *intake, docs map[vocab.DocID]uint16,
) (int, error) {
	if len(docs) == 0 {
		return 0, nil
	}
	kept, err := s.repo.Newest(ctx, slices.Collect(maps.Keys(docs)))
	if err != nil {
		return 0, err
	}
	claimed := map[vocab.DocID]*repository.Record{} // set by the committer until inTurn returns
	for doc := range docs {
		s.events <- &barrier{do: func(ctx context.Context) error {
			if err := unblock(ctx, s, doc); err != nil {
				return err
			}
			record := kept[doc]
			if record == nil {
				return nil
			}
			u, err := weburl.Parse(record.Page.URL)
			if err != nil {
				return nil // from another version of the program: it is fetched
			}
			claim, err := s.urls.Claim(doc, &u, record.Page.Fetched)
			if err == nil && claim == urlserver.Claimed {
				claimed[doc] = record
			}
			return err
		}}
	}
	s.inTurn(func(context.Context) error { return nil })
	for doc, record := range claimed {
		f := fetchOf(record)
		f.Depth = docs[doc]
		n.accept(ctx, f, &outcome{result: urlserver.Result{
			Doc: doc, Outcome: vocab.Fetched, Status: 200, Fetched: record.Page.Fetched,
		}})
	}
	return len(claimed), waitFetched(ctx, s, claimed)
}

// fetchOf returns the fetch that a record describes.
func fetchOf(record *repository.Record) vocab.Fetch {
	page := &record.Page
	f := vocab.Fetch{
		Target:  vocab.Target{Doc: page.Doc, URL: page.URL},
		Outcome: vocab.Fetched, Status: 200, Page: page, Bytes: int64(len(page.Body)),
	}
	if record.Kind == repository.RedirectRecord {
		f.Outcome, f.Status, f.Location, f.Page = vocab.Redirected, 0, record.Location, nil
	}
	return f
}

// waitFetched blocks until the outcomes of documents are committed.
func waitFetched(ctx context.Context, s *stages, docs map[vocab.DocID]*repository.Record) error {
	for doc := range docs {
		for {
			r, ok, err := s.urls.Get(doc)
			if err := cmp.Or(err, ctx.Err(), s.urls.Err()); err != nil {
				return err
			}
			if !ok || r.Fetch != nil {
				break
			}
			s.store.Hurry()
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}
