package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/vocab"
	"anatomy/words"
)

// withDocuments opens the document index while nobody else writes to the folder.
func withDocuments(dir string, use func(*docindex.DB) error) (err error) {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, "docindex")
	switch _, err := os.Stat(path); {
	case err != nil && repositoryHolds(dir):
		return fmt.Errorf("%w: %w", errDocuments, err)
	case err != nil:
		return fmt.Errorf("%s: %w", dir, datadir.ErrNone)
	}
	w, err := datadir.Create(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	db, err := docindex.Open(path, docindex.Options{})
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errDocuments, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}

// errDocuments says that the document index cannot be opened.
var errDocuments = errors.New("the document index is damaged, so that nothing else can be compared with it")

func isBusy(err error) bool {
	var busy *datadir.BusyError
	return errors.As(err, &busy)
}

// A CheckReport hears what Check finds.
type CheckReport struct {
	Checked func(structure, found string) // a structure was read whole
	Problem func(error)                   // something is damaged, or does not agree

	findings *findings // for Repair
}

// lost notes that the record of a document cannot be read.
func (r *CheckReport) lost(doc vocab.DocID) {
	if r.findings != nil {
		r.findings.lost = append(r.findings.lost, doc)
	}
}

// noting is r, with its problems taken down.
func (r CheckReport) noting(note func(*findings, error)) CheckReport {
	f, problem := r.findings, r.Problem
	if f != nil {
		r.Problem = func(err error) {
			f.problems++
			note(f, err)
			problem(err)
		}
	}
	return r
}

// Check proves every structure of a data folder and compares them with one another. Damage goes to
// the report; the error is about the check itself: a folder that is none or in use.
func Check(ctx context.Context, dir string, r CheckReport) error {
	none := func(*findings, error) {}
	index := func(f *findings, _ error) { f.index = true }
	documents := func(f *findings, _ error) { f.documents = true }
	err := withDocuments(dir, func(db *docindex.DB) error {
		m, err := datadir.Read(dir)
		if err != nil {
			r.noting(func(f *findings, _ error) { f.manifest = true }).Problem(err)
		}
		for _, step := range []struct {
			check func(string, datadir.Manifest, *docindex.DB, CheckReport)
			note  func(*findings, error)
		}{
			{checkRepository, (*findings).note}, {checkDocuments, documents}, {checkPlaces, none},
			{checkLinks, index}, {checkSegments, index}, {checkRanks, index},
		} {
			if err := ctx.Err(); err != nil {
				return err
			}
			step.check(dir, m, db, r.noting(step.note))
		}
		return nil
	})
	if errors.Is(err, errDocuments) {
		r.noting(documents).Problem(err)
		return nil
	}
	return err
}

// checkRepository proves the repository. A torn tail is what a crash leaves, and no damage unless it
// should hold what was acknowledged.
func checkRepository(dir string, _ datadir.Manifest, db *docindex.DB, r CheckReport) {
	last := vocab.Place(0)
	if err := db.Each(1, func(d docindex.Record) error {
		if d.Fetch != nil {
			last = max(last, d.Fetch.Place)
		}
		return nil
	}); err != nil {
		r.Problem(err)
	}
	t, err := repository.Check(datadir.Repository(dir), func(problem error) {
		var tail *repository.TailError
		if !errors.As(problem, &tail) || filepath.Base(tail.File) == fmt.Sprintf("%06d.repo", last.File()) && tail.Offset <= last.Offset() {
			r.Problem(fmt.Errorf("repository: %w", problem))
		}
	})
	if err != nil {
		r.Problem(err)
	}
	r.Checked("repository", fmt.Sprintf("%d pages, %d duplicates, %d redirects in %d blocks", t.Pages, t.Duplicates, t.Redirects, t.Blocks))
}

func checkDocuments(_ string, _ datadir.Manifest, db *docindex.DB, r CheckReport) {
	if err := db.Check(func(problem string) { r.Problem(errors.New("docindex: " + problem)) }); err != nil {
		r.Problem(err)
	}
	counts, err := db.Counts()
	if err != nil {
		r.Problem(err)
	}
	r.Checked("docindex", fmt.Sprintf("%d documents, %d pages", counts.Known, counts.Pages))
}

// checkPlaces proves that every page that was acknowledged is in the repository where the document
// index says, and is the page of that document with that content.
func checkPlaces(dir string, _ datadir.Manifest, db *docindex.DB, r CheckReport) {
	repo, err := repository.OpenReader(datadir.Repository(dir))
	if err != nil {
		r.Problem(err)
		return
	}
	defer repo.Close()
	wanted := map[vocab.Place]docindex.Record{}
	if err := db.Each(1, func(d docindex.Record) error {
		if d.Fetch != nil && d.Fetch.Place != 0 {
			wanted[d.Fetch.Place] = d
		}
		return nil
	}); err != nil {
		r.Problem(err)
	}
	n := len(wanted)
	if err := repo.Scan(0, func(place vocab.Place, record *repository.Record) error {
		d, ok := wanted[place]
		if !ok {
			return nil
		}
		delete(wanted, place)
		if record.Page.Doc != d.Doc {
			r.Problem(fmt.Errorf("docindex: document %d is said to be at %v, where %d is", d.Doc, place, record.Page.Doc))
			r.lost(d.Doc)
		} else if record.Kind == repository.PageRecord && vocab.ContentOf(record.Page.Body) != d.Fetch.Content {
			r.Problem(fmt.Errorf("docindex: content of document %d at %v is another", d.Doc, place))
			r.lost(d.Doc)
		}
		return nil
	}); err != nil {
		r.Problem(err)
	}
	for place, d := range wanted {
		r.Problem(fmt.Errorf("docindex: document %d (%s) is said to be at %v, where nothing is", d.Doc, d.URL, place))
		r.lost(d.Doc)
	}
	r.Checked("places", fmt.Sprintf("%d acknowledged records are where they should be", n-len(wanted)))
}

