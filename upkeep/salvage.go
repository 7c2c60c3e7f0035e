package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/index"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A damaged document index is rebuilt with the same docIDs, so that it agrees with repository,
// links and segments. The record of a document is taken from the first of these sources that has
// it:
//
//  1. the readable records of the old document index;
//  2. the newest record of the repository: URL, time and body, canonical document or target. It does
//     not count if the index has the document as no page, or as another page;
//  3. the names of the link database: the URL alone.
//
// Queues are not recovered. Documents that were queued are out of scope until the next crawl: its
// scope differs from the recorded one, so it queues the documents in its scope. The old document
// index is kept as docindex.damaged. If it cannot be opened, or belongs to another folder, an older
// copy is used as the source; then no copy is deleted.

// A Salvage counts the documents of a rebuilt document index by source.
type Salvage struct {
	Kept     int  // from the old document index
	Pages    int  // from the repository
	Named    int  // only the URL is known: fetched again if in scope
	Lost     int  // the URL is not known
	Seeds    int  // seeds of the crawl; without any, the next crawl needs seeds
	NoBlocks bool // the patterns of anatomy remove are lost
	Stale    bool // there was no index, so all pages of the repository are assumed to exist
}

// plus returns the sum of the counts of two shards; other may be nil.
func (s Salvage) plus(other *Salvage) *Salvage {
	if other != nil {
		s.Kept, s.Pages, s.Named = s.Kept+other.Kept, s.Pages+other.Pages, s.Named+other.Named
		s.Lost, s.Seeds = s.Lost+other.Lost, s.Seeds+other.Seeds
		s.NoBlocks, s.Stale = s.NoBlocks || other.NoBlocks, s.Stale || other.Stale
	}
	return &s
}

// A salvager rebuilds a document index. Its steps run one after the other.
type salvager struct {
	dir    string
	old    *docindex.DB // nil if it cannot be opened
	db     *docindex.DB
	b      *docindex.Batch
	fresh  map[vocab.DocID]*docindex.Record // records in the batch
	set    *linkdb.Set                      // link database; nil if it cannot be read
	shown  index.DocSet                     // documents that segments show as pages
	end    vocab.Address                    // records before this address are in the index
	banned []string
	counts docindex.Counts
	hosts  map[string]docindex.HostRecord
	report Salvage
}

