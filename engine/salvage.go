package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A document index that is damaged is made anew, under the same docIDs, so that repository, links and index agree with it.
// What is known of a document is taken from the first that has it:
//
//  1. the old document index, as far as it can be read, record by record;
//  2. the newest record of the repository, which says URL, time and body, original or target, unless the index has
//     heard since that the document is none any more, or another one;
//  3. the names of the link database: its URL.
//
// Queues are not taken over: what is yet to be fetched is out of scope until the next crawl, whose scope differs from
// that of the last, and which queues what it admits. The old one stays beside it, as docindex.damaged, for whoever wants to look.

// A Salvage says what a document index that was made anew consists of.
type Salvage struct {
	Kept   int  // documents from the old one
	Pages  int  // and from the repository
	Named  int  // and known by their URL alone: fetched again if they are within scope
	Lost   int  // of which not even that is known
	Seeds  int  // URLs that the crawl began with; without any, the next has to be given them
	NoBans bool // the patterns of anatomy remove are lost
	Stale  bool // no index could be asked which pages of the repository are gone since: they are believed to be there
}

// A salvager makes a document index anew.
type salvager struct {
	dir    string
	old    *docindex.DB // nil where it cannot be opened
	db     *docindex.DB
	b      *docindex.Batch
	fresh  map[vocab.DocID]*docindex.Record // in the batch
	set    *linkdb.Set                      // what the index knows; nil where that cannot be read, or there is none
	shown  bitmap                           // documents that it shows as pages
	end    vocab.Place                      // records before this are in it
	banned []string
	counts docindex.Counts
	hosts  map[string]docindex.HostRecord
	report Salvage
}

// salvage puts a document index in the place of one that is damaged. Nobody else may write to the folder.
func salvage(ctx context.Context, dir string) (report Salvage, err error) {
	w, err := datadir.Open(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	path := filepath.Join(dir, "docindex")
	anew, aside := path+".new", path+".damaged"
	if err := errors.Join(os.RemoveAll(anew), os.RemoveAll(aside)); err != nil {
		return report, err
	}
	s := &salvager{dir: dir, fresh: map[vocab.DocID]*docindex.Record{}, hosts: map[string]docindex.HostRecord{}}
	if s.old, err = docindex.OpenReadOnly(path); err == nil {
		defer s.old.Close()
	}
	if s.db, err = docindex.Open(anew, docindex.Options{}); err != nil {
		return report, err
	}
	s.b = s.db.NewBatch()
	s.index()
	if s.set != nil {
		defer s.set.Close()
	}
	for _, step := range []func(context.Context) error{s.bans, s.names, s.pages, s.records, s.seeds, s.totals} {
		if err == nil {
			err = step(ctx)
		}
	}
	if err == nil {
		err = s.db.Sync()
	}
	if err := errors.Join(err, s.db.Close()); err != nil {
		return report, fmt.Errorf("docindex: make anew: %w", err)
	}
	if err := os.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	return s.report, errors.Join(os.Rename(anew, path), datadir.SyncFolder(dir))
}

// flush commits the batch when it is large enough.
func (s *salvager) flush(size int) error {
	if s.b.Empty() || s.b.Len() < size {
		return nil
	}
	b := s.b
	s.b, s.fresh = s.db.NewBatch(), map[vocab.DocID]*docindex.Record{}
	return b.Commit()
}

const salvageBatch = 1 << 20 // bytes

// put writes a record.
func (s *salvager) put(r *docindex.Record) error {
	s.b.PutRecord(r)
	s.fresh[r.Doc] = r
	return s.flush(salvageBatch)
}

func (s *salvager) get(doc vocab.DocID) (docindex.Record, bool, error) {
	if r := s.fresh[doc]; r != nil {
		return *r, true, nil
	}
	return s.db.Get(doc)
}

// index reads what the index knows, if all of it can be read.
func (s *salvager) index() {
	m, err := datadir.Read(s.dir)
	if s.report.Stale = true; err != nil || m.Generation == 0 {
		return
	}
	b := &Builder{dir: s.dir, manifest: m}
	set, err := linkdb.OpenSet(b.linkPaths(m.Links))
	if err != nil {
		return
	}
	if s.shown, err = b.crawled(); err != nil {
		set.Close()
		return
	}
	s.set, s.end, s.report.Stale = set, m.Indexed, false
}

// inForce says whether the index agrees that a document is what the repository has of it, and takes its word for what it
// is another URL of.
func (s *salvager) inForce(r *docindex.Record) bool {
	if s.set == nil || r.Fetch.Place >= s.end {
		return true
	}
	of, gone := s.set.Said(r.Doc)
	if gone {
		return false // even if it asked not to be shown while it was there
	}
	if r.IsPage() {
		return s.shown.has(r.Doc) || s.set.Hidden(r.Doc)
	}
	r.Fetch.Alias = of
	return of != 0
}

// bans takes over what was removed for good.
func (s *salvager) bans(context.Context) (err error) {
	s.report.NoBans = true
	if s.old != nil {
		if s.banned, err = urlserver.Banned(s.old); err == nil {
			s.report.NoBans = false
			urlserver.PutBanned(s.b, s.banned)
		}
	}
	return nil
}

func (s *salvager) isBanned(url string) bool {
	u, err := weburl.Parse(url)
	for _, p := range s.banned {
		if err == nil && weburl.MatchPattern(p, &u) {
			return true
		}
	}
	return false
}

// names takes the URLs of all documents from the link runs that can be read, whether or not a manifest names them.
func (s *salvager) names(ctx context.Context) error {
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(datadir.Links(s.dir, "x")), "*.links"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		run, err := linkdb.Open(path)
		if err != nil {
			continue
		}
		for name, damage := range run.Names() {
			if damage != nil {
				break
			}
			if err = s.put(&docindex.Record{Doc: name.Doc, URL: name.URL}); err != nil || ctx.Err() != nil {
				break
			}
		}
		if err := cmp.Or(err, ctx.Err(), run.Close()); err != nil {
			return err
		}
	}
	return s.flush(0)
}

