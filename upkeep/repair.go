package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/repository"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/vocab"
)

// RepairOptions are the options of Repair. The zero value works.
type RepairOptions struct {
	Log *slog.Logger
	PDF func(body []byte) ([]byte, error) // see engine.Options
}

// A RepairReport says what was repaired.
type RepairReport struct {
	Problems int      // found
	Lost     []string // URLs whose pages are lost: the next crawl fetches them
	Files    int      // of the repository, rewritten without what is damaged
	Rebuilt  bool     // index, links and ranks were made anew from the repository
	Salvaged *Salvage // of a document index that was made anew; nil if it was not damaged
	Remain   int      // problems that are left
	Took     time.Duration
}

// Repair checks a data folder and repairs it. Of the repository it keeps every record that can be
// read: files with damage are rewritten without it, and lost pages are queued for the next crawl.
// Segments, links and ranks are made anew from the repository, and the document index from what can
// be read of all of them. Of the shards that a crawl fills all are made anew if one is: each has the
// links of the others' pages to its own.
func Repair(ctx context.Context, dir string, o RepairOptions, r CheckReport) (report RepairReport, err error) {
	began := time.Now()
	defer func() { report.Took = time.Since(began) }()
	if shards.IsLive(dir) {
		err = repairShards(ctx, dir, o, r, &report)
		return report, err
	}
	f := &findings{files: map[uint32]bool{}}
	if err := repairVersion(dir, f, r); err != nil {
		return report, err
	}
	if w, err := datadir.Open(dir); err != nil {
		return report, err // for instance, it is a shard
	} else if err := w.Close(); err != nil {
		return report, err
	}
	if err := repairStructures(ctx, dir, f, r, &report); err != nil {
		return report, err
	}
	if report.Problems = f.problems; f.problems == 0 {
		return report, nil
	}
	if len(f.lost)+len(f.files) > 0 {
		if err := repairRepository(ctx, dir, o, f, &report); err != nil {
			return report, err
		}
	}
	if f.index {
		if _, err := Rebuild(ctx, dir, RebuildOptions{Log: o.Log, PDF: o.PDF}); err != nil {
			return report, err
		}
		report.Rebuilt = true
	}
	rest := CheckReport{Checked: func(string, string) {}, Problem: func(problem error) { report.Remain++; r.Problem(problem) }}
	return report, Check(ctx, dir, rest)
}

// repairStructures checks a data folder, and repairs all but what is made anew from others.
func repairStructures(ctx context.Context, dir string, f *findings, r CheckReport, report *RepairReport) error {
	if err := mendHeaders(dir, f, r); err != nil {
		return err
	}
	r.findings = f
	if err := checkFolder(ctx, dir, r); err != nil {
		return err
	}
	return repairDocuments(ctx, dir, f, r, report)
}

// repairVersion writes a damaged VERSION anew.
func repairVersion(dir string, f *findings, r CheckReport) error {
	repaired, err := datadir.RepairVersion(dir, func() (id string) {
		if db, err := docindex.OpenReadOnly(datadir.DocIndex(dir)); err == nil {
			id, _ = db.Folder()
			db.Close()
		}
		return id
	})
	if repaired != nil {
		f.problems++
		r.Problem(repaired)
	}
	return err
}

// repairDocuments makes a document index anew that is damaged, missing or foreign, a manifest and a
// repository likewise, and checks again what is compared with them. That may find the next of them.
func repairDocuments(ctx context.Context, dir string, f *findings, r CheckReport, report *RepairReport) error {
	for f.documents || f.manifest || f.pages {
		bad := *f
		f.documents, f.manifest, f.pages = false, false, false
		if bad.documents {
			if report.Salvaged != nil {
				return errors.New("repair: the document index that was made anew is damaged")
			}
			done, err := salvage(ctx, dir)
			if err != nil {
				return err
			}
			report.Salvaged = &done
		}
		if bad.manifest {
			if err := replaceManifest(dir); err != nil {
				return err
			}
			f.index = true
		}
		if bad.pages {
			if err := emptyRepository(dir); err != nil {
				return err
			}
		}
		f.lost = nil
		if err := checkFolder(ctx, dir, r); err != nil {
			return err
		}
	}
	return nil
}

// replaceManifest puts the manifest aside and publishes one that names nothing.
func replaceManifest(dir string) error {
	path := filepath.Join(dir, datadir.ManifestName)
	err := durable.Rename(durable.OS, path, path+".damaged")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return withoutIndex(dir)
}

// emptyRepository makes a repository without pages. No page gets an address that another had.
func emptyRepository(dir string) error {
	w, err := datadir.OpenShard(dir)
	if err != nil {
		return err
	}
	stored := vocab.Address(0)
	if db, err := docindex.OpenReadOnly(datadir.DocIndex(dir)); err == nil {
		stored = db.Stored()
		db.Close()
	}
	repo, err := repository.Open(datadir.Repository(dir), repository.Options{})
	if err == nil {
		err = errors.Join(repo.SkipTo(stored), repo.Close())
	}
	return errors.Join(err, w.Close())
}

// mendHeaders corrects damaged headers of files of the repository, which can have one value only.
func mendHeaders(dir string, f *findings, r CheckReport) error {
	w, err := datadir.OpenShard(dir)
	if err != nil {
		return err
	}
	err = repository.MendHeaders(datadir.Repository(dir), func(problem error) {
		f.problems++
		r.Problem(problem)
	})
	return errors.Join(err, w.Close())
}

// repairRepository gives up what is lost, and rewrites the files with damage without it. If the
// folder cannot be opened as it is, its index is damaged too, and is put aside to be made anew.
func repairRepository(ctx context.Context, dir string, o RepairOptions, f *findings, report *RepairReport) error {
	work := func(ctx context.Context, c *engine.Crawl) error {
		lost, files, err := c.DropDamage(ctx, f.lost, slices.Sorted(maps.Keys(f.files)))
		report.Lost, report.Files = append(report.Lost, lost...), report.Files+files
		return err
	}
	err := engine.Maintain(ctx, dir, engine.Options{Log: o.Log, PDF: o.PDF}, work)
	if err == nil || ctx.Err() != nil || datadir.IsBusy(err) {
		return err
	}
	f.index = true
	if err := withoutIndex(dir); err != nil {
		return err
	}
	return engine.Maintain(ctx, dir, engine.Options{Log: o.Log, PDF: o.PDF, NoIndex: true}, work)
}

// withoutIndex publishes a manifest that names nothing.
func withoutIndex(dir string) error {
	w, err := datadir.CreateShard(dir)
	if err != nil {
		return err
	}
	m, err := datadir.ReadManifest(dir)
	if err == nil {
		_, err = w.Publish(datadir.Manifest{Generation: m.Generation, Next: m.Next})
	}
	return errors.Join(err, w.Close())
}
