package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/vocab"
	"anatomy/warc"
)

// Public creates the data folder o.Dir with the pages of dir that were fetched without credentials,
// as an export and an import would. The new folder is made from these pages and redirects only.
// Other pages, their links, and URLs and anchor texts that occur only in them leave no trace. So a
// server of the new folder answers as if they had never been fetched.
func Public(ctx context.Context, dir string, o ImportOptions) (ImportReport, error) {
	entries, err := os.ReadDir(o.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return ImportReport{}, err
	}
	if len(entries) > 0 {
		return ImportReport{}, fmt.Errorf("%s: %w", o.Dir, ErrNotEmpty)
	}
	from, to := io.Pipe()
	exported := make(chan error, 1)
	go func() {
		err := exportPublic(ctx, to, dir)
		exported <- err
		to.CloseWithError(err) // like Close if err is nil
	}()
	o.Files, o.InOrder = []string{dir}, true
	o.Open = func(string) (io.ReadCloser, error) { return from, nil }
	report, err := Import(ctx, o)
	from.Close()
	if failed := <-exported; err == nil || !errors.Is(failed, io.ErrClosedPipe) { // which follows from err
		err = errors.Join(err, failed)
	}
	return report, err
}

// A publicRecord is a record that was fetched without credentials.
type publicRecord struct {
	fetched int64 // Unix seconds
	url     string
	doc     vocab.DocID
}

// exportPublic writes the pages that were fetched without credentials as a web archive, each with
// its body, in the order of fetching. The order and content of the repository would depend on the
// other pages, too, because their links decide which of several pages with one body is the
// canonical one.
func exportPublic(ctx context.Context, w io.Writer, dir string) error {
	archive, err := warc.NewWriter(w, warc.Plain)
	if err != nil {
		return err
	}
	return docindex.Use(dir, func(db *docindex.DB) error {
		repo, err := repository.OpenReader(datadir.Repository(dir))
		if err != nil {
			return err
		}
		defer repo.Close()
		var all []publicRecord
		err = db.Each(1, func(r docindex.Record) error {
			if f := r.Fetch; f != nil && f.Address != 0 && !f.SignedIn {
				all = append(all, publicRecord{f.Fetched.Unix(), r.URL, r.Doc})
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b publicRecord) int {
			return cmp.Or(cmp.Compare(a.fetched, b.fetched), strings.Compare(a.url, b.url))
		})
		var report ExportReport
		e := exporter{w: archive, db: db, repo: repo, o: ExportOptions{Now: time.Now}, report: &report}
		if err := e.begin(); err != nil {
			return err
		}
		for _, p := range all {
			if err := cmp.Or(ctx.Err(), e.public(p.doc)); err != nil {
				return err
			}
		}
		return nil
	})
}

// public writes the record of a document. A duplicate gets the body of its canonical page, unless
// that was fetched with credentials.
func (e *exporter) public(doc vocab.DocID) error {
	d, ok, err := e.db.Get(doc)
	if err != nil || !ok {
		return err
	}
	rec, err := e.repo.Read(d.Fetch.Address)
	if err != nil {
		return err
	}
	if rec.Kind == repository.DuplicateRecord {
		of, ok, err := e.db.Get(d.Fetch.Alias) // the current canonical page; rec may name a former one
		if err != nil || !ok || of.Fetch == nil || of.Fetch.Content != d.Fetch.Content || of.Fetch.SignedIn {
			return err
		}
		original, err := e.repo.Read(of.Fetch.Address)
		if err != nil {
			return err
		}
		page := original.Page
		page.URL, page.Fetched = rec.Page.URL, rec.Page.Fetched
		rec.Kind, rec.Page = repository.PageRecord, page
	}
	if rec.Page.SignedIn {
		return nil
	}
	return e.record(&rec, &d)
}
