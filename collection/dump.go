package collection

import (
	"fmt"
	"io"

	"anatomy/analysis"
	"anatomy/control"
	"anatomy/disk/barrel"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/ranking"
	"anatomy/vocab"
	"anatomy/weburl"
)

// DumpDocuments prints every key of the document index.
func DumpDocuments(w io.Writer, dir string, _ []string) error {
	return eachShard(dir, func(dir string) error {
		return docindex.Use(dir, func(db *docindex.DB) error { return db.Dump(w) })
	})
}

// eachShard calls fn with a data folder, or with each shard of a folder of shards.
func eachShard(dir string, fn func(dir string) error) error {
	if err := shards.Check(dir); err != nil {
		return err
	}
	dirs, err := shards.Folders(dir)
	for _, dir := range dirs {
		if err == nil {
			err = fn(dir)
		}
	}
	return err
}

// DumpRepository prints one line per record of the repository.
func DumpRepository(w io.Writer, dir string, _ []string) error {
	return eachShard(dir, func(dir string) error { return dumpRepository(w, dir) })
}

func dumpRepository(w io.Writer, dir string) error {
	r, err := repository.OpenReader(datadir.Repository(dir))
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Scan(0, func(place vocab.Address, record *repository.Record) error {
		_, err := fmt.Fprintln(w, place, record)
		return err
	})
}

// DumpPage prints the body of the page of a URL.
func DumpPage(w io.Writer, dir string, args []string) error {
	u, err := weburl.ParseTyped(args[0])
	if err != nil {
		return err
	}
	if m, err := shards.Read(dir); err != nil {
		return err
	} else if m != nil {
		dir = shards.Folder(dir, m.Of(&u))
	}
	return docindex.Use(dir, func(db *docindex.DB) error {
		t, err := control.Follow(db, u)
		if err != nil {
			return err
		}
		last := t[len(t)-1]
		if last.Fetch == nil || last.Fetch.Address == 0 {
			return fmt.Errorf("%s: no page is stored", last.URL)
		}
		r, err := repository.OpenReader(datadir.Repository(dir))
		if err != nil {
			return err
		}
		defer r.Close()
		record, err := r.Read(last.Fetch.Address)
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

// DumpLinks prints the current link runs.
func DumpLinks(w io.Writer, dir string, _ []string) error {
	return eachShard(dir, func(dir string) error { return dumpLinks(w, dir) })
}

func dumpLinks(w io.Writer, dir string) error {
	m, err := datadir.ReadManifest(dir)
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

// DumpWord prints the posting lists of a word in every segment. The word is analyzed like pages and
// queries.
func DumpWord(w io.Writer, dir string, args []string) error {
	return eachShard(dir, func(dir string) error { return dumpWord(w, dir, args[0]) })
}

func dumpWord(w io.Writer, dir, text string) error {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return err
	}
	for _, name := range m.Segments {
		for _, word := range analysis.PhraseTerms(text) {
			if err := segment.Dump(w, datadir.Segment(dir, name), word); err != nil {
				return err
			}
		}
	}
	return nil
}

// DumpBarrels prints a file of barrels. It needs no data folder.
func DumpBarrels(w io.Writer, _ string, args []string) error { return barrel.Dump(w, args[0]) }

// DumpRanks prints the documents and ranks of a vector, which is the default one without an argument.
func DumpRanks(w io.Writer, dir string, args []string) error {
	name := rankvector.Default
	if len(args) > 0 {
		name = args[0]
	}
	return eachShard(dir, func(dir string) error { return dumpRanks(w, dir, name) })
}

func dumpRanks(w io.Writer, dir, name string) error {
	v, err := rankvector.ReadFolder(dir, name)
	if err != nil {
		return err
	}
	if v == nil && name != rankvector.Default {
		return fmt.Errorf("%w: %.100q", ranking.ErrNoVector, name)
	}
	if v == nil {
		return nil
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
