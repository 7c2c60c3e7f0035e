package urlserver

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Result is the outcome of a URL in flight.
type Result struct {
	Doc        vocab.DocID
	Outcome    vocab.Outcome
	Status     int           // HTTP status; 0 without a response
	Reason     string        // for display
	RetryAfter time.Duration // Failed: stated by the server; 0 if it did not
	Fetched    time.Time
	Address    vocab.Address   // of the page in the repository
	Content    vocab.ContentID // of its body
	Alias      vocab.DocID     // target of a redirect, or canonical document of a duplicate
	Location   string          // Redirected: the canonical URL; optional if Alias is another document

	SignedIn bool // the request carried credentials

	Truncated vocab.Truncation // Fetched: why only a prefix of the body was stored

	Validators vocab.Validators // Fetched, Unmodified: for the next request
	Headers    uint16           // checksum of the header fields that indexing reads

	Bytes   int64         // of the body, decoded
	Parsing time.Duration // parsing time of the page
}

const (
	redirectsToSelf = "redirects to itself"
	blockReason     = "removed permanently by the operator of the crawl; anatomy remove --undo reverses it"
)

// A completion is the change of one batch of results. The changes in memory are immediate; the
// batch is applied, and durable when its Wait returns.
type completion struct {
	*change
	index   *overlay                // including the writes of the batch
	changed map[*frontier.Host]bool // hosts whose records changed
}

// complete applies results. odd is an error about documents that are not in flight; the others are
// completed. The caller waits for the batch after releasing the lock.
func (s *state) complete(results []Result) (b *docindex.Batch, odd, err error) {
	c := completion{change: s.begin(), changed: map[*frontier.Host]bool{}}
	b = c.b
	c.index = newOverlay(s.db, c.b)
	for i := range results {
		f := s.flights.inFlight[results[i].Doc]
		if f == nil {
			odd = errors.Join(odd, fmt.Errorf("document %d is not in flight", results[i].Doc))
			continue
		}
		if err := c.one(f, &results[i]); err != nil {
			return nil, nil, err
		}
	}
	for h := range c.changed {
		b.PutHost(h.Name, h.HostRecord)
	}
	s.yields.Write(b)
	c.putSites()
	b.PutCounts(&s.counts)
	if err := b.Apply(); err != nil {
		return nil, nil, err
	}
	for _, h := range c.hosts {
		s.frontier.Offer(h)
		if h.Loss != nil && h.Queued() > 0 {
			if err := s.abandonHost(h); err != nil {
				return nil, nil, err
			}
		}
	}
	return b, odd, nil
}

// one completes a document: it updates the host, the budget of the site, the record and the queues.
func (c *completion) one(f *flight, result *Result) error {
	h, pages := f.host, c.counts.Pages
	c.flights.end(f)
	c.touchHost(h)
	elsewhere := c.judgeHost(f, result)
	if result.Outcome == vocab.NotFound || result.Outcome == vocab.Unsupported {
		if err := c.countMissing(f); err != nil {
			return err
		}
	}
	if len(c.scope.blocked) > 0 {
		if err := c.block(f, result); err != nil {
			return err
		}
	}
	r := f.record
	if r.History.Visits == 0 && (result.Bytes > 0 || result.Parsing > 0) {
		c.touchSite(h).Spend(r.Kind == vocab.SitemapTarget, result.Bytes, result.Parsing)
	}
	switch {
	case result.Outcome == vocab.Skipped && !f.wasQueued():
		return nil // claimed, and unchanged
	case (result.Outcome == vocab.Skipped || elsewhere) && h.Loss == nil:
		return c.putBack(f)
	case f.wasQueued():
		c.b.DeleteQueued(f.key)
	default:
		unschedule(c.b, &r)
	}
	if err := c.decide(&r, f, result); err != nil {
		return err
	}
	c.replace(c.b, &f.record, &r)
	c.index.records[r.Doc] = &r
	if r.State == docindex.Finished && r.IsDuplicate() {
		c.index.duplicates[r.Fetch.Alias] = append(c.index.duplicates[r.Fetch.Alias], r.Doc)
		stale, err := c.index.isStale(&r) // the canonical document may have changed meanwhile
		if err == nil && stale {
			err = c.fetchWhole(&r)
		}
		if err != nil {
			return err
		}
	}
	if c.counts.Pages != pages {
		h.Pages += c.counts.Pages - pages
		c.changed[h] = true
	}
	return nil
}