// pages takes the newest record of each document from the repository.
func (s *salvager) pages(ctx context.Context) error {
	repo, err := repository.OpenReader(datadir.Repository(s.dir))
	if err != nil {
		return err
	}
	defer repo.Close()
	err = repo.Scan(0, func(place vocab.Place, record *repository.Record) error {
		p := &record.Page
		if s.isBanned(p.URL) {
			return ctx.Err()
		}
		r, ok, err := s.get(p.Doc)
		if err != nil || ok && r.Fetch != nil && (r.Fetch.Fetched.After(p.Fetched) || r.Fetch.Fetched.Equal(p.Fetched) && r.Fetch.Place > place) {
			return err
		}
		return cmp.Or(s.put(recorded(place, record)), ctx.Err())
	})
	if errors.As(err, new(*repository.DamageError)) {
		err = nil // what is lost of it is told by the check
	}
	return cmp.Or(err, s.flush(0))
}

// recorded is what a record of the repository says of its document.
func recorded(place vocab.Place, record *repository.Record) *docindex.Record {
	p := &record.Page
	r := &docindex.Record{
		Doc: p.Doc, URL: p.URL, State: docindex.Finished, FirstSeen: p.Fetched,
		Fetch:   &docindex.FetchOutcome{Outcome: vocab.Fetched, Status: 200, Place: place, Fetched: p.Fetched},
		History: docindex.History{Visits: 1, Visited: p.Fetched, Changed: p.Fetched},
	}
	switch record.Kind {
	case repository.PageRecord:
		r.Fetch.Content = vocab.ContentOf(p.Body)
		r.History.Headers = headersOf(p)
	case repository.DuplicateRecord:
		r.Fetch.Alias = record.Of
	case repository.RedirectRecord:
		r.Fetch.Outcome, r.Fetch.Status, r.Fetch.Alias = vocab.Redirected, 0, record.Of
	}
	return r
}