func checkLinks(dir string, m datadir.Manifest, _ *docindex.DB, r CheckReport) {
	var all linkdb.Totals
	for _, name := range m.Links {
		t, err := linkdb.Check(datadir.Links(dir, name))
		if err != nil {
			r.Problem(err)
		}
		all.Links, all.Texts, all.Aliases, all.Names = all.Links+t.Links, all.Texts+t.Texts, all.Aliases+t.Aliases, all.Names+t.Names
	}
	r.Checked("links", fmt.Sprintf("%d links, %d anchor texts, %d aliases, %d names in %d runs", all.Links, all.Texts, all.Aliases, all.Names, len(m.Links)))
}

// checkSegments proves the segments, and that there is a manifest if there was one ever: a folder
// that lost it looks new otherwise. Ranks tell, for they are of links that a manifest named; segments
// do not, for a crash before the first manifest leaves some too.
func checkSegments(dir string, m datadir.Manifest, _ *docindex.DB, r CheckReport) {
	if v, _ := readRanks(dir); m.Generation == 0 && v != nil {
		r.Problem(errors.New("data folder: MANIFEST is missing, but ranks are there"))
	}
	for _, name := range m.Segments {
		if err := segment.Check(datadir.Segment(dir, name)); err != nil {
			r.Problem(err)
		}
	}
	r.Checked("index", fmt.Sprintf("%d segments", len(m.Segments)))
}

func checkRanks(dir string, _ datadir.Manifest, _ *docindex.DB, r CheckReport) {
	v, err := readRanks(dir)
	switch {
	case err != nil:
		r.Problem(err)
	case v == nil:
		r.Checked("rank", "none computed yet")
	default:
		sum := 0.0
		for _, x := range v.Ranks {
			sum += float64(x)
		}
		r.Checked("rank", fmt.Sprintf("%d ranks, sum %.6f", len(v.Ranks), sum))
	}
}

// DumpDocuments prints every key of the document index.
func DumpDocuments(w io.Writer, dir string, _ []string) error {
	return withDocuments(dir, func(db *docindex.DB) error { return db.Dump(w) })
}

// DumpRepository prints a line a record.
func DumpRepository(w io.Writer, dir string, _ []string) error {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	r, err := repository.OpenReader(datadir.Repository(dir))
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Scan(0, func(place vocab.Place, record *repository.Record) error {
		_, err := fmt.Fprintln(w, place, record)
		return err
	})
}

// DumpPage prints the body of the page of a URL.
func DumpPage(w io.Writer, dir string, args []string) error {
	u, err := ParseSeed(args[0])
	if err != nil {
		return err
	}
	return withDocuments(dir, func(db *docindex.DB) error {
		t, err := trace(db, u)
		if err != nil {
			return err
		}
		last := t[len(t)-1]
		if last.Fetch == nil || last.Fetch.Place == 0 {
			return fmt.Errorf("%s: no page is stored", last.URL)
		}
		r, err := repository.OpenReader(datadir.Repository(dir))
		if err != nil {
			return err
		}
		defer r.Close()
		record, err := r.Read(last.Fetch.Place)
		if err != nil {
			return err
		}
		if record.Kind != repository.PageRecord {
			return fmt.Errorf("%s: no page is stored, only a %s", last.URL, record.Kind)
		}
		_, err = w.Write(record.Page.Body)
		return err
	})
}

// DumpLinks prints the link runs in force.
func DumpLinks(w io.Writer, dir string, _ []string) error {
	m, err := datadir.Read(dir)
	if err != nil {
		return err
	}
	for _, name := range m.Links {
		if err := linkdb.Dump(w, datadir.Links(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// DumpWord prints the lists of a word, folded as pages and queries are, in every segment.
func DumpWord(w io.Writer, dir string, args []string) error {
	m, err := datadir.Read(dir)
	if err != nil {
		return err
	}
	for _, name := range m.Segments {
		for _, word := range words.Sequence(args[0]) {
			if err := segment.Dump(w, datadir.Segment(dir, name), word); err != nil {
				return err
			}
		}
	}
	return nil
}

// DumpRanks prints documents and ranks.
func DumpRanks(w io.Writer, dir string, _ []string) error {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	v, err := readRanks(dir)
	if err != nil || v == nil {
		return err
	}
	for doc, rank := range v.Ranks {
		if rank != 0 {
			if _, err := fmt.Fprintf(w, "%d\t%.9g\n", doc, rank); err != nil {
				return err
			}
		}
	}
	return nil
}