// block makes the outcome of a document Blocked if its URL is.
func (c *completion) block(f *flight, result *Result) error {
	u, err := weburl.Parse(f.record.URL)
	if err == nil && c.scope.blocks.matches(&u) {
		*result = Result{
			Doc: result.Doc, Outcome: vocab.Blocked, Reason: blockReason,
			Fetched: c.now.UTC().Truncate(time.Second),
		}
	}
	return err
}

// putBack returns a document to its queue unless it was removed meanwhile.
func (c *completion) putBack(f *flight) error {
	if len(c.scope.removed) > 0 {
		u, err := weburl.Parse(f.record.URL)
		if err != nil {
			return err
		}
		if c.scope.excludes(&u) {
			r := f.record
			withdraw(&r)
			c.b.DeleteQueued(f.key)
			c.replace(c.b, &f.record, &r)
			return nil
		}
	}
	f.host.Push(f.key.Priority, f.key.Number)
	return nil
}

// judgeHost updates the health of a host from a result, and abandons a host that is down. elsewhere
// reports that the URL's origin did not answer, so that the URL is fetched at the host's other origin.
func (c *completion) judgeHost(f *flight, result *Result) (elsewhere bool) {
	h := f.host
	if h.Loss != nil {
		return false
	}
	switch result.Outcome {
	case vocab.Skipped, vocab.Forbidden, vocab.Blocked:
		return false
	case vocab.NoName:
		c.loseHost(h, vocab.NoName, result.Reason)
		return false
	}
	https := isHTTPS(f.url)
	switch {
	case result.Status != 0, result.Outcome != vocab.Failed && result.Outcome != vocab.Refused:
		h.OriginAnswered(https)
	case result.Outcome == vocab.Failed && h.OriginFailed(c.now, https) && f.hasOtherScheme():
		return true
	}
	if result.Outcome == vocab.Failed {
		c.judgeFailure(h, result)
		return false
	}
	h.Recover()
	if result.Outcome != vocab.Refused && !h.DownSince.IsZero() {
		h.DownSince, c.changed[h] = time.Time{}, true
	}
	return false
}

// judgeFailure backs off from a host after a failed visit, and abandons the host after too many
// failures: see [frontier.Host.Fail] and [frontier.Host.CountFailed].
func (c *completion) judgeFailure(h *frontier.Host, result *Result) {
	answered := result.Status != 0
	paused := answered && overloaded(result.Status) && result.RetryAfter > 0
	silent := false
	switch {
	case answered && !overloaded(result.Status):
		h.EndBackoff()
	case paused:
		h.Hold(c.now, result.RetryAfter, result.Reason)
	default:
		silent = h.Fail(c.now, answered, result.Reason)
	}
	failing := h.CountFailed(c.now, paused)
	switch {
	case silent:
		c.loseHost(h, vocab.Failed,
			fmt.Sprintf("host gave no answer %d times in a row: %s", h.Unanswered(), result.Reason))
	case failing:
		visits, since := h.Failed(c.now)
		c.loseHost(h, vocab.Failed, fmt.Sprintf("all %d requests to the host in %d minutes failed: %s",
			visits, int(since.Minutes()), result.Reason))
	}
}

// loseHost abandons a host, and records when it went down.
func (c *completion) loseHost(h *frontier.Host, outcome vocab.Outcome, reason string) {
	h.Loss = c.newLoss(outcome, reason)
	if h.DownSince.IsZero() {
		h.DownSince, c.changed[h] = c.now.UTC().Truncate(time.Second), true
	}
}

// overloaded reports whether a status concerns the host rather than one page.
func overloaded(status int) bool { return status == 429 || status >= 502 && status <= 504 }

