package linkdb

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"anatomy/vocab"
)

// Totals are the totals of a run.
type Totals struct {
	Names, Aliases, NotFound, NoIndex, Sources, Links, Texts int
	Bytes                                                    int64
}

// Check verifies every block of the run at path and returns its totals. The error is a
// *CorruptError if it is damaged.
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
	if t.NotFound, err = count(r.NotFound()); err != nil {
		return t, err
	}
	if t.NoIndex, err = count(r.NoIndex()); err != nil {
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

// Dump writes a run as text, one line per record.
func Dump(w io.Writer, path string) error {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, section := range []func() error{
		func() error { return dump(w, r.Names(), dumpName) },
		func() error { return dump(w, r.Aliases(), dumpAlias) },
		func() error { return dump(w, r.NotFound(), dumpDropped) },
		func() error { return dump(w, r.NoIndex(), dumpHidden) },
		func() error { return dump(w, r.Sources(), dumpSource) },
		func() error { return dump(w, r.Anchors(), dumpAnchors) },
	} {
		if err := section(); err != nil {
			return err
		}
	}
	return nil
}

func dump[T any](w io.Writer, records iter.Seq2[T, error], line func(io.Writer, T) error) error {
	for record, err := range records {
		if err != nil {
			return err
		}
		if err := line(w, record); err != nil {
			return err
		}
	}
	return nil
}

func dumpName(w io.Writer, n Name) error {
	_, err := fmt.Fprintf(w, "name %d %s\n", n.Doc, n.URL)
	return err
}

func dumpAlias(w io.Writer, a Alias) error {
	_, err := fmt.Fprintf(w, "alias %d of %d\n", a.Doc, a.Of)
	return err
}

func dumpDropped(w io.Writer, doc vocab.DocID) error {
	_, err := fmt.Fprintf(w, "dropped %d\n", doc)
	return err
}

func dumpHidden(w io.Writer, doc vocab.DocID) error {
	_, err := fmt.Fprintf(w, "hidden %d\n", doc)
	return err
}

func dumpSource(w io.Writer, s Source) error {
	var b strings.Builder
	for _, t := range s.Targets {
		fmt.Fprintf(&b, " %d", t.Doc)
		if t.Flags&vocab.NoFollow != 0 {
			b.WriteString("(nofollow)")
		}
	}
	_, err := fmt.Fprintf(w, "links %d to%s\n", s.Doc, b.String())
	return err
}

func dumpAnchors(w io.Writer, a Anchors) error {
	for _, t := range a.Texts {
		where := "site"
		if t.OffSite {
			where = "web"
		}
		if _, err := fmt.Fprintf(w, "anchor %d %s %q from %v\n", a.Doc, where, t.Text, t.Sources); err != nil {
			return err
		}
	}
	return nil
}
