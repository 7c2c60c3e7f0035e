package urlserver

import (
	"strings"

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
	From     vocab.DocID // the document that was redirected to it; 0 for a link
}

// addChunk is how many URLs go into one batch.
const addChunk = 1000

// Add makes URLs known, in order, and gives the docID of each, whether new or not. The new ones
// within scope are queued. It does not wait for the disk: a later Done does.
func (s *Server) Add(found []Found) ([]vocab.DocID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs := make([]vocab.DocID, 0, len(found))
	for len(found) > 0 {
		chunk := found[:min(len(found), addChunk)]
		found = found[len(chunk):]
		var err error
		if docs, err = s.add(chunk, docs); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// add is Add for one batch. A chunk is smaller than the cache of the seen test, so that a URL twice
// in a chunk is found there before it is on disk.
func (s *Server) add(found []Found, docs []vocab.DocID) ([]vocab.DocID, error) {
	if s.err != nil {
		return nil, s.err
	}
	a := adder{s: s, b: s.db.NewBatch()}
	for i := range found {
		doc, err := a.one(&found[i])
		if err != nil {
			return nil, s.fail(err)
		}
		docs = append(docs, doc)
	}
	if !a.b.Empty() {
		a.b.PutCounts(&s.counts)
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
	hosts   []*host // that got something
	widened bool    // a new seed may bring URLs into scope that were out of it
}

func (a *adder) one(f *Found) (vocab.DocID, error) {
	fp := f.URL.Fingerprint()
	doc, held, ok, err := a.s.find(fp)
	if err != nil {
		return 0, err
	}
	if !ok {
		return a.makeKnown(f, fp)
	}
	if held && !f.NoFollow || f.Seed && !a.s.seeds[doc] {
		return doc, a.again(doc, fp, f)
	}
	if f.Seed {
		return doc, a.reseed(doc)
	}
	return doc, nil
}

// find is the seen test.
func (s *Server) find(fp vocab.Fingerprint) (doc vocab.DocID, held, ok bool, err error) {
	if doc, held, ok = s.seen.get(fp); ok {
		s.hits.Cache++
		return doc, held, true, nil
	}
	if doc, held, ok, err = s.db.Find(fp); err != nil {
		return 0, false, false, err
	}
	if !ok {
		s.hits.New++
		return 0, false, false, nil
	}
	s.hits.Disk++
	s.seen.put(fp, doc, held)
	return doc, held, true, nil
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
	held := f.NoFollow && !f.Seed
	a.b.PutURL(fp, r.Doc, held)
	s.seen.put(fp, r.Doc, held)
	r.State = s.place(&f.URL, &r)
	if held && r.State == docindex.Queued {
		r.State = docindex.NoFollowed
	}
	return r.Doc, a.settle(&r, &f.URL)
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
func (a *adder) again(doc vocab.DocID, fp vocab.Fingerprint, f *Found) error {
	r, ok, err := a.s.record(doc)
	if err != nil || !ok {
		return err
	}
	u := f.URL
	a.b.PutURL(fp, doc, false)
	a.s.seen.put(fp, doc, false)
	if f.Seed {
		a.seed(&r, u)
	}
	switch r.State {
	case docindex.OutOfScope, docindex.NoFollowed, docindex.Trapped, docindex.GivenUp:
		a.s.uncount(&r)
		r.Depth = min(r.Depth, f.Depth)
		r.Fetch = nil
		r.State = a.s.place(&u, &r)
		return a.settle(&r, &u)
	}
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
	r.State, r.Tries, r.Fetch = docindex.Queued, 0, nil
	return a.settle(&r, &u)
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

// place decides what is to happen with a URL that was not fetched.
func (s *Server) place(u *weburl.URL, r *docindex.Record) docindex.State {
	switch {
	case r.Fetch != nil:
		return docindex.Finished
	case !s.filter.Admits(u, r.Kind):
		return docindex.OutOfScope
	case r.Depth > s.o.MaxDepth, repetitive(u.Path()):
		return docindex.Trapped
	}
	return docindex.Queued
}

// maxRepeats is how often a path may hold one segment; more is a calendar or a relative link that
// breeds.
const maxRepeats = 4

func repetitive(path string) bool {
	if strings.Count(path, "/") <= maxRepeats {
		return false
	}
	seen := map[string]int{}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if seen[segment]++; seen[segment] > maxRepeats {
			return true
		}
	}
	return false
}

// settle writes a record that is not counted at present, and queues it if its state says so.
func (a *adder) settle(r *docindex.Record, u *weburl.URL) error {
	if r.State == docindex.Queued {
		h, err := a.s.frontier.host(u.Host(), u.Hostname(), a.s.db.Host)
		if err != nil {
			return err
		}
		if h.gone != nil {
			a.s.lose(r, h.gone)
		} else {
			a.s.enqueue(a.b, r.Doc, h, breadthFirst(r.Kind, r.Depth))
			if n := len(a.hosts); n == 0 || a.hosts[n-1] != h {
				a.hosts = append(a.hosts, h)
			}
		}
	}
	a.b.PutRecord(r)
	a.s.count(r)
	return nil
}

// breadthFirst is the scheduling policy: the priority of a URL within its host's queue, least
// first. Within a priority URLs keep the order in which they were found (CJS, breadth-first).
// Sitemaps go before all pages, since they name pages.
func breadthFirst(kind vocab.TargetKind, depth uint16) uint8 {
	if kind == vocab.SitemapTarget {
		return 0
	}
	return uint8(1 + min(depth, 254))
}

// enqueue puts a document at the end of its level. The caller offers the host when the batch is
// committed.
func (s *Server) enqueue(b *docindex.Batch, doc vocab.DocID, h *host, priority uint8) {
	s.number++
	b.PutQueued(docindex.QueueKey{Host: h.name, Priority: priority, Number: s.number}, doc)
	h.push(priority, s.number)
}

// count and uncount keep the totals; a record that changes is uncounted as it was and counted as it
// is.
func (s *Server) count(r *docindex.Record) { s.addCounts(r, 1) }

func (s *Server) uncount(r *docindex.Record) { s.addCounts(r, ^uint64(0)) }

func (s *Server) addCounts(r *docindex.Record, n uint64) {
	s.counts.States[r.State] += n
	if r.Fetch == nil {
		return
	}
	s.counts.Outcomes[r.Fetch.Outcome] += n
	if r.IsPage() {
		s.counts.Pages += n
	}
}