// decide sets the next state of a record.
func (c *completion) decide(r *docindex.Record, f *flight, result *Result) error {
	if result.Outcome == vocab.Skipped {
		c.schedule.abandon(c.b, r, f.host.Loss)
		return nil
	}
	if result.Outcome != vocab.Failed && f.url != r.URL {
		r.URL = f.url // an answer over https
	}
	if c.keepsOutcome(r, f, result) {
		return nil
	}
	r.Fetch = &docindex.FetchOutcome{
		Outcome: result.Outcome, Status: result.Status, Reason: result.Reason,
		Address: result.Address, Content: result.Content, Alias: result.Alias, Fetched: result.Fetched,
		SignedIn: result.SignedIn, Truncated: result.Truncated,
	}
	if result.Outcome == vocab.Failed {
		c.failed(r, f, result)
		return nil
	}
	r.State, r.Tries = docindex.Finished, 0
	if result.Outcome == vocab.Redirected && c.redirected(r, f, result) {
		return nil
	}
	if err := c.updateHistory(&f.record, r, result); err != nil {
		return err
	}
	if result.Outcome == vocab.Blocked {
		unschedule(c.b, r)
		r.History = docindex.History{}
	}
	if r.IsPage() && result.Content != (vocab.ContentID{}) {
		return c.index.putContent(result.Content, result.Doc)
	}
	return nil
}

// keepsOutcome reports whether the outcome of an earlier visit remains valid, and completes the
// record then: nothing has changed, the site was not reached, or a missing page is to be confirmed.
// A page stays until its site reports in Recrawl.Confirm visits, with at least Recrawl.ConfirmAfter
// between them, that it does not exist. A visit that does not reach the site is not evidence.
func (c *completion) keepsOutcome(r *docindex.Record, f *flight, result *Result) bool {
	if r.History.Visits == 0 {
		return false
	}
	wasThere := r.Fetch.Outcome == vocab.Fetched || r.Fetch.Outcome == vocab.Redirected
	switch result.Outcome {
	case vocab.Unmodified:
		r.State, r.Tries, r.History.Misses = docindex.Finished, 0, 0
		if result.Validators != (vocab.Validators{}) {
			r.History.Validators = bounded(result.Validators)
		}
		addVisit(&r.History, c.now, false)
		c.schedule.revisit(c.b, r)
		return true
	case vocab.Failed:
		if r.Tries++; f.host.Loss != nil || int(r.Tries) > len(c.o.Retry) {
			c.schedule.keep(c.b, r)
		} else {
			c.schedule.retry(c.b, r, f.key.Priority, result.RetryAfter)
		}
		return true
	case vocab.NoName, vocab.Refused: // because of the host, not of the page
		if wasThere {
			c.schedule.keep(c.b, r)
		}
		return wasThere
	case vocab.NotFound, vocab.Unsupported, vocab.TooLarge:
		return wasThere && c.isUnconfirmed(r)
	}
	return false
}

// isUnconfirmed reports whether another visit must confirm that a page was not found, and completes
// the record in that case.
func (c *completion) isUnconfirmed(r *docindex.Record) bool {
	p, h := &c.o.Recrawl, &r.History
	again := h.Misses > 0 && c.now.Sub(h.Visited) < p.ConfirmAfter // possibly the same failure
	if !again {
		if int(h.Misses)+1 >= p.Confirm {
			return false
		}
		h.Misses++
		h.Visited = c.now.UTC().Truncate(time.Second)
	}
	r.State, r.Tries = docindex.Finished, 0
	c.schedule.revisit(c.b, r)
	return true
}

// failed schedules a retry of a document, or abandons the document after the last one.
func (c *completion) failed(r *docindex.Record, f *flight, result *Result) {
	r.Tries++
	switch {
	case f.host.Loss != nil:
		giveUp(r, f.host.Loss)
	case int(r.Tries) > len(c.o.Retry):
		giveUp(r, &frontier.Loss{Outcome: vocab.Failed, Reason: result.Reason})
		r.Fetch.Status, r.Fetch.Fetched = result.Status, result.Fetched
	default:
		c.schedule.retry(c.b, r, f.key.Priority, result.RetryAfter)
		return
	}
	c.schedule.revisitAt(c.b, r, c.now.Add(firstInterval))
}

// redirected completes a redirect. A redirect to the other scheme of the same URL leads to the same
// document: it is queued with the other scheme, once. redirected reports whether that was done.
func (c *completion) redirected(r *docindex.Record, f *flight, result *Result) (queued bool) {
	switch {
	case result.Alias == r.Doc:
		r.Fetch.Alias = 0
		url := otherScheme(f.url)
		if !r.Swapped && (result.Location == "" || result.Location == url) {
			r.Swapped, r.URL = true, url
			r.State, r.Fetch = docindex.Queued, f.record.Fetch
			c.queues.enqueue(c.b, r.Doc, f.host, f.key.Priority, false) // later links do not raise it
			return true
		}
		r.Fetch.Outcome, r.Fetch.Reason = vocab.NotFound, redirectsToSelf
	case r.Hops >= maxRedirects:
		r.Fetch.Outcome, r.Fetch.Reason, r.Fetch.Alias = vocab.NotFound, tooManyRedirects, 0
	}
	return false
}

