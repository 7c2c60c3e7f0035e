package linkdb

import (
	"fmt"
	"io"
	"iter"

	"anatomy/vocab"
)

// Totals counts what a run holds.
type Totals struct {
	Names, Aliases, Dropped, Hidden, Sources, Links, Texts int
	Bytes                                                  int64
}

// Check reads every block of the run at path and says what is in it, or what is damaged.
func Check(path string) (Totals, error) {
	r, err := Open(path)
	if err != nil {
		return Totals{}, err
	}
	defer r.Close()
	t := Totals{Bytes: r.size}
	if t.Names, err = count(r.Names()); err != nil {
		return t, err
	}
	if t.Aliases, err = count(r.Aliases()); err != nil {
		return t, err
	}
	if t.Dropped, err = count(r.Dropped()); err != nil {
		return t, err
	}
	if t.Hidden, err = count(r.Hidden()); err != nil {
		return t, err
	}
	for s, err := range r.Sources() {
		if err != nil {
			return t, err
		}
		t.Sources++
		t.Links += len(s.Targets)
	}
	for a, err := range r.Anchors() {
		if err != nil {
			return t, err
		}
		t.Texts += len(a.Texts)
	}
	if uint64(t.Links) != r.links {
		return t, r.corrupt(r.size-footer, fmt.Sprintf("%d links where the directory has %d", t.Links, r.links))
	}
	return t, nil
}

func count[T any](records iter.Seq2[T, error]) (n int, err error) {
	for _, err := range records {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Dump writes a run as text, a line a record.
func Dump(w io.Writer, path string) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for n, err := range r.Names() {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "name %d %s\n", n.Doc, n.URL)
	}
	for a, err := range r.Aliases() {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "alias %d of %d\n", a.Doc, a.Of)
	}
	for doc, err := range r.Dropped() {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "dropped %d\n", doc)
	}
	for doc, err := range r.Hidden() {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "hidden %d\n", doc)
	}
	for s, err := range r.Sources() {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "links %d to", s.Doc)
		for _, t := range s.Targets {
			fmt.Fprintf(w, " %d", t.Doc)
			if t.Flags&vocab.NoFollow != 0 {
				fmt.Fprint(w, "(nofollow)")
			}
		}
		fmt.Fprintln(w)
	}
	for a, err := range r.Anchors() {
		if err != nil {
			return err
		}
		for _, t := range a.Texts {
			where := "site"
			if t.OffSite {
				where = "web"
			}
			fmt.Fprintf(w, "anchor %d %s %q from %v\n", a.Doc, where, t.Text, t.Sources)
		}
	}
	return nil
}
