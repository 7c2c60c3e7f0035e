package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/disk/translations"
	"anatomy/vocab"
)

// A CheckReport receives the findings of Check.
type CheckReport struct {
	Checked func(structure, found string) // a structure was read completely
	Problem func(error)                   // a structure is damaged, or two structures disagree

	findings *findings         // for Repair
	lostTo   func(vocab.DocID) // receives the documents passed to lost; nil: findings does
}

// lost records that the record of a document cannot be read.
func (r *CheckReport) lost(doc vocab.DocID) {
	if r.lostTo != nil {
		r.lostTo(doc)
	} else if r.findings != nil {
		r.findings.lost = append(r.findings.lost, doc)
	}
}

// noting returns r with a Problem that first passes problems to note, for a repair.
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

// Check reads every structure of a data folder, or of all shards of a folder, and compares them
// with one another. It passes damage to r. It writes nothing and takes no lock. If a crawl is
// running it checks the folder as of one moment. An error means that the check itself failed, for
// instance because dir is not a data folder.
func Check(ctx context.Context, dir string, r CheckReport) error {
	m, err := shards.Read(dir)
	switch {
	case err != nil:
		r.Problem(err)
		return nil
	case m != nil:
		return checkShards(ctx, dir, m, r)
	}
	return checkFolder(ctx, dir, r)
}

func checkFolder(ctx context.Context, dir string, r CheckReport) error {
	none := func(*findings, error) {}
	index := func(f *findings, _ error) { f.index = true }
	documents := func(f *findings, _ error) { f.documents = true }
	if err := datadir.CheckVersion(dir); errors.As(err, new(*datadir.DamageError)) {
		r.Problem(err) // nothing else can be trusted
		return nil
	}
	if err := datadir.CheckDisks(durable.OS, dir); err != nil {
		return err // pages are on a disk that is not mounted, and not lost
	}
	m, unnamed := datadir.ReadManifest(dir)
	if errors.Is(unnamed, datadir.ErrNone) || errors.As(unnamed, new(*datadir.VersionError)) {
		return unnamed
	}
	if unnamed != nil {
		r.noting(func(f *findings, _ error) { f.manifest = true }).Problem(unnamed)
	}
	err := docindex.Read(dir, func(db *docindex.DB) error {
		if unnamed != nil {
			// without a document index of this folder, nothing can be compared
		} else if bad, err := db.Mismatch(dir, m); err != nil {
			r.noting(documents).Problem(err)
		} else if bad != nil {
			r.noting((*findings).addMismatch).Problem(bad)
		}
		repository, addresses := checkRepository, checkAddresses
		if datadir.IsLight(dir) {
			repository, addresses = checkNothing, checkNothing
			r.Checked("copy", "light: no posting lists, texts and pages, which other machines have")
		}
		for _, step := range []struct {
			check func(string, datadir.Manifest, *docindex.DB, CheckReport)
			note  func(*findings, error)
		}{
			{repository, (*findings).addRepository}, {checkDocuments, documents}, {addresses, none},
			{checkLinks, index}, {checkSegments, index}, {checkRanks, index}, {checkTranslations, index},
		} {
			if err := ctx.Err(); err != nil {
				return err
			}
			m = checkPublished(dir, m, r.noting(step.note), func(m datadir.Manifest, r CheckReport) {
				step.check(dir, m, db, r)
			})
		}
		return nil
	})
	switch {
	case errors.Is(err, docindex.ErrUnreadable):
		r.noting(documents).Problem(err)
		return nil
	case errors.As(err, new(*datadir.MismatchError)):
		r.noting((*findings).addMismatch).Problem(err)
		return nil
	}
	return err
}

// checkTries bounds the attempts at a step while merges publish manifests.
const checkTries = 10

// checkPublished runs a step of the check, and returns the manifest that it used. A merge meanwhile
// publishes another manifest and deletes the files of the previous one. So a step that found
// problems is repeated if the manifest has changed.
func checkPublished(
	dir string, m datadir.Manifest, r CheckReport, step func(datadir.Manifest, CheckReport),
) datadir.Manifest {
	for try := 1; ; try++ {
		var held []func()
		problems := false
		step(m, CheckReport{
			Checked: func(structure, found string) {
				held = append(held, func() { r.Checked(structure, found) })
			},
			Problem: func(err error) {
				problems = true
				held = append(held, func() { r.Problem(err) })
			},
			lostTo: func(doc vocab.DocID) { held = append(held, func() { r.lost(doc) }) },
		})
		now, err := datadir.ReadManifest(dir)
		if !problems || try == checkTries || err != nil || now.Generation == m.Generation {
			for _, report := range held {
				report()
			}
			return m
		}
		m = now
	}
}

// checkNothing replaces the check of a structure that a light copy lacks.
func checkNothing(string, datadir.Manifest, *docindex.DB, CheckReport) {}

