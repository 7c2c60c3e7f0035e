package upkeep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/linkdb"
	"anatomy/disk/parcel"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
	"anatomy/engine"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A PurgeReport describes the result of a purge.
type PurgeReport struct {
	control.BlockReport
	Dropped int   `json:"dropped"` // records of the repository, of blocked pages and older versions
	Before  int64 `json:"before"`  // bytes of the repository
	After   int64 `json:"after"`
	Proved  int   `json:"proved"` // records, documents and texts read to prove that nothing is left
}

// ErrNotPurged is the error of Purge when data of a blocked page is still in the data folder.
var ErrNotPurged = errors.New("blocked pages are still in the data folder")

// Purge blocks the pages of the targets, as [Block] does, and deletes them and their older versions
// from the data folder: from the repository, the index, the links, and copies left by a backup or a
// repair. Then it reads the remaining data and verifies that it contains no blocked page. The error
// is a *datadir.BusyError if a crawl is running. The URL of a blocked page stays, to recognize it.
func Purge(ctx context.Context, dir string, targets []string, o engine.Options) (r PurgeReport, err error) {
	if err := CheckTargets(targets); err != nil {
		return r, err
	}
	var compacted engine.CompactReport
	err = maintain(ctx, dir, o, func(ctx context.Context, c *engine.Crawl) error {
		more := engine.CompactReport{}
		blocked, err := c.Purge(ctx, targets, &more)
		r.BlockReport.Add(&blocked)
		add(&compacted, &more)
		return err
	})
	if err != nil {
		return r, err
	}
	r.Dropped, r.Before, r.After = compacted.Dropped, compacted.Before, compacted.After
	dirs, err := folders(dir)
	if err == nil && isLive(dir) {
		err = clearParcels(dir, dirs)
	}
	for _, dir := range dirs {
		if err == nil {
			err = clearCopies(dir)
		}
		if err == nil {
			var n int
			n, err = provePurged(ctx, dir)
			r.Proved += n
		}
	}
	return r, err
}

// clearParcels empties the applied parcels that shards keep: only their numbers are needed. It
// fails with ErrNotPurged if a parcel is pending.
func clearParcels(dir string, shardDirs []string) (err error) {
	lock, err := datadir.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	post := parcel.NewFolder(durable.OS, shards.Parcels(dir))
	for to, shard := range shardDirs {
		applied := received(shard, len(shardDirs))
		ids, err := post.List(to)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if id.From >= len(applied) || id.Number > applied[id.From] {
				return fmt.Errorf("%w: parcel %s is pending", ErrNotPurged, id)
			}
			if err := post.Replace(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// clearCopies deletes copies of structures: snapshots of killed processes, and structures that
// repairs set aside.
func clearCopies(dir string) error {
	w, err := datadir.OpenShard(dir)
	if err != nil {
		return err
	}
	copies := []string{
		snapshot.Backup.Folder(dir), snapshot.Publish.Folder(dir), filepath.Join(dir, datadir.ManifestName+".damaged"),
	}
	for _, pattern := range []string{"docindex.*", "*.tmp", "*/*.tmp", "*/*/*.tmp"} {
		found, failed := datadir.Glob(dir, pattern)
		copies, err = append(copies, found...), errors.Join(err, failed)
	}
	for _, path := range copies {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return errors.Join(err, w.Close())
}

// A prover searches a data folder for blocked pages.
type prover struct {
	dir     string
	blocked func(url string) bool
	read    int
}

// provePurged reads repository, index and links. It fails with ErrNotPurged if one of them has data
// of a blocked page, or if there is a file that none of them names. It returns the number of items
// read.
func provePurged(ctx context.Context, dir string) (int, error) {
	p := &prover{dir: dir}
	err := docindex.Read(dir, func(db *docindex.DB) error {
		patterns, err := urlserver.BlockedPatterns(db)
		if err != nil {
			return err
		}
		p.blocked = func(url string) bool {
			u, err := weburl.Parse(url)
			for _, pattern := range patterns {
				if err == nil && weburl.MatchPattern(pattern, &u) {
					return true
				}
			}
			return false
		}
		blocked := map[vocab.DocID]bool{}
		if err := db.Each(1, func(r docindex.Record) error {
			if p.blocked(r.URL) {
				blocked[r.Doc] = true
			}
			return ctx.Err()
		}); err != nil {
			return err
		}
		m, err := datadir.ReadManifest(dir)
		if err != nil {
			return err
		}
		for _, prove := range []func() error{
			func() error { return p.repository(ctx, blocked) },
			func() error { return p.segments(ctx, m, blocked) },
			func() error { return p.links(m, blocked) },
			func() error { return p.files(m) },
		} {
			if err := prove(); err != nil {
				return err
			}
		}
		return nil
	})
	return p.read, err
}

func (p *prover) left(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotPurged, fmt.Sprintf(format, args...))
}

func (p *prover) repository(ctx context.Context, blocked map[vocab.DocID]bool) error {
	repo, err := repository.OpenReader(datadir.Repository(p.dir))
	if err != nil {
		return err
	}
	err = repo.Scan(0, func(at vocab.Address, r *repository.Record) error {
		p.read++
		if blocked[r.Page.Doc] || p.blocked(r.Page.URL) {
			return p.left("the repository has %s at %v", r.Page.URL, at)
		}
		return ctx.Err()
	})
	return errors.Join(err, repo.Close())
}

func (p *prover) segments(ctx context.Context, m datadir.Manifest, blocked map[vocab.DocID]bool) error {
	for _, name := range m.Segments {
		s, err := segment.OpenWhole(datadir.Segment(p.dir, name), nil)
		if err != nil {
			return err
		}
		err = segment.Guard(func() error {
			return s.EachDoc(func(_ vocab.Ordinal, info vocab.DocInfo) error {
				p.read++
				if blocked[info.Doc] || p.blocked(info.URL) {
					return p.left("segment %s has %s", name, info.URL)
				}
				return ctx.Err()
			})
		})
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// links searches for links of blocked pages, and for their anchor texts.
func (p *prover) links(m datadir.Manifest, blocked map[vocab.DocID]bool) error {
	for _, path := range linkdb.Paths(p.dir, m.Links) {
		run, err := linkdb.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(p.run(run, blocked), run.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (p *prover) run(run *linkdb.Run, blocked map[vocab.DocID]bool) error {
	for source, err := range run.Sources() {
		if err != nil {
			return err
		}
		if p.read++; blocked[source.Doc] && len(source.Targets) > 0 {
			return p.left("the links of document %d", source.Doc)
		}
	}
	for anchors, err := range run.Anchors() {
		if err != nil {
			return err
		}
		for _, text := range anchors.Texts {
			for _, source := range text.Sources {
				if p.read++; blocked[source] {
					return p.left("texts of links of document %d", source)
				}
			}
		}
	}
	return nil
}

// files searches for files that belong to no structure.
func (p *prover) files(m datadir.Manifest) error {
	named := map[string]bool{}
	for _, name := range m.Segments {
		named[datadir.Segment(p.dir, name)] = true
	}
	for _, name := range m.Links {
		named[datadir.Links(p.dir, name)] = true
	}
	for _, pattern := range []string{"index/*", "links/*", "barrels/*", "docindex?*", "snapshot/data", "snapshot/published"} {
		paths, err := datadir.Glob(p.dir, pattern)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if !named[path] {
				return p.left("%s is not part of the folder", strings.TrimPrefix(path, p.dir))
			}
		}
	}
	return nil
}
