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
	"anatomy/disk/rankvector"
	"anatomy/disk/repository"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/disk/translations"
	"anatomy/index"
	"anatomy/parallel"
	"anatomy/vocab"
)

// ErrNotMerged is the error for an index that is not merged into one segment and one link run with
// all pages.
var ErrNotMerged = errors.New("the index is not complete and merged into one segment")

// A SplitReport describes the shards that Split made.
type SplitReport struct {
	Shards []SplitShard
	Hosts  []string // sites that were divided by host, because they have more than half of the pages
	Took   time.Duration
}

// A SplitShard is one of the shards.
type SplitShard struct {
	Pages   uint64
	Known   vocab.DocID // documents
	Foreign int         // documents of other shards that this one mentions
}

// Split divides the data folder dir by site into n data folders below the folder to, which must be
// empty or absent. Together they answer like dir. Split only reads dir, whose index must be merged
// and complete; otherwise the error wraps [ErrNotMerged]. On failure it removes everything that it
// wrote.
func Split(ctx context.Context, dir, to string, n int) (r SplitReport, err error) {
	began := time.Now()
	entries, err := os.ReadDir(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if len(entries) > 0 {
		return r, fmt.Errorf("%s: %w", to, ErrNotEmpty)
	}
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return r, err
	}
	if !m.Merged || len(m.Segments) != 1 || len(m.Links) != 1 {
		return r, fmt.Errorf("%s: %w", dir, ErrNotMerged)
	}
	if err := durable.MkdirAll(durable.OS, to); err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeBelow(to))
		}
	}()
	err = docindex.Read(dir, func(db *docindex.DB) error {
		s := splitter{ctx: ctx, from: dir, to: to, manifest: m, db: db}
		defer s.close()
		r, err = s.split(n)
		return err
	})
	if err == nil {
		err = parallel.Compute(ctx, to)
	}
	r.Took = time.Since(began)
	return r, err
}