// records decides what is known of each document, and fills the other tables.
func (s *salvager) records(ctx context.Context) error {
	last := vocab.DocID(0)
	if s.old != nil {
		if counts, err := s.old.Counts(); err == nil {
			last = vocab.DocID(counts.Known)
		}
	}
	err := s.db.Each(1, func(r docindex.Record) error {
		last = max(last, r.Doc)
		return ctx.Err()
	})
	for doc := vocab.DocID(1); doc <= last && err == nil; doc++ { // twins are compared with what this makes of their originals
		err = cmp.Or(s.decide(doc), ctx.Err())
	}
	if err = cmp.Or(err, s.flush(0)); err != nil {
		return err
	}
	for doc := vocab.DocID(1); doc <= last && err == nil; doc++ {
		err = cmp.Or(s.finish(doc), ctx.Err())
	}
	return cmp.Or(err, s.flush(0))
}

// decide takes a document's record from where it is known best.
func (s *salvager) decide(doc vocab.DocID) error {
	if s.old != nil {
		if r, ok, err := s.old.Get(doc); ok && err == nil {
			s.report.Kept++
			atRest(&r)
			return s.put(&r)
		}
	}
	r, ok, err := s.get(doc)
	switch {
	case err != nil:
		return err
	case !ok:
		s.report.Lost++
		return s.put(&docindex.Record{
			Doc: doc, URL: fmt.Sprintf("http://document-%d.invalid/", doc), State: docindex.GivenUp, // a name that can never exist (RFC 6761 §6.4)
			Fetch: &docindex.FetchOutcome{Outcome: vocab.Refused, Reason: "its URL was lost with the document index"},
		})
	case r.Fetch != nil && s.inForce(&r):
		s.report.Pages++
	default:
		s.report.Named++
		r = docindex.Record{Doc: doc, URL: r.URL, FirstSeen: r.FirstSeen}
	}
	return s.put(&r)
}

// atRest takes a record out of the queues.
func atRest(r *docindex.Record) {
	if r.Due = (time.Time{}); r.State != docindex.Queued && r.State != docindex.Waiting {
		return
	}
	if r.Tries = 0; r.History.Visits > 0 {
		r.State = docindex.Finished
		return
	}
	r.State, r.Fetch = docindex.OutOfScope, nil
}

// finish sees that a duplicate has its original, and writes what leads to a document.
func (s *salvager) finish(doc vocab.DocID) error {
	r, _, err := s.get(doc)
	if err != nil {
		return err
	}
	if r.IsTwin() {
		of, _, err := s.get(r.Fetch.Alias)
		if err != nil {
			return err
		}
		if r.Fetch.Content == (vocab.ContentID{}) && of.IsPage() {
			fetch := *r.Fetch
			fetch.Content, r.Fetch = of.Fetch.Content, &fetch
		}
		if !of.IsPage() || of.Fetch.Content != r.Fetch.Content { // it is fetched again
			r.State, r.Fetch, r.History = docindex.OutOfScope, nil, docindex.History{}
		} else {
			s.b.PutTwin(of.Doc, doc)
		}
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	s.b.PutURL(u.Fingerprint(), docindex.URLRecord{Doc: doc, Held: r.State == docindex.NoFollowed})
	s.counts.Known = uint64(doc)
	s.counts.States[r.State]++
	if r.State == docindex.Trapped {
		s.counts.Traps[r.Trap]++
	}
	if r.Fetch != nil {
		s.counts.Outcomes[r.Fetch.Outcome]++
	}
	if r.IsPage() {
		s.counts.Pages++
		s.b.PutContent(r.Fetch.Content, doc)
		h := s.hosts[u.Host()]
		h.Pages++
		s.hosts[u.Host()] = h
	}
	return s.put(&r)
}

// seeds takes over where the crawl began.
func (s *salvager) seeds(context.Context) error {
	if s.old == nil {
		return nil
	}
	docs, _ := s.old.Seeds()
	for _, doc := range docs {
		s.b.PutSeed(doc)
	}
	s.report.Seeds = len(docs)
	return nil
}

// totals writes counts and hosts, and that the next crawl has to look what is within its scope.
func (s *salvager) totals(context.Context) error {
	for name, h := range s.hosts {
		if s.old != nil {
			if known, err := s.old.Host(name); err == nil {
				known.Pages = h.Pages
				h = known
			}
		}
		s.b.PutHost(name, h)
	}
	s.b.PutCounts(&s.counts)
	s.b.PutMeta("scope", "")
	return s.flush(0)
}
