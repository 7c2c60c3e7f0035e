package urlserver

import (
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Found is a URL that something led to.
type Found struct {
	URL      weburl.URL
	Kind     vocab.TargetKind
	Depth    uint16      // links from the nearest seed
	Seed     bool        // the crawl starts here: it is within scope, and widens it
	NoFollow bool        // the link says so: the URL becomes known, and is not queued because of it
	On       vocab.DocID // the page that the link stands on, in flight; 0 where it is not known
	Quality  float64     // of the page, 1 being that of an average one; 0 to find it out from links
	From     vocab.DocID // the document that was redirected to it; 0 for a link
	Modified time.Time   // when it was changed last, as a sitemap says; zero where none does
}

// addChunk is how many URLs go into one batch.
const addChunk = 1000

// Add makes URLs known, in order, and gives the docID of each, whether new or not. The new ones
// within scope are queued. It does not wait for the disk: a later Done does. The links of one call
// stand on one page.
func (s *Server) Add(found []Found) ([]vocab.DocID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs := make([]vocab.DocID, 0, len(found))
	links := len(found)
	for len(found) > 0 {
		chunk := found[:min(len(found), addChunk)]
		found = found[len(chunk):]
		var err error
		if docs, err = s.add(chunk, links, docs); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// add is Add for one batch, of a page with so many links.
func (s *Server) add(found []Found, links int, docs []vocab.DocID) ([]vocab.DocID, error) {
	if s.err != nil {
		return nil, s.err
	}
	clear(s.met)
	a := adder{s: s, b: s.db.NewBatch(), links: links}
	for i := range found {
		doc, err := a.one(&found[i])
		if err != nil {
			return nil, s.fail(err)
		}
		docs = append(docs, doc)
	}
	if !a.b.Empty() {
		a.b.PutCounts(&s.counts)
		if s.o.KeepScope {
			a.b.PutMeta("scope", "") // the next run's differs, and it decides what is queued
		}
	}
	if err := a.b.Commit(); err != nil {
		return nil, s.fail(err)
	}
	for _, h := range a.hosts {
		s.frontier.offer(h)
	}
	if a.widened && s.counts.States[docindex.OutOfScope] > 0 {
		if err := s.widen(); err != nil {
			return nil, s.fail(err)
		}
	}
	return docs, nil
}

// An adder makes the changes of one batch.
type adder struct {
	s       *Server
	b       *docindex.Batch
	hosts   []*host // that got something, in order; some twice
	links   int     // of the page, all batches together
	widened bool    // a new seed may bring URLs into scope that were out of it
}

func (a *adder) one(f *Found) (vocab.DocID, error) {
	fp := f.URL.Fingerprint()
	u, ok, err := a.s.find(fp)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return a.makeKnown(f, fp)
	case u.Held && !f.NoFollow, f.Seed && !a.s.seeds[u.Doc]:
		return u.Doc, a.again(u, fp, f)
	case f.Seed:
		return u.Doc, a.reseed(u.Doc)
	case !f.Modified.IsZero():
		return u.Doc, a.modified(u.Doc, f.Modified)
	}
	return u.Doc, a.lift(u, fp, f)
}

// find is the seen test.
func (s *Server) find(fp vocab.Fingerprint) (u docindex.URLRecord, ok bool, err error) {
	if u, ok = s.met[fp]; ok {
		s.hits.Cache++
		return u, true, nil
	}
	if u, ok = s.seen.Get(fp); ok {
		s.hits.Cache++
		return u, true, nil
	}
	if u, ok, err = s.db.URL(fp); err != nil {
		return u, false, err
	}
	if !ok {
		s.hits.New++
		return u, false, nil
	}
	s.hits.Disk++
	s.seen.Put(fp, u)
	return u, true, nil
}

// know writes down what is known of a URL. Until the batch is on disk, met has it: the cache may
// forget it any time.
func (a *adder) know(fp vocab.Fingerprint, u docindex.URLRecord) {
	a.b.PutURL(fp, u)
	a.s.remember(fp, u)
}

func (s *Server) remember(fp vocab.Fingerprint, u docindex.URLRecord) {
	s.met[fp] = u
	s.seen.Put(fp, u)
}

// makeKnown gives a new URL its docID and record.
func (a *adder) makeKnown(f *Found, fp vocab.Fingerprint) (vocab.DocID, error) {
	s := a.s
	s.counts.Known++
	r := docindex.Record{Doc: vocab.DocID(s.counts.Known), URL: f.URL.String(), Kind: f.Kind, Depth: f.Depth, FirstSeen: s.now}
	if f.Seed {
		a.seed(&r, f.URL)
	}
	if err := a.hops(&r, f.From); err != nil {
		return 0, err
	}
	if s.bans.has(&f.URL) {
		r.Fetch = &docindex.FetchOutcome{Outcome: vocab.Removed, Reason: banReason}
	}
	u := docindex.URLRecord{Doc: r.Doc, Held: f.NoFollow && !f.Seed}
	s.place(&f.URL, &r)
	if u.Held && r.State == docindex.Queued {
		r.State = docindex.NoFollowed
	}
	return r.Doc, a.put(&r, u, fp, f)
}

// put settles a URL that was found, and writes down what is known of it.
func (a *adder) put(r *docindex.Record, u docindex.URLRecord, fp vocab.Fingerprint, f *Found) error {
	priority := a.worth(r, f)
	number, err := a.settle(r, &f.URL, priority)
	if a.s.o.Policy.byQuality() && f.Quality == 0 && r.Kind == vocab.PageTarget {
		u.Priority, u.Number = priority, number
	}
	a.know(fp, u)
	return err
}

// hops counts the redirects that led to a URL, and ends chains that are too long.
func (a *adder) hops(r *docindex.Record, from vocab.DocID) error {
	if from == 0 {
		return nil
	}
	source, ok, err := a.s.record(from)
	if ok {
		r.Hops = source.Hops + 1
	}
	if r.Hops > maxRedirects {
		r.State = docindex.Finished
		r.Fetch = &docindex.FetchOutcome{Outcome: vocab.Gone, Reason: tooManyRedirects}
	}
	return err
}

// record is the record of a document, from memory where it is in flight.
func (s *Server) record(doc vocab.DocID) (docindex.Record, bool, error) {
	if f := s.inFlight[doc]; f != nil {
		return f.record, true, nil
	}
	return s.db.Get(doc)
}

// again looks at a known URL that a followed link or a seed leads to for the first time.
func (a *adder) again(u docindex.URLRecord, fp vocab.Fingerprint, f *Found) error {
	r, ok, err := a.s.record(u.Doc)
	if err != nil || !ok {
		return err
	}
	u.Held = false
	if f.Seed {
		a.seed(&r, f.URL)
	}
	switch r.State {
	case docindex.OutOfScope, docindex.NoFollowed, docindex.Trapped, docindex.GivenUp:
		a.s.uncount(&r)
		unschedule(a.b, &r)
		r.Depth = min(r.Depth, f.Depth)
		r.Fetch = nil
		a.s.place(&f.URL, &r)
		return a.put(&r, u, fp, f)
	}
	a.know(fp, u)
	return nil
}

// reseed gives a seed that was given up or refused another chance: a crawl begun again means it, and
// may have leave for private addresses now.
func (a *adder) reseed(doc vocab.DocID) error {
	r, ok, err := a.s.record(doc)
	if err != nil || !ok || !vain(&r) {
		return err
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	if h := a.s.frontier.hosts[u.Host()]; h != nil && h.gone != nil {
		return nil // not within the same run
	}
	a.s.uncount(&r)
	unschedule(a.b, &r)
	r.State, r.Tries, r.Fetch, r.History = docindex.Queued, 0, nil, docindex.History{}
	return a.requeue(&r, &u)
}

// vain says whether a fetch failed for a reason that may be gone in another run.
func vain(r *docindex.Record) bool {
	return r.State == docindex.GivenUp ||
		r.Fetch != nil && (r.Fetch.Outcome == vocab.Refused || r.Fetch.Outcome == vocab.NoName) && r.State == docindex.Finished
}

func (a *adder) seed(r *docindex.Record, u weburl.URL) {
	a.s.seeds[r.Doc] = true
	a.s.filter.AddSeed(u)
	a.b.PutSeed(r.Doc)
	a.widened = true
}

// place decides what is to happen with a URL that was not fetched, as far as the URL itself shows.
func (s *Server) place(u *weburl.URL, r *docindex.Record) {
	r.Trap = 0
	switch {
	case r.Fetch != nil:
		r.State = docindex.Finished
	case !s.filter.Admits(u, r.Kind), s.isRemoved(u):
		r.State = docindex.OutOfScope
	default:
		r.State = docindex.Queued
		if r.Trap = s.trap(u, r); r.Trap != 0 {
			r.State = docindex.Trapped
		}
	}
}

// settle writes a record that is not counted at present, and queues it if its state says so and its
// host has no objection. It gives the number that it got in the queue, or 0.
func (a *adder) settle(r *docindex.Record, u *weburl.URL, priority uint8) (number uint64, err error) {
	if r.State == docindex.Queued {
		h, err := a.s.host(u.Host(), u.Hostname())
		if err != nil {
			return 0, err
		}
		if t := h.trap(u); t != 0 && !a.s.seeds[r.Doc] && r.History.Visits == 0 {
			r.State, r.Trap = docindex.Trapped, t
		} else if a.s.isGone(h) {
			a.s.lose(r, h.gone)
		} else {
			number = a.s.enqueue(a.b, r.Doc, h, priority)
			a.touch(h)
		}
	}
	a.b.PutRecord(r)
	a.s.count(r)
	return number, nil
}

// touch notes that a host got something.
func (a *adder) touch(h *host) {
	if n := len(a.hosts); n == 0 || a.hosts[n-1] != h {
		a.hosts = append(a.hosts, h)
	}
}

// enqueue puts a document at the end of its level, and gives its number there. The caller offers the
// host when the batch is committed.
func (s *Server) enqueue(b *docindex.Batch, doc vocab.DocID, h *host, priority uint8) uint64 {
	number := s.nextNumber(b)
	b.PutQueued(docindex.QueueKey{Host: h.name, Priority: priority, Number: number}, doc)
	h.push(priority, number)
	return number
}

// count and uncount keep the totals; a record that changes is uncounted as it was and counted as it
// is.
func (s *Server) count(r *docindex.Record) { s.addCounts(r, 1) }

func (s *Server) uncount(r *docindex.Record) { s.addCounts(r, ^uint64(0)) }

func (s *Server) addCounts(r *docindex.Record, n uint64) {
	s.counts.States[r.State] += n
	if r.State == docindex.Trapped {
		s.counts.Traps[r.Trap] += n
	}
	if r.Fetch == nil {
		return
	}
	s.counts.Outcomes[r.Fetch.Outcome] += n
	if r.IsPage() {
		s.counts.Pages += n
	}
}
