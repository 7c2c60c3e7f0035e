package urlserver

import (
	"net/http"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Found is a URL that was found.
type Found struct {
	URL      weburl.URL
	Kind     vocab.TargetKind
	Depth    uint16      // links from the nearest seed
	Seed     bool        // the crawl starts here: the URL is in scope, and extends the scope
	NoFollow bool        // the link has rel=nofollow: the URL gets a docID, but is not queued
	On       vocab.DocID // the page with the link, in flight; 0 if not known
	Related  vocab.DocID // the page, in flight, that refers to it other than by a link; 0 for none
	Listed   bool        // in a sitemap
	Rescored bool        // the URL was found before: only its quality changes, by TopicFirst
	From     vocab.DocID // the document that redirects to it; 0 for a link
	Hops     uint8       // redirects that led to it, if From is 0
	Modified time.Time   // last change by a sitemap; zero if not stated

	// Quality is that of the page, 1 for an average one; 0 to estimate it from links. By TopicFirst, it
	// is the odds that the page is relevant; 0 if they are not known.
	Quality float64
}

// A redirect chain longer than maxRedirects ends with an error.
const (
	maxRedirects     = 10
	tooManyRedirects = "too many redirects"
)

// A discovery is the change of one batch of found URLs.
//
// While crawling, the quality of a page is its PageRank as far as the pages fetched before show it
// (BP98 §2.1, scaled so that a seed without links has 1; a single pass in the order of the crawl,
// as OPIC distributes its cash: Abiteboul, Preda, Cobena 2003):
//
//	quality(p) = 2^(-depth/4) + 0.85 Σ quality(q)/links(q), over the fetched pages q that link to p
//
// with quality(q) as it was when q was fetched. It needs no memory and no table of sums: the
// priority in the queue key is the sum, and [frontier.Raise] keeps its expectation right. So most
// links to a queued URL write nothing, and links to a fetched one never do.
type discovery struct {
	*change
	links   int  // of the page, in all batches
	widened bool // a new seed may extend the scope to other known URLs
	// known documents whose state the batch decides again: their records are not written yet; nil for none
	redecided map[vocab.DocID]bool
}

const damping = 0.85

// discover adds one batch of URLs found on a page with the given number of links, and appends their
// docIDs to docs.
func (s *state) discover(found []Found, links int, docs []vocab.DocID) ([]vocab.DocID, error) {
	d := discovery{change: s.begin(), links: links}
	if on := s.flights.inFlight[found[0].On]; on != nil { // it is completed after its links are added
		on.host.OriginAnswered(isHTTPS(on.url))
	}
	for i := range found {
		doc, err := d.add(&found[i])
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	if s.o.KeepScope && !d.b.Empty() {
		LoseScope(d.b)
	}
	if err := d.commit(); err != nil {
		return nil, err
	}
	if d.widened && s.counts.States[docindex.OutOfScope] > 0 {
		return docs, s.widen()
	}
	return docs, nil
}

func (d *discovery) add(f *Found) (vocab.DocID, error) {
	fp := f.URL.Fingerprint()
	u, ok, err := d.seen.find(fp)
	switch {
	case err != nil:
		return 0, err
	case f.Rescored:
		return u.Doc, d.rescore(u, fp, f)
	case !ok:
		return d.addNew(f, fp)
	case u.Bred && !f.NoFollow, f.Listed && !u.Listed:
		again, err := d.clearBred(&u, fp, f)
		if again || err != nil {
			return u.Doc, err
		}
	}
	switch {
	case u.NoFollowed && !f.NoFollow, f.Seed && !d.scope.seeds[u.Doc]:
		return u.Doc, d.reconsider(u, fp, f)
	case f.Seed:
		return u.Doc, d.retrySeed(u.Doc)
	case !f.Modified.IsZero():
		return u.Doc, d.modified(u.Doc, f.Modified)
	}
	return u.Doc, d.raise(u, fp, f)
}

// clearBred records that a page with new text, or a sitemap, refers to a known URL, so that the URL
// is no longer evidence of a trap. If the URL was refused, clearBred reconsiders it and returns true.
func (d *discovery) clearBred(
	u *docindex.URLRecord, fp vocab.Fingerprint, f *Found,
) (again bool, err error) {
	bred, _, err := d.isBred(f)
	if err != nil || bred {
		return false, err
	}
	u.Bred, u.Listed = false, u.Listed || f.Listed
	r, ok, err := d.flights.record(u.Doc)
	if err != nil {
		return false, err
	}
	d.putURL(fp, *u)
	if ok && r.State == docindex.Trapped && r.Trap.IsOfShape() {
		return true, d.reconsider(*u, fp, f)
	}
	return false, nil
}

// addNew assigns a docID to a new URL and inserts its record.
func (d *discovery) addNew(f *Found, fp vocab.Fingerprint) (vocab.DocID, error) {
	u := docindex.URLRecord{NoFollowed: f.NoFollow && !f.Seed, Listed: f.Listed}
	rest, ok, err := d.instead(f, &u)
	if err != nil {
		return 0, err
	}
	if ok {
		other := *f
		other.URL = rest
		return d.add(&other)
	}
	bred, page, err := d.isBred(f)
	if err != nil {
		return 0, err
	}
	d.counts.Known++
	r := docindex.Record{
		Doc: vocab.DocID(d.counts.Known), URL: f.URL.String(),
		Kind: f.Kind, Depth: f.Depth, FirstSeen: d.now,
	}
	u.Doc, u.Bred = r.Doc, bred
	if f.Seed {
		d.addSeed(&r, f.URL)
	}
	if f.From != 0 {
		if err := d.countHops(&r, f.From); err != nil {
			return 0, err
		}
	} else {
		endChain(&r, f.Hops)
	}
	if d.scope.blocks.matches(&f.URL) {
		r.Fetch = &docindex.FetchOutcome{Outcome: vocab.Blocked, Reason: blockReason}
	}
	d.scope.decide(&f.URL, &r, d.now)
	if u.NoFollowed && r.State == docindex.Queued {
		r.State = docindex.NoFollowed
	}
	if page != nil && r.State == docindex.Queued {
		if err := d.countBred(page, f, bred); err != nil {
			return 0, err
		}
	}
	if err := d.insertFound(&r, u, fp, f); err != nil || r.Trap != docindex.OverURLs {
		return r.Doc, err
	}
	h, err := d.queues.host(&f.URL)
	if err == nil {
		d.touchSite(h).Refuse()
	}
	return r.Doc, err
}

// countBred counts a new URL that was found on a page.
func (d *discovery) countBred(page *flight, f *Found, bred bool) error {
	page.host.Watched = page.host.Watched || bred
	verdicts, err := d.yields.AddBred(page.host.Name, &f.URL, &page.finding)
	if err != nil {
		return err
	}
	return d.apply(page.host, verdicts)
}

// insertFound inserts the record of a found URL and writes its entry.
func (d *discovery) insertFound(
	r *docindex.Record, u docindex.URLRecord, fp vocab.Fingerprint, f *Found,
) error {
	if err := d.admit(r, &f.URL); err != nil {
		return err
	}
	priority := d.priority(r, f)
	number, err := d.insert(r, &f.URL, priority, &u)
	byLinks := d.o.Policy.ByQuality() && f.Quality == 0
	if (byLinks || d.o.Policy == TopicFirst) && r.Kind == vocab.PageTarget {
		u.Priority, u.Number = priority, number
	}
	d.putURL(fp, u)
	return err
}

// countHops counts the redirects that led to a URL, and ends a chain that is too long.
func (d *discovery) countHops(r *docindex.Record, from vocab.DocID) error {
	source, ok, err := d.flights.record(from)
	if ok {
		endChain(r, source.Hops+1)
	}
	return err
}

// endChain sets the number of redirects that led to a document; beyond the maximum it is not found.
func endChain(r *docindex.Record, hops uint8) {
	if r.Hops = hops; r.Hops > maxRedirects {
		r.State = docindex.Finished
		r.Fetch = &docindex.FetchOutcome{Outcome: vocab.NotFound, Reason: tooManyRedirects}
	}
}

// reconsider reconsiders a known URL when the first followed link leads to it, or when it becomes a
// seed.
func (d *discovery) reconsider(u docindex.URLRecord, fp vocab.Fingerprint, f *Found) error {
	r, ok, err := d.flights.record(u.Doc)
	if err != nil || !ok {
		return err
	}
	u.NoFollowed = false
	if f.Seed {
		d.addSeed(&r, f.URL)
	}
	switch r.State {
	case docindex.OutOfScope, docindex.NoFollowed, docindex.Trapped, docindex.GivenUp:
		d.redecide(&r)
		r.Depth = min(r.Depth, f.Depth)
		r.Fetch = nil
		d.scope.decide(&f.URL, &r, d.now)
		return d.insertFound(&r, u, fp, f)
	}
	d.putURL(fp, u)
	return nil
}

// redecide undoes the decision on the state of a known document, before another one.
func (d *discovery) redecide(r *docindex.Record) {
	if d.redecided == nil {
		d.redecided = map[vocab.DocID]bool{}
	}
	d.redecided[r.Doc] = true
	d.uncount(r)
	unschedule(d.b, r)
}

func (d *discovery) addSeed(r *docindex.Record, u weburl.URL) {
	d.scope.addSeed(r.Doc, u)
	d.b.PutSeed(r.Doc)
	d.widened = true
}

// retrySeed queues a seed that was given up or refused in an earlier run. For instance, private
// addresses may be allowed now, or there are credentials. A batch may name a seed several times.
func (d *discovery) retrySeed(doc vocab.DocID) error {
	if d.redecided[doc] {
		return nil
	}
	r, ok, err := d.flights.record(doc)
	if err != nil || !ok || !mayHavePassed(&r) {
		return err
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	if h := d.frontier.Lookup(u.Host()); h != nil && h.Loss != nil {
		return nil // only once per run
	}
	d.redecide(&r)
	r.State, r.Tries, r.Fetch, r.History = docindex.Queued, 0, nil, docindex.History{}
	return d.reinsert(&r, &u)
}

// mayHavePassed reports whether a document failed for a reason that may not apply to this run.
func mayHavePassed(r *docindex.Record) bool {
	switch {
	case r.State == docindex.GivenUp:
		return true
	case r.State != docindex.Finished || r.Fetch == nil:
		return false
	}
	switch r.Fetch.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	}
	return r.Fetch.Outcome == vocab.Refused || r.Fetch.Outcome == vocab.NoName
}

// modified queues a finished document whose sitemap states a change after its last visit, unless
// that visit was less than MinAge ago: many sitemaps say "now" for every page.
func (d *discovery) modified(doc vocab.DocID, at time.Time) error {
	if d.o.Recrawl.Mode == NoRecrawl || d.flights.inFlight[doc] != nil {
		return nil
	}
	r, ok, err := d.db.Get(doc)
	if err != nil || !ok || r.State != docindex.Finished {
		return err
	}
	visited := r.History.Visited
	if !at.After(visited) || d.now.Sub(visited) < d.o.Recrawl.MinAge {
		return nil
	}
	return d.revisit(&r)
}

// share returns the contribution of a page to the quality of each page that it links to. A redirect
// passes its quality on undivided.
func (d *discovery) share(f *Found) float64 {
	from := f.On
	if f.From != 0 {
		from = f.From
	}
	quality := 1.0
	if flight := d.flights.inFlight[from]; flight != nil {
		quality = frontier.Quality(flight.key.Priority)
	}
	if f.From != 0 {
		return quality
	}
	return damping * quality / float64(d.links)
}

// priority returns the priority of a found URL.
func (d *discovery) priority(r *docindex.Record, f *Found) uint8 {
	first := d.o.Policy.FirstPriority(r.Kind, r.Depth)
	switch {
	case first == frontier.SitemapPriority || !d.o.Policy.ByQuality():
		return first
	case f.Quality > 0:
		return frontier.PriorityOf(f.Quality)
	case f.NoFollow, f.Seed, d.o.Policy == TopicFirst && f.From == 0:
		return first
	}
	return frontier.Raise(first, d.share(f), d.random)
}

// raise adds a link's share to the quality of a known URL that is queued. A page counts once,
// however often it links to the URL.
func (d *discovery) raise(u docindex.URLRecord, fp vocab.Fingerprint, f *Found) error {
	if u.Number == 0 || f.NoFollow || !d.o.Policy.ByQuality() {
		return nil
	}
	if _, again := d.seen.pending[fp]; again {
		return nil
	}
	d.seen.pending[fp] = u
	if d.o.Policy == TopicFirst {
		return d.rescore(u, fp, f)
	}
	return d.requeue(u, fp, &f.URL, frontier.Raise(u.Priority, d.share(f), d.random))
}

// rescore sets the quality of a known URL, unless it is a seed or the new quality is 0.
func (d *discovery) rescore(u docindex.URLRecord, fp vocab.Fingerprint, f *Found) error {
	if u.Number == 0 || f.Quality == 0 || d.scope.seeds[u.Doc] || d.o.Policy != TopicFirst {
		return nil
	}
	return d.requeue(u, fp, &f.URL, frontier.PriorityOf(f.Quality))
}

// requeue moves a known URL to a priority if it is queued.
func (d *discovery) requeue(
	u docindex.URLRecord, fp vocab.Fingerprint, url *weburl.URL, priority uint8,
) error {
	if priority == u.Priority {
		return nil
	}
	h, err := d.queues.host(url)
	if err != nil {
		return err
	}
	key := docindex.QueueKey{Host: h.Name, Priority: u.Priority, Number: u.Number}
	queued := h.Loss == nil && d.flights.inFlight[u.Doc] == nil
	if queued {
		doc, err := d.db.Queued(key)
		if err != nil {
			return err
		}
		queued = doc == u.Doc
	}
	if !queued {
		u.Number = 0 // so that the next link need not look
		d.seen.remember(fp, u)
		return nil
	}
	d.b.DeleteQueued(key)
	h.Pull(key.Priority, key.Number)
	u.Priority, u.Number = priority, d.queues.enqueue(d.b, u.Doc, h, priority, false)
	d.putURL(fp, u)
	d.touchHost(h)
	return nil
}
