package barrel

import (
	"bytes"
	"fmt"

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
