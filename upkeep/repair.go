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

// RepairOptions are the options of Repair. The zero value is ready to use.
type RepairOptions struct {
	Log *slog.Logger
	PDF func(body []byte) ([]byte, error) // see engine.Options
}

// A RepairReport describes the result of a repair.
type RepairReport struct {
	Problems int      // found
	Lost     []string // URLs whose pages are lost: the next crawl fetches them
	Files    int      // files of the repository rewritten without damaged records
	Rebuilt  bool     // index, links and ranks were rebuilt from the repository
	Salvaged *Salvage // of a rebuilt document index; nil if it was not damaged
	Remain   int      // remaining problems
	Took     time.Duration
}

// Repair checks a data folder and repairs it. It keeps every record of the repository that can be
// read: damaged files are rewritten without the damaged records, and lost pages are queued for the
// next crawl. Segments, links and ranks are rebuilt from the repository, and the document index
// from everything that can be read. If one shard of a folder must be rebuilt, all are: each has the
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
		return report, err // for instance, dir is a shard
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

// repairStructures checks a data folder, and repairs everything that is not rebuilt from other
// structures.
func repairStructures(ctx context.Context, dir string, f *findings, r CheckReport, report *RepairReport) error {
	if err := repairHeaders(dir, f, r); err != nil {
		return err
	}
	r.findings = f
	if err := checkFolder(ctx, dir, r); err != nil {
		return err
	}
	return repairDocuments(ctx, dir, f, r, report)
}

// repairVersion rewrites a damaged VERSION.
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

// repairDocuments rebuilds a document index that is damaged, missing or foreign, and likewise the
// manifest and the repository. It repeats the checks that compare structures, which may find the
// next one.
func repairDocuments(ctx context.Context, dir string, f *findings, r CheckReport, report *RepairReport) error {
	for f.documents || f.manifest || f.pages {
		bad := *f
		f.documents, f.manifest, f.pages = false, false, false
		if bad.documents {
			if report.Salvaged != nil {
				return errors.New("the rebuilt document index is damaged")
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

// replaceManifest sets the manifest aside and publishes an empty one.
func replaceManifest(dir string) error {
	path := filepath.Join(dir, datadir.ManifestName)
	err := durable.Rename(durable.OS, path, path+".damaged")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return withoutIndex(dir)
}

// emptyRepository creates a repository without pages. No page will get an address that another page
// had.
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

// repairHeaders corrects damaged headers of repository files, which can have only one value.
func repairHeaders(dir string, f *findings, r CheckReport) error {
	w, err := datadir.OpenShard(dir)
	if err != nil {
		return err
	}
	err = repository.RepairHeaders(datadir.Repository(dir), func(problem error) {
		f.problems++
		r.Problem(problem)
	})
	return errors.Join(err, w.Close())
}

// repairRepository gives up lost pages, and rewrites damaged files without the damaged records. If
// the folder cannot be opened, its index is damaged too, and is set aside to be rebuilt.
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

// withoutIndex publishes an empty manifest.
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
