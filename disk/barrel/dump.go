package barrel

import (
	"fmt"
	"io"

	"anatomy/vocab"
)

// Dump prints the content of a file: documents, then terms with their hits, barrel by barrel.
func Dump(out io.Writer, path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(out, "documents %d, terms %d, barrels %d\nlexicon at %d, %d bytes\n",
		f.docs, f.Terms(), f.Barrels(), f.lexicon.offset, f.lexicon.length)
	for _, s := range f.texts {
		fmt.Fprintf(out, "texts at %d, %d bytes of %d\n", s.offset, s.length, s.raw)
	}
	for _, s := range f.blocks {
		fmt.Fprintf(out, "documents at %d, %d bytes\n", s.offset, s.length)
	}
	err = f.EachDoc(func(ord vocab.Ordinal, d vocab.DocInfo) error {
		_, err := fmt.Fprintf(out, "  %d docID %d %s address %v words %d lang %q\n    title %q\n    text %q\n",
			ord, d.Doc, d.URL, d.Address, d.Words, d.Lang, d.Title, d.Text)
		return err
	})
	if err != nil {
		return err
	}
	return f.dumpBarrels(out)
}

func (f *File) dumpBarrels(out io.Writer) error {
	scan, shown := f.Scan(), -1
	for scan.NextTerm() {
		if shown < scan.barrel {
			shown = scan.barrel
			s := &f.barrels[shown]
			fmt.Fprintf(out, "barrel %d at %d, %d bytes: terms %d to %d, %d postings, %d hits\n",
				shown, s.offset, s.length, s.first, s.end, s.postings, s.hits)
		}
		fmt.Fprintf(out, "  %d %s\n", scan.term-1, scan.Term())
		for scan.Next() {
			if _, err := fmt.Fprintf(out, "    document %d: %v\n", scan.Ord(), scan.Hits()); err != nil {
				return err
			}
		}
	}
	return scan.Err()
}
