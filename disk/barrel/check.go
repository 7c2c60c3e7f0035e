package barrel

import (
	"bytes"
	"fmt"
	"io"

	"anatomy/vocab"
	"anatomy/weburl"
)

// Check reads all of the file at path and proves that it is as the format says, orders included.
func Check(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for id := 1; id < f.Words(); id++ {
		if a, b := f.Word(vocab.WordID(id-1)), f.Word(vocab.WordID(id)); bytes.Compare(a, b) >= 0 {
			return fmt.Errorf("barrel: %s: lexicon: %q before %q", path, a, b)
		}
	}
	if err := f.checkDocs(); err != nil {
		return err
	}
	scan := f.Scan()
	for scan.NextWord() {
		for scan.Next() {
			hits := scan.Hits()
			for i := 1; i < len(hits); i++ {
				if !hits[i-1].Before(hits[i]) {
					return f.errorAt(fmt.Sprintf("barrel %d", scan.barrel), &f.barrels[scan.barrel], fmt.Errorf("word %q, document %d: hit %v before %v", scan.Word(), scan.Ord(), hits[i-1], hits[i]))
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

// Dump writes what the file at path holds, for people.
func Dump(out io.Writer, path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(out, "documents %d, words %d, barrels %d\nlexicon at %d, %d bytes\n", f.docs, f.Words(), f.Barrels(), f.lexicon.offset, f.lexicon.length)
	for id := range f.Words() {
		fmt.Fprintf(out, "  %d %s\n", id, f.Word(vocab.WordID(id)))
	}
	for _, s := range f.packed {
		fmt.Fprintf(out, "texts at %d, %d bytes of %d\n", s.offset, s.length, s.raw)
	}
	for _, s := range f.blocks {
		fmt.Fprintf(out, "documents at %d, %d bytes\n", s.offset, s.length)
	}
	err = f.EachDoc(func(ord vocab.Ordinal, d vocab.DocInfo) error {
		fmt.Fprintf(out, "  %d doc %d %s place %v words %d lang %q\n    title %q\n    text %q\n", ord, d.Doc, d.URL, d.Place, d.Words, d.Lang, d.Title, d.Text)
		return nil
	})
	if err != nil {
		return err
	}
	return f.dumpBarrels(out)
}

func (f *File) dumpBarrels(out io.Writer) error {
	scan, shown := f.Scan(), -1
	for scan.NextWord() {
		if shown < scan.barrel {
			shown = scan.barrel
			s := &f.barrels[shown]
			fmt.Fprintf(out, "barrel %d at %d, %d bytes: words %d to %d, %d postings, %d hits\n", shown, s.offset, s.length, s.first, s.end, s.postings, s.hits)
			fmt.Fprintf(out, "  % x\n", scan.buf)
		}
		fmt.Fprintf(out, "  %s\n", scan.Word())
		for scan.Next() {
			fmt.Fprintf(out, "    document %d: %v\n", scan.Ord(), scan.Hits())
		}
	}
	return scan.Err()
}

// A Size tells what the parts of a file take, in bytes.
type Size struct {
	Lexicon, Documents, Barrels int64 // texts are counted with the documents
	Hits                        int64 // a number
}

// Measure gives the sizes of the file at path.
func Measure(path string) (Size, error) {
	f, err := Open(path)
	if err != nil {
		return Size{}, err
	}
	defer f.Close()
	s := Size{Lexicon: f.lexicon.length}
	for _, of := range [...][]section{f.packed, f.blocks} {
		for i := range of {
			s.Documents += of[i].length
		}
	}
	for i := range f.barrels {
		s.Barrels += f.barrels[i].length
		s.Hits += int64(f.barrels[i].hits)
	}
	return s, nil
}