// checkRepository reads the repository. A torn tail is the result of a crash, and counts as damage
// only if it contained acknowledged records.
func checkRepository(dir string, _ datadir.Manifest, db *docindex.DB, r CheckReport) {
	last := vocab.Address(0)
	if err := db.Each(1, func(d docindex.Record) error {
		if d.Fetch != nil {
			last = max(last, d.Fetch.Address)
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
	r.Checked("repository", fmt.Sprintf("pages %d, duplicates %d, redirects %d; blocks %d",
		t.Pages, t.Duplicates, t.Redirects, t.Blocks))
}

func checkDocuments(_ string, _ datadir.Manifest, db *docindex.DB, r CheckReport) {
	if err := db.Check(func(problem string) { r.Problem(errors.New("document index: " + problem)) }); err != nil {
		r.Problem(err)
	}
	counts, err := db.Counts()
	if err != nil {
		r.Problem(err)
	}
	r.Checked("docindex", fmt.Sprintf("documents %d, pages %d", counts.Known, counts.Pages))
}

// checkAddresses checks that every acknowledged record is in the repository at its address in the
// document index, belongs to that document and has its content.
func checkAddresses(dir string, _ datadir.Manifest, db *docindex.DB, r CheckReport) {
	repo, err := repository.OpenReader(datadir.Repository(dir))
	if err != nil {
		r.Problem(err)
		return
	}
	defer repo.Close()
	wanted := map[vocab.Address]docindex.Record{}
	if err := db.Each(1, func(d docindex.Record) error {
		if d.Fetch != nil && d.Fetch.Address != 0 {
			wanted[d.Fetch.Address] = d
		}
		return nil
	}); err != nil {
		r.Problem(err)
	}
	n := len(wanted)
	err = repo.Scan(0, func(address vocab.Address, record *repository.Record) error {
		d, ok := wanted[address]
		if !ok {
			return nil
		}
		delete(wanted, address)
		if record.Page.Doc != d.Doc {
			r.Problem(fmt.Errorf("document index: document %d should be at %v, where the record of document %d is", d.Doc, address, record.Page.Doc))
			r.lost(d.Doc)
		} else if record.Kind == repository.PageRecord && record.Page.Content() != d.Fetch.Content {
			r.Problem(fmt.Errorf("document index: the content of document %d at %v has changed", d.Doc, address))
			r.lost(d.Doc)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file does not exist if a compaction replaced it
		r.Problem(err)
	}
	if err := deleteMoved(dir, repo, wanted); err != nil {
		r.Problem(err)
	}
	for address, d := range wanted {
		r.Problem(fmt.Errorf("document index: document %d (%s) should be at %v, where there is no record", d.Doc, d.URL, address))
		r.lost(d.Doc)
	}
	r.Checked("addresses", fmt.Sprintf("records at the address in the document index %d", n-len(wanted)))
}

// deleteMoved deletes from wanted the records that are at another address by now, because a
// compaction moved them or because they were fetched again. If such a record is not at the new
// address, it adds the address to wanted.
func deleteMoved(
	dir string, repo *repository.Reader, wanted map[vocab.Address]docindex.Record,
) error {
	for range checkTries {
		if len(wanted) == 0 {
			return nil
		}
		moved := false
		err := docindex.Read(dir, func(db *docindex.DB) error {
			for address, d := range wanted {
				now, ok, err := db.Get(d.Doc)
				if err != nil {
					return err
				}
				if !ok || now.Fetch == nil || now.Fetch.Address == address {
					continue
				}
				moved = true
				delete(wanted, address)
				if now.Fetch.Address != 0 && !isInPlace(repo, &now) {
					wanted[now.Fetch.Address] = now
				}
			}
			return nil
		})
		if err != nil || !moved {
			return err
		}
	}
	return nil
}

// isInPlace reports whether the record of a document is at its address.
func isInPlace(repo *repository.Reader, d *docindex.Record) bool {
	record, err := repo.Read(d.Fetch.Address)
	return err == nil && record.Page.Doc == d.Doc &&
		(record.Kind != repository.PageRecord || record.Page.Content() == d.Fetch.Content)
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
	r.Checked("links", fmt.Sprintf("links %d, anchor texts %d, aliases %d, names %d; runs %d",
		all.Links, all.Texts, all.Aliases, all.Names, len(m.Links)))
}

func checkSegments(dir string, m datadir.Manifest, _ *docindex.DB, r CheckReport) {
	check := segment.Check
	if datadir.IsLight(dir) {
		check = segment.CheckLight
	}
	for _, name := range m.Segments {
		if err := check(datadir.Segment(dir, name)); err != nil {
			r.Problem(err)
		}
	}
	r.Checked("index", fmt.Sprintf("segments %d", len(m.Segments)))
}

// checkTranslations reads the table of translations, if there is one.
func checkTranslations(dir string, m datadir.Manifest, _ *docindex.DB, r CheckReport) {
	t, err := translations.Read(dir)
	if err != nil {
		r.Problem(err)
	}
	if t == nil {
		return
	}
	for _, g := range t.Groups {
		if last := g[len(g)-1].Doc; last > m.Known {
			r.Problem(fmt.Errorf("translations: document %d is not known", last))
		}
	}
	r.Checked("translations", fmt.Sprintf("pages %d; groups %d", t.Versions(), len(t.Groups)))
}

func checkRanks(dir string, m datadir.Manifest, _ *docindex.DB, r CheckReport) {
	var checked []string
	for _, name := range m.RankNames() {
		v, err := rankvector.ReadNamed(dir, m, name)
		if err != nil {
			r.Problem(err)
			continue
		}
		sum := 0.0
		for _, x := range v.Ranks {
			sum += float64(x)
		}
		checked = append(checked, fmt.Sprintf("%s: documents %d, sum %.6f", name, len(v.Ranks), sum))
	}
	if len(m.Ranks) == 0 {
		checked = []string{"none computed yet"}
	}
	if len(checked) > 0 {
		r.Checked("rank", strings.Join(checked, "; "))
	}
}
