package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/vocab"
)

// findings are what a check found that can be mended.
type findings struct {
	problems int
	lost     []vocab.DocID   // whose records cannot be read
	files    map[uint32]bool // of the repository, with damage
	index    bool            // index, links, ranks

	documents bool // the document index
	manifest  bool // which names index and links
}

// note takes down a problem of the repository.
func (f *findings) note(problem error) {
	var damage *repository.DamageError
	var number uint32
	if errors.As(problem, &damage) {
		if _, err := fmt.Sscanf(filepath.Base(damage.File), "%d.repo", &number); err == nil && filepath.Ext(damage.File) == ".repo" {
			f.files[number] = true
		} else {
			f.index = true // a table of moved records: an index made anew needs none
		}
	}
}

// RepairOptions say how to repair a data folder.
type RepairOptions struct {
	Log *slog.Logger
	PDF func(body []byte) ([]byte, error) // see Options
}

// A RepairReport says what was mended.
type RepairReport struct {
	Problems int      // found
	Lost     []string // URLs whose pages are lost: the next crawl fetches them
	Files    int      // of the repository, rewritten without what is damaged
	Rebuilt  bool     // index, links and ranks were made anew from the repository
	Salvaged *Salvage // what a document index that was made anew consists of; nil where it was whole
	Remain   int      // problems that are there still
	Took     time.Duration
}

// Repair checks a data folder and mends what can be mended. Of the repository it keeps all that can be read: files with
// damage are rewritten without it, and what was lost is forgotten, so that the next crawl fetches it. Index, links
// and ranks are made anew from the repository, and so is the document index, from what can be read of all of them.
func Repair(ctx context.Context, dir string, o RepairOptions, r CheckReport) (report RepairReport, err error) {
	began := time.Now()
	defer func() { report.Took = time.Since(began) }()
	f := &findings{files: map[uint32]bool{}}
	if err := mendHeaders(dir, f, r); err != nil {
		return report, err
	}
	r.findings = f
	if err := Check(ctx, dir, r); err != nil {
		return report, err
	}
	if err := repairDocuments(ctx, dir, f, r, &report); err != nil {
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

// repairDocuments makes a document index anew that is damaged, looks again at everything that is compared with it, and
// puts a manifest aside that is damaged.
func repairDocuments(ctx context.Context, dir string, f *findings, r CheckReport, report *RepairReport) error {
	if f.documents {
		done, err := salvage(ctx, dir)
		if err != nil {
			return err
		}
		report.Salvaged = &done
		if err := Check(ctx, dir, r); err != nil {
			return err
		}
	}
	if f.manifest {
		path := filepath.Join(dir, "MANIFEST")
		if err := os.Rename(path, path+".damaged"); err != nil {
			return err
		}
		f.index = true
	}
	return nil
}

// mendHeaders writes the headers of files of the repository that are not what they can only be.
func mendHeaders(dir string, f *findings, r CheckReport) error {
	w, err := datadir.Open(dir)
	if err != nil {
		return err
	}
	err = repository.MendHeaders(datadir.Repository(dir), func(problem error) {
		f.problems++
		r.Problem(problem)
	})
	return errors.Join(err, w.Close())
}

// repairRepository forgets what is lost, and copies the rest out of the files with damage. Where the folder cannot be
// opened as it is, its index is damaged too: it is left aside then, and made anew afterwards.
func repairRepository(ctx context.Context, dir string, o RepairOptions, f *findings, report *RepairReport) error {
	work := func(c *Crawl, ctx context.Context) error { return c.mend(ctx, f, report) }
	err := maintain(ctx, dir, Options{Log: o.Log, PDF: o.PDF}, work)
	if err == nil || errors.Is(err, context.Canceled) || isBusy(err) {
		return err
	}
	f.index = true
	if err := withoutIndex(dir); err != nil {
		return err
	}
	return maintain(ctx, dir, Options{Log: o.Log, PDF: o.PDF, NoIndex: true}, work)
}

// mend is the part of Repair that needs the stages of a crawl.
func (c *Crawl) mend(ctx context.Context, f *findings, report *RepairReport) error {
	for _, doc := range f.lost {
		urls, err := c.urls.Lose(doc)
		if err != nil {
			return err
		}
		report.Lost = append(report.Lost, urls...)
	}
	if err := c.repo.Roll(); err != nil {
		return err
	}
	k := &compactor{Crawl: c, report: &CompactReport{}, mend: true}
	for _, number := range slices.Sorted(maps.Keys(f.files)) {
		if err := k.file(ctx, number); err != nil {
			return err
		}
	}
	report.Files = k.report.Rewritten
	return nil
}

// withoutIndex puts a manifest in force that names nothing.
func withoutIndex(dir string) error {
	w, err := datadir.Create(dir)
	if err != nil {
		return err
	}
	m, err := datadir.Read(dir)
	if err == nil {
		_, err = w.Publish(datadir.Manifest{Generation: m.Generation, Next: m.Next})
	}
	return errors.Join(err, w.Close())
}