func removeBelow(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// A splitter divides a data folder.
type splitter struct {
	*division
	ctx      context.Context
	from, to string
	manifest datadir.Manifest
	db       *docindex.DB
	links    *linkdb.Set
	repo     *repository.Reader
	moved    []repository.Moved // all records, by old address
	folders  []*datadir.Writer
	indexes  []*docindex.DB
	ends     []vocab.Address // ends of the repositories
}

// close closes the files that are only read, and the folders whose files are durable.
func (s *splitter) close() {
	for _, db := range s.indexes {
		db.Close()
	}
	for _, w := range s.folders {
		w.Close()
	}
	if s.links != nil {
		s.links.Close()
	}
	if s.repo != nil {
		s.repo.Close()
	}
}

func (s *splitter) split(n int) (r SplitReport, err error) {
	if s.links, err = linkdb.OpenSet(linkdb.Paths(s.from, s.manifest.Links)); err != nil {
		return r, err
	}
	if s.repo, err = repository.OpenReader(datadir.Repository(s.from)); err != nil {
		return r, err
	}
	if s.division, err = newDivision(s.db, n); err != nil {
		return r, err
	}
	if err := s.mentionAll(s.db, s.links); err != nil {
		return r, err
	}
	for shard := range n {
		if err := s.create(shard); err != nil {
			return r, err
		}
	}
	steps := []func() error{s.splitRepository, s.splitDocuments, s.splitIndex, s.splitRanks, s.finish}
	for _, step := range steps {
		if err := errors.Join(s.ctx.Err(), step()); err != nil {
			return r, err
		}
	}
	return s.report()
}

// create creates the data folder of a shard with an empty document index.
func (s *splitter) create(shard int) error {
	w, err := datadir.Create(shards.Folder(s.to, shard))
	if err != nil {
		return err
	}
	s.folders = append(s.folders, w)
	s.division.to.Folders[shard] = w.ID()
	db, err := docindex.OpenFolder(w, docindex.Options{})
	if err != nil {
		return err
	}
	s.indexes = append(s.indexes, db)
	return nil
}

// report counts the content of the shards.
func (s *splitter) report() (r SplitReport, err error) {
	r.Hosts = s.division.to.Hosts
	r.Shards = make([]SplitShard, len(s.folders))
	for i := range r.Shards {
		r.Shards[i] = SplitShard{Known: s.own[i].n, Foreign: int(s.others[i].n)}
	}
	return r, s.db.Each(1, func(d docindex.Record) error {
		if d.IsPage() {
			r.Shards[s.of(d.Doc)].Pages++
		}
		return nil
	})
}

// splitBytes is the number of bytes of pages buffered for a shard.
const splitBytes = repository.DefaultBlockBytes

// splitRepository copies each record to the repository of its document's shard, in the same order.
func (s *splitter) splitRepository() error {
	all := make([]*recordWriter, len(s.folders))
	for shard, w := range s.folders {
		repo, err := repository.Open(datadir.Repository(w.Dir()), repository.Options{})
		if err != nil {
			return err
		}
		defer repo.Close()
		all[shard] = &recordWriter{repo: repo, moved: &s.moved}
	}
	if err := s.repo.Scan(0, func(at vocab.Address, r *repository.Record) error {
		switch {
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case at >= s.manifest.Indexed && r.Kind == repository.PageRecord && !r.Copy:
			return fmt.Errorf("%s: %w: it lacks pages", s.from, ErrNotMerged)
		case r.Page.Doc >= vocab.DocID(len(s.shards)):
			return nil // a crash came before the document index had the document
		}
		shard := s.of(r.Page.Doc)
		return all[shard].add(at, s.translate(shard, r))
	}); err != nil {
		return err
	}
	for _, w := range all {
		if err := errors.Join(w.flush(), w.repo.Sync()); err != nil {
			return err
		}
		s.ends = append(s.ends, w.repo.End())
	}
	slices.SortFunc(s.moved, func(x, y repository.Moved) int { return cmp.Compare(x.From, y.From) })
	return nil
}

// translate returns the record for a shard. It shares no memory with r.
func (s *splitter) translate(shard int, r *repository.Record) repository.Record {
	own := *r
	own.Page.Body = slices.Clone(r.Page.Body)
	own.Page.Doc = s.inner(shard, r.Page.Doc)
	if own.Of != 0 {
		own.Of = s.inner(shard, own.Of)
	}
	return own
}

// A recordWriter appends records to a repository in batches.
type recordWriter struct {
	repo  *repository.Repository
	moved *[]repository.Moved

	from    []vocab.Address
	waiting []repository.Record
	bytes   int
}

func (w *recordWriter) add(from vocab.Address, r repository.Record) error {
	w.from, w.waiting = append(w.from, from), append(w.waiting, r)
	if w.bytes += len(r.Page.Body); w.bytes < splitBytes {
		return nil
	}
	return w.flush()
}

func (w *recordWriter) flush() error {
	to, err := w.repo.Append(w.waiting)
	if err != nil {
		return err
	}
	for i, at := range to {
		*w.moved = append(*w.moved, repository.Moved{From: w.from[i], To: at})
	}
	w.from, w.waiting, w.bytes = w.from[:0], w.waiting[:0], 0
	return nil
}

// address returns the new address of a record, or 0 if it is lost.
func (s *splitter) address(from vocab.Address) vocab.Address {
	if from == 0 {
		return 0
	}
	from, err := s.repo.Resolve(from)
	if err != nil {
		return 0
	}
	i, ok := slices.BinarySearchFunc(s.moved, from, func(m repository.Moved, at vocab.Address) int {
		return cmp.Compare(m.From, at)
	})
	if !ok {
		return 0
	}
	return s.moved[i].To
}

// splitDocuments writes the document indexes.
func (s *splitter) splitDocuments() error {
	for shard, db := range s.indexes {
		err := s.db.CopyPart(db, docindex.Part{
			Own:       s.own[shard].of,
			Mentioned: func(doc vocab.DocID) vocab.DocID { return s.inner(shard, doc) },
			OwnHost:   func(host string) bool { return s.division.to.HasHost(shard, host) },
			OwnSite:   func(site string) bool { return s.division.to.HasSite(shard, site) },
			Address:   s.address,
		})
		if err = errors.Join(err, db.Tidy()); err != nil {
			return err
		}
	}
	return nil
}

// splitIndex writes the links, the segment and the manifest of each shard.
func (s *splitter) splitIndex() error {
	var runs []string
	for _, w := range s.folders {
		runs = append(runs, index.LinksOfPart(w.Dir()))
	}
	whole := datadir.Links(s.from, s.manifest.Links[0])
	if err := splitLinks(s.division, s.db, s.links, whole, runs); err != nil {
		return err
	}
	for shard, w := range s.folders {
		err := index.WritePart(s.ctx, index.Part{
			From: s.from, Index: s.manifest, Links: s.links,
			To: w, Known: s.own[shard].n + s.others[shard].n, End: s.ends[shard],
			DocID: s.own[shard].of, Address: s.address,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// splitRanks writes for each shard the ranks of its documents among all documents.
func (s *splitter) splitRanks() error {
	for _, name := range s.manifest.RankNames() {
		all, err := rankvector.ReadNamed(s.from, s.manifest, name)
		if err != nil {
			return err
		}
		for shard, w := range s.folders {
			part := *all
			part.Ranks = []float32{0}
			m, err := datadir.ReadManifest(w.Dir())
			if err != nil {
				return err
			}
			links, err := linkdb.CountFolder(w.Dir(), m)
			if err != nil {
				return err
			}
			part.LinkChanges = links.Changes
			for doc := range s.own[shard].all() {
				if doc < vocab.DocID(len(all.Ranks)) {
					part.Ranks = append(part.Ranks, all.Ranks[doc])
				}
			}
			if err := rankvector.Publish(w.Dir(), name, &part); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish copies the other files of the folder, and writes the map of shards.
func (s *splitter) finish() error {
	if err := snapshot.CopyFiles(s.from, s.to); err != nil {
		return err
	}
	for shard := range s.folders {
		if err := s.foreign(shard).Write(s.to, shard); err != nil {
			return err
		}
	}
	if err := s.splitVersions(); err != nil {
		return err
	}
	if err := s.markPrivate(); err != nil {
		return err
	}
	return s.division.to.Write(s.to)
}

// splitVersions writes which pages are versions of one page, as in the data folder. Versions may be in several
// shards, and no shard finds those by itself.
func (s *splitter) splitVersions() error {
	t, err := translations.Read(s.from)
	if t == nil || err != nil {
		return err
	}
	known := vocab.DocID(len(s.division.shards))
	var groups []translations.Group
	for _, g := range t.Groups {
		if g[len(g)-1].Doc >= known {
			continue // the table may be newer than the document index
		}
		for i, v := range g {
			shard := s.of(v.Doc)
			g[i].Doc = vocab.Outer(shard, s.inner(shard, v.Doc))
		}
		slices.SortFunc(g, func(a, b translations.Version) int { return cmp.Compare(a.Doc, b.Doc) })
		groups = append(groups, g)
	}
	return translations.WriteSplit(s.to, s.folders[0].ID(), groups)
}

// markPrivate marks the new folder and each shard as private, if the data folder is. A server of a
// private folder requires a login.
func (s *splitter) markPrivate() error {
	if !datadir.IsPrivate(s.from) {
		return nil
	}
	err := datadir.MarkPrivate(s.to)
	for _, w := range s.folders {
		err = errors.Join(err, datadir.MarkPrivate(w.Dir()))
	}
	return err
}
