package barrel

import (
	"bytes"
	"fmt"
	"io"

	"anatomy/vocab"
	"anatomy/weburl"
)

// Check reads a file and checks everything that the format demands, orders included.
func Check(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for id := 1; id < f.Terms(); id++ {
		if a, b := f.Term(vocab.TermID(id-1)), f.Term(vocab.TermID(id)); bytes.Compare(a, b) >= 0 {
			return fmt.Errorf("barrel: %s: lexicon: %q before %q", path, a, b)
		}
	}
	if err := f.checkDocs(); err != nil {
		return err
	}
	scan := f.Scan()
	for scan.NextTerm() {
		for scan.Next() {
			hits := scan.Hits()
			for i := 1; i < len(hits); i++ {
				if !hits[i-1].Before(hits[i]) {
					return f.errorAt(fmt.Sprintf("barrel %d", scan.barrel), &f.barrels[scan.barrel], fmt.Errorf("term %q, document %d: hit %v before %v", scan.Term(), scan.Ord(), hits[i-1], hits[i]))
				}
			}
		}
	}
	return scan.Err()
}

func (f *File) checkDocs() error {
	last := ""
	return f.EachDoc(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		u, err := weburl.Parse(info.URL)
		if err != nil {
			return fmt.Errorf("barrel: %s: document %d: %w", f.path, ord, err)
		}
		key := u.Key()
		if key < last {
			return fmt.Errorf("barrel: %s: document %d: %s before %s", f.path, ord, last, key)
		}
		last = key
		return nil
	})
}

// Dump prints the content of a file.
func Dump(out io.Writer, path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(out, "documents %d, words %d, barrels %d\nlexicon at %d, %d bytes\n", f.docs, f.Terms(), f.Barrels(), f.lexicon.offset, f.lexicon.length)
	for id := range f.Terms() {
		fmt.Fprintf(out, "  %d %s\n", id, f.Term(vocab.TermID(id)))
	}
	for _, s := range f.texts {
		fmt.Fprintf(out, "texts at %d, %d bytes of %d\n", s.offset, s.length, s.raw)
	}
	for _, s := range f.blocks {
		fmt.Fprintf(out, "documents at %d, %d bytes\n", s.offset, s.length)
	}
	err = f.EachDoc(func(ord vocab.Ordinal, d vocab.DocInfo) error {
		fmt.Fprintf(out, "  %d doc %d %s place %v words %d lang %q\n    title %q\n    text %q\n", ord, d.Doc, d.URL, d.Address, d.Words, d.Lang, d.Title, d.Text)
		return nil
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
			fmt.Fprintf(out, "barrel %d at %d, %d bytes: words %d to %d, %d postings, %d hits\n", shown, s.offset, s.length, s.first, s.end, s.postings, s.hits)
			fmt.Fprintf(out, "  % x\n", scan.buf)
		}
		fmt.Fprintf(out, "  %s\n", scan.Term())
		for scan.Next() {
			fmt.Fprintf(out, "    document %d: %v\n", scan.Ord(), scan.Hits())
		}
	}
	return scan.Err()
}
