package segment

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"anatomy/vocab"
)

// Dump prints the segment in dir: totals, documents, and each term with its postings and hits. If filter
// is not empty, it prints only terms that match it, a pattern of path.Match such as "pagerank" or
// "web*", and no documents.
func Dump(out io.Writer, dir, filter string) error {
	s, err := Open(dir, nil)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	err = Guard(func() error { return s.dump(w, filter) })
	return errors.Join(err, w.Flush(), s.Close())
}

func (s *Segment) dump(w io.Writer, filter string) error {
	err := s.dumpTotals(w)
	if filter == "" {
		err = errors.Join(err, s.dumpDocs(w))
	}
	for l := range lists {
		err = errors.Join(err, s.dumpList(w, l, filter))
	}
	return err
}

func (s *Segment) dumpTotals(w io.Writer) error {
	t := &s.totals
	fmt.Fprintf(w, "segment format %d: %d documents of %d words, %.2f each; %d removed; %d doc blocks\n",
		t.version, t.docs, t.words, t.avgWords, len(s.tombstones), len(s.blocks))
	for l := range lists {
		fmt.Fprintf(w, "%s list: %d postings, %d hits\n", l, t.postings[l], t.hits[l])
	}
	_, err := fmt.Fprintf(w, "%d different words\n", t.terms)
	if s.Light() {
		_, err = fmt.Fprintln(w, "light:", ErrLight)
	}
	return err
}

func (s *Segment) dumpDocs(w io.Writer) error {
	for _, doc := range s.tombstones {
		fmt.Fprintf(w, "removed: document ID %d\n", doc)
	}
	return s.eachHeld()(func(ord vocab.Ordinal, info vocab.DocInfo) error {
		fetched := "never"
		if !info.Fetched.IsZero() {
			fetched = info.Fetched.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "document %d: ID %d, %d words, fetched %s, place %s, language %q, %s of %s, sketch %016x\n", ord, info.Doc, info.Words, fetched, info.Address, info.Lang, genreAndMedium(&info), cmp.Or(info.Date.String(), "no date"), uint64(info.Sketch))
		if asked := info.Controls.Directives(); len(asked) > 0 {
			fmt.Fprintf(w, "\tcontrols %s\n", strings.Join(asked, ", "))
		}
		_, err := fmt.Fprintf(w, "\t%s\n\ttitle %q\n\tdescription %q\n\ttext %q\n", info.URL, info.Title, info.Description, shorten(info.Text))
		return err
	})
}

// genreAndMedium returns "html", or "changelog in html" for pages of a genre.
func genreAndMedium(info *vocab.DocInfo) string {
	medium := cmp.Or(info.Medium.String(), "nothing")
	if info.Genre != vocab.OtherGenre {
		return info.Genre.String() + " in " + medium
	}
	return medium
}

func shorten(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + " …"
}

func (s *Segment) dumpList(w io.Writer, list List, filter string) error {
	scan, err := s.Scan(list)
	if err != nil {
		return err
	}
	defer scan.Close()
	scan.skipsMissing = true
	for scan.NextTerm() {
		if filter != "" {
			if ok, err := path.Match(filter, string(scan.Term())); err != nil {
				return fmt.Errorf("segment: pattern %q: %w", filter, err)
			} else if !ok {
				continue
			}
		}
		if err := scan.dumpTerm(w); err != nil {
			return err
		}
	}
	return scan.Err()
}

func (c *Scan) dumpTerm(w io.Writer) error {
	p := &c.list
	where := "in the dictionary"
	switch {
	case p.inline():
	case p.seg.Light():
		where = "not in this copy"
	default:
		where = fmt.Sprintf("%d and %d bytes", p.entry.Postings.Len, p.entry.HitBytes.Len)
	}
	fmt.Fprintf(w, "%s list of %q: %d documents, %d hits, largest impact %d, %s\n", p.kind, p.term, p.entry.DF, p.entry.Hits, p.MaxImpact(), where)
	for c.Next() {
		hits, err := c.Hits()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "\t%d: impact %d, %v\n", c.Ord(), c.Impact(), hits); err != nil {
			return err
		}
	}
	return c.Err()
}