// hasOtherScheme reports whether the URL may be fetched with the other scheme. The URL of a stored
// page may not: while https is down, http may show something else.
func (f *flight) hasOtherScheme() bool {
	return f.wasQueued() && f.record.History.Visits == 0 && !f.record.Swapped
}

func isHTTPS(url string) bool { return strings.HasPrefix(url, "https:") }

func otherScheme(url string) string {
	if rest, ok := strings.CutPrefix(url, "https:"); ok {
		return "http:" + rest
	}
	return "https:" + strings.TrimPrefix(url, "http:")
}

// updateHistory writes the history of a document with a new outcome, and updates the tables of
// contents and duplicates.
func (c *completion) updateHistory(before, r *docindex.Record, result *Result) error {
	h := &r.History
	visited := before.History.Visits > 0
	changed := visited && (before.Fetch.Outcome != r.Fetch.Outcome ||
		before.Fetch.Content != r.Fetch.Content || before.Fetch.Alias != r.Fetch.Alias)
	h.Misses, h.Headers, h.Validators = 0, result.Headers, vocab.Validators{}
	if result.Outcome == vocab.Fetched {
		h.Validators = bounded(result.Validators)
	}
	addVisit(h, c.now, changed)
	if r.State == docindex.Finished {
		c.schedule.revisit(c.b, r)
	}
	was, is := visited && before.IsDuplicate(), r.IsDuplicate()
	moved := !was || !is || before.Fetch.Alias != r.Fetch.Alias
	if was && moved {
		c.b.DeleteDuplicate(before.Fetch.Alias, r.Doc)
	}
	if is && moved {
		c.b.PutDuplicate(r.Fetch.Alias, r.Doc)
	}
	if visited && before.IsPage() && (!r.IsPage() || before.Fetch.Content != r.Fetch.Content) {
		return c.dropContent(before)
	}
	return nil
}

// bounded returns v without the validators that are too long to store.
func bounded(v vocab.Validators) vocab.Validators {
	if len(v.ETag) > docindex.MaxValidator {
		v.ETag = ""
	}
	if len(v.LastModified) > docindex.MaxValidator {
		v.LastModified = ""
	}
	return v
}

// dropContent records that a page no longer has its old body. Its duplicates are refetched
// unconditionally at once; the first of them becomes the canonical document.
func (c *completion) dropContent(before *docindex.Record) error {
	if err := c.index.deleteContent(before.Fetch.Content, before.Doc); err != nil {
		return err
	}
	docs, err := c.index.duplicatesOf(before.Doc)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		if f := c.flights.inFlight[doc]; f != nil { // its result is compared when it arrives
			if f.record.IsDuplicate() {
				forgetContent(&f.record)
			}
			continue
		}
		r, ok, err := c.index.record(doc)
		if err == nil && ok && r.IsDuplicate() && r.Fetch.Alias == before.Doc {
			err = c.fetchWhole(&r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchWhole queues a document to be fetched without validators.
func (c *completion) fetchWhole(r *docindex.Record) error {
	forgetContent(r)
	c.index.records[r.Doc] = r
	if isFinal(r) {
		return c.revisit(r)
	}
	c.b.PutRecord(r)
	return nil
}

// forgetContent makes any body count as new for a document.
func forgetContent(r *docindex.Record) {
	fetch := *r.Fetch
	fetch.Content = vocab.ContentID{}
	r.Fetch, r.History.Validators = &fetch, vocab.Validators{}
}

// abandonHost empties the queue of a host that was given up.
func (s *state) abandonHost(h *frontier.Host) error {
	c := s.begin()
	queue := docindex.QueueKey{Host: h.Name}
	err := s.db.EachQueued(queue, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		if s.flights.inFlight[doc] != nil {
			return true, nil // its result is pending
		}
		r, ok, err := s.db.Get(doc)
		if err != nil || !ok {
			return false, err
		}
		before := r
		s.schedule.abandon(c.b, &r, h.Loss)
		c.replace(c.b, &before, &r)
		c.b.DeleteQueued(k)
		return true, c.split()
	})
	h.Clear()
	if err != nil {
		return err
	}
	return c.commit()
}