// salvage replaces a damaged document index. It takes the lock of the folder.
func salvage(ctx context.Context, dir string) (report Salvage, err error) {
	w, err := datadir.OpenShard(dir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	path, rebuilt, aside := datadir.DocIndex(dir), datadir.FreshDocIndex(dir), datadir.DamagedDocIndex(dir)
	s := &salvager{dir: dir, fresh: map[vocab.DocID]*docindex.Record{}, hosts: map[string]docindex.HostRecord{}}
	if s.old, err = oldDocuments(w); err != nil {
		return report, err
	}
	if s.old != nil {
		defer s.old.Close()
	}
	if s.db, err = docindex.Open(rebuilt, docindex.Options{}); err != nil {
		return report, err
	}
	s.b = s.db.NewBatch()
	s.index()
	if s.set != nil {
		defer s.set.Close()
	}
	for _, step := range []func(context.Context) error{s.blocks, s.names, s.pages, s.records, s.seeds, s.totals} {
		if err == nil {
			err = step(ctx)
		}
	}
	if err == nil {
		err = s.db.PutFolder(w.ID())
	}
	if err := errors.Join(err, s.db.Close()); err != nil {
		return report, fmt.Errorf("document index: rebuild: %w", err)
	}
	return s.report, durable.ReplaceFolder(durable.OS, rebuilt, path, aside)
}

// oldDocuments opens the best remaining document index of a folder, or returns nil if none can be
// opened. It frees the names that salvage uses: a copy with such a name is deleted only if the
// document index itself can be opened, and otherwise renamed to a name that no repair uses, see
// keptName.
func oldDocuments(w *datadir.Writer) (*docindex.DB, error) {
	old := ownDocuments(w, datadir.DocIndex(w.Dir()))
	kept, err := datadir.Glob(w.Dir(), keptName("", "*"))
	if err != nil {
		return old, err
	}
	slices.Reverse(kept) // newest first
	for _, copied := range []string{datadir.FreshDocIndex(w.Dir()), datadir.DamagedDocIndex(w.Dir())} {
		if _, err := os.Stat(copied); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if old != nil {
			if err := os.RemoveAll(copied); err != nil {
				return old, err
			}
			continue
		}
		name := keptName(w.Dir(), fmt.Sprintf("%03d", len(kept)+1))
		if err := durable.Rename(durable.OS, copied, name); err != nil {
			return nil, err
		}
		kept = append(kept, name)
	}
	for _, copied := range kept {
		if old == nil {
			old = ownDocuments(w, copied)
		}
	}
	return old, nil
}

// keptName returns the name of the n-th copy of a document index that a repair kept because it
// could not open another.
func keptName(dir, n string) string { return datadir.DocIndex(dir) + ".kept-" + n }

// ownDocuments opens a document index for reading. It returns nil if that is empty or belongs to
// another data folder.
func ownDocuments(w *datadir.Writer, path string) *docindex.DB {
	db, err := docindex.OpenReadOnly(path)
	if err != nil {
		return nil
	}
	id, err := db.Folder()
	counts, failed := db.Counts()
	if err != nil || failed != nil || counts.Known == 0 || w.ID() != "" && id != w.ID() {
		db.Close()
		return nil
	}
	return db
}

// flush commits the batch if it has at least size bytes.
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

// index opens links and segments, if all of them can be read.
func (s *salvager) index() {
	m, err := datadir.ReadManifest(s.dir)
	if s.report.Stale = true; err != nil || m.Generation == 0 {
		return
	}
	set, err := linkdb.OpenSet(linkdb.Paths(s.dir, m.Links))
	if err != nil {
		return
	}
	if s.shown, err = index.Pages(s.dir, m); err != nil {
		set.Close()
		return
	}
	s.set, s.end, s.report.Stale = set, m.Indexed, false
}

// agrees reports whether the index agrees with the repository about a document. It sets the
// canonical document of an alias from the index.
func (s *salvager) agrees(r *docindex.Record) bool {
	if s.set == nil || r.Fetch.Address >= s.end {
		return true
	}
	of, gone := s.set.AliasOf(r.Doc)
	if gone {
		return false // whether or not it was noindex before
	}
	if r.IsPage() {
		return s.shown.Has(r.Doc) || s.set.NoIndex(r.Doc)
	}
	r.Fetch.Alias = of
	return of != 0
}

// blocks copies the blocked patterns.
func (s *salvager) blocks(context.Context) (err error) {
	s.report.NoBlocks = true
	if s.old != nil {
		if s.banned, err = urlserver.BlockedPatterns(s.old); err == nil {
			s.report.NoBlocks = false
			urlserver.PutBlockedPatterns(s.b, s.banned)
		}
	}
	return nil
}

func (s *salvager) isBlocked(url string) bool {
	u, err := weburl.Parse(url)
	for _, p := range s.banned {
		if err == nil && weburl.MatchPattern(p, &u) {
			return true
		}
	}
	return false
}

// names copies the URLs of documents from all readable link runs, whether or not a manifest names
// them.
func (s *salvager) names(ctx context.Context) error {
	paths, err := datadir.Glob(s.dir, filepath.ToSlash(datadir.Links("", "*.links")))
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

// pages copies the newest record of each document from the repository.
func (s *salvager) pages(ctx context.Context) error {
	repo, err := repository.OpenReader(datadir.Repository(s.dir))
	if err != nil {
		return err
	}
	defer repo.Close()
	err = repo.Scan(0, func(at vocab.Address, record *repository.Record) error {
		p := &record.Page
		if s.isBlocked(p.URL) {
			return ctx.Err()
		}
		r, ok, err := s.get(p.Doc)
		if err != nil || ok && r.Fetch != nil && (r.Fetch.Fetched.After(p.Fetched) || r.Fetch.Fetched.Equal(p.Fetched) && r.Fetch.Address > at) {
			return err
		}
		return cmp.Or(s.put(recorded(at, record)), ctx.Err())
	})
	if errors.As(err, new(*repository.DamageError)) {
		err = nil // the check reports it
	}
	return cmp.Or(err, s.flush(0))
}

// recorded returns the record of a document according to the repository.
func recorded(at vocab.Address, record *repository.Record) *docindex.Record {
	p := &record.Page
	r := &docindex.Record{
		Doc: p.Doc, URL: p.URL, State: docindex.Finished, FirstSeen: p.Fetched,
		Fetch: &docindex.FetchOutcome{
			Outcome: vocab.Fetched, Status: 200, Address: at, Fetched: p.Fetched, SignedIn: p.SignedIn,
			Truncated: p.Truncated,
		},
		History: docindex.History{Visits: 1, Visited: p.Fetched, Changed: p.Fetched},
	}
	switch record.Kind {
	case repository.PageRecord:
		r.Fetch.Content = p.Content()
		r.History.Headers = engine.HeaderSum(p)
	case repository.DuplicateRecord:
		r.Fetch.Alias = record.Of
	case repository.RedirectRecord:
		r.Fetch.Outcome, r.Fetch.Status, r.Fetch.Alias = vocab.Redirected, 0, record.Of
	}
	return r
}

// records selects the record of each document, and fills the other tables.
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
	// Duplicates are compared with the new records of their canonical documents.
	for doc := vocab.DocID(1); doc <= last && err == nil; doc++ {
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

// decide selects the record of a document.
func (s *salvager) decide(doc vocab.DocID) error {
	if s.old != nil {
		if r, ok, err := s.old.Get(doc); ok && err == nil {
			s.report.Kept++
			dequeue(&r)
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
	case r.Fetch != nil && s.agrees(&r):
		s.report.Pages++
	default:
		s.report.Named++
		r = docindex.Record{Doc: doc, URL: r.URL, FirstSeen: r.FirstSeen}
	}
	return s.put(&r)
}

// dequeue removes a record from its queue.
func dequeue(r *docindex.Record) {
	if r.Due = (time.Time{}); r.State != docindex.Queued && r.State != docindex.Waiting {
		return
	}
	if r.Tries = 0; r.History.Visits > 0 {
		r.State = docindex.Finished
		return
	}
	r.State, r.Fetch = docindex.OutOfScope, nil
}

// finish checks that the canonical page of a duplicate exists, and writes the tables that refer to
// doc.
func (s *salvager) finish(doc vocab.DocID) error {
	r, _, err := s.get(doc)
	if err != nil {
		return err
	}
	if r.IsDuplicate() {
		of, _, err := s.get(r.Fetch.Alias)
		if err != nil {
			return err
		}
		if r.Fetch.Content == (vocab.ContentID{}) && of.IsPage() {
			fetch := *r.Fetch
			fetch.Content, r.Fetch = of.Fetch.Content, &fetch
		}
		if !of.IsPage() || of.Fetch.Content != r.Fetch.Content { // fetch it again
			r.State, r.Fetch, r.History = docindex.OutOfScope, nil, docindex.History{}
		} else {
			s.b.PutDuplicate(of.Doc, doc)
		}
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	s.b.PutURL(u.Fingerprint(), docindex.URLRecord{Doc: doc, NoFollowed: r.State == docindex.NoFollowed})
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

// seeds copies the seeds.
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

// totals writes counts and hosts. The next crawl queues the documents in its scope.
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
	if s.old != nil {
		urlserver.CopyReceivedParcels(s.b, s.old)
	}
	s.b.PutCounts(&s.counts)
	urlserver.LoseScope(s.b)
	return s.flush(0)
}
