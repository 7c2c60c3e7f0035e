package docindex

import (
	"fmt"
	"io"
	"time"

	"anatomy/vocab"
	"anatomy/weburl"
)

// Dump writes every key and value, a line each, in the order of keys.
func (db *DB) Dump(w io.Writer) error {
	return db.each(nil, nil, func(key, value []byte) (bool, error) {
		_, err := fmt.Fprintf(w, "%s = %s\n", dumpKey(key), dumpValue(key, value))
		return true, err
	})
}

func dumpKey(key []byte) string {
	table := key[0]
	switch {
	case table == tableDoc || table == tableSeed:
		if n, err := numberOf(key); err == nil {
			return fmt.Sprintf("%c %d", table, n)
		}
	case table == tableContent || table == tableURL:
		return fmt.Sprintf("%c %x", table, key[1:])
	case table == tableQueue:
		if k, err := decodeQueueKey(key); err == nil {
			return fmt.Sprintf("q %s %d %d", k.Host, k.Priority, k.Number)
		}
	case table == tableWait || table == tableRevisit || table == tableDuplicate:
		if x, y, err := pairOf(key); err == nil {
			return fmt.Sprintf("%c %d %d", table, x, y)
		}
	}
	return fmt.Sprintf("%c %s", table, keyName(key[1:]))
}

func dumpValue(key, value []byte) string {
	if key[0] != tableDoc {
		return fmt.Sprintf("%x", value)
	}
	doc, _ := numberOf(key)
	r, err := DecodeRecord(vocab.DocID(doc), value)
	if err != nil {
		return fmt.Sprintf("%x %v", value, err)
	}
	return fmt.Sprintf("%x %s", value, r.String())
}

// String returns the record on one line.
func (r *Record) String() string {
	s := fmt.Sprintf("%s %q depth %d", r.State, r.URL, r.Depth)
	if r.Kind == vocab.SitemapTarget {
		s += " sitemap"
	}
	if r.Tries > 0 {
		s += fmt.Sprintf(" tries %d", r.Tries)
	}
	if r.Hops > 0 {
		s += fmt.Sprintf(" hops %d", r.Hops)
	}
	if f := r.Fetch; f != nil {
		s += fmt.Sprintf(" %s %d %q place %s alias %d", f.Outcome, f.Status, f.Reason, f.Address, f.Alias)
	}
	return s
}

// Check compares the tables with each other and reports every inconsistency. The index must not be
// written meanwhile. It takes a bit of memory per document.
func (db *DB) Check(report func(problem string)) error {
	c := checker{db: db, report: report}
	for _, step := range []func() error{c.records, c.urls, c.queues, c.waits, c.revisits, c.contents, c.duplicates, c.totals} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type checker struct {
	db      *DB
	report  func(string)
	seen    Counts
	copies  uint64         // number of duplicates
	unfound [States]uint64 // queued and waiting documents not yet found in a queue
	found   []uint64       // bit set of queued and waiting documents found in a queue
}

func (c *checker) problem(format string, args ...any) {
	c.report(fmt.Sprintf("document index: "+format, args...))
}

func (c *checker) records() error {
	return c.db.Each(0, func(r Record) error {
		c.seen.Known++
		if uint64(r.Doc) != c.seen.Known {
			c.problem("document %d follows document %d", r.Doc, c.seen.Known-1)
			c.seen.Known = uint64(r.Doc)
		}
		c.seen.States[r.State]++
		if r.State == Trapped {
			c.seen.Traps[r.Trap]++
		}
		c.unfound[r.State]++
		if r.Fetch != nil {
			c.seen.Outcomes[r.Fetch.Outcome]++
			if r.IsPage() {
				c.seen.Pages++
			}
			if r.IsDuplicate() {
				c.copies++
			}
		}
		u, err := weburl.Parse(r.URL)
		if err != nil || u.String() != r.URL {
			c.problem("document %d: %q is not canonical", r.Doc, r.URL)
			return nil
		}
		doc, _, ok, err := c.db.Find(u.Fingerprint())
		if !ok || doc != r.Doc {
			c.problem("document %d: its URL %s leads to document %d", r.Doc, r.URL, doc)
		}
		return err
	})
}

// IsPage reports whether the document was fetched and stored as a page of its own.
func (r *Record) IsPage() bool {
	return r.Kind == vocab.PageTarget && r.Fetch != nil && r.Fetch.Outcome == vocab.Fetched && r.Fetch.Alias == 0
}

// IsDuplicate reports whether the document has the body of another.
func (r *Record) IsDuplicate() bool {
	return r.Fetch != nil && r.Fetch.Outcome == vocab.Fetched && r.Fetch.Alias != 0
}

func (c *checker) urls() error {
	n := uint64(0)
	err := c.db.each([]byte{tableURL}, []byte{tableURL + 1}, func(key, _ []byte) (bool, error) {
		n++
		return true, nil
	})
	if n != c.seen.Known {
		c.problem("%d fingerprints for %d documents", n, c.seen.Known)
	}
	return err
}

// recordQueued records that a document is in a queue, and reports an inconsistency with its record.
func (c *checker) recordQueued(doc vocab.DocID, want State) error {
	r, ok, err := c.db.Get(doc)
	switch {
	case err != nil:
		return err
	case !ok || r.State != want:
		c.problem("document %d is in a queue, and its state is %s", doc, r.State)
		return nil
	}
	for uint64(len(c.found)) <= uint64(doc)/64 {
		c.found = append(c.found, 0)
	}
	bit := uint64(1) << (doc % 64)
	if c.found[doc/64]&bit != 0 {
		c.problem("document %d is in two queues", doc)
	}
	c.found[doc/64] |= bit
	c.unfound[want]--
	return nil
}

func (c *checker) queues() error {
	return c.db.EachQueue("", func(k QueueKey, doc vocab.DocID) (bool, error) { return true, c.recordQueued(doc, Queued) })
}

func (c *checker) waits() error {
	return c.db.EachWaiting(fromMillis(0), func(w Wait) (bool, error) { return true, c.recordQueued(w.Doc, Waiting) })
}

func (c *checker) contents() error {
	return c.db.each([]byte{tableContent}, []byte{tableContent + 1}, func(key, b []byte) (bool, error) {
		doc, err := value(b, keyName(key))
		if err != nil {
			return false, err
		}
		if r, ok, err := c.db.Get(vocab.DocID(doc)); err != nil || !ok || r.Fetch == nil {
			c.problem("content %x is of document %d, which was not fetched", key[1:], doc)
			return true, err
		}
		return true, nil
	})
}

// duplicates compares the list of duplicates with the records.
func (c *checker) duplicates() error {
	n := uint64(0)
	err := c.db.each([]byte{tableDuplicate}, []byte{tableDuplicate + 1}, func(key, _ []byte) (bool, error) {
		n++
		of, doc, err := pairOf(key)
		if err != nil {
			return false, err
		}
		r, ok, err := c.db.Get(vocab.DocID(doc))
		if err == nil && (!ok || !r.IsDuplicate() || r.Fetch.Alias != vocab.DocID(of)) {
			c.problem("document %d is listed as a duplicate of %d, and is none", doc, of)
		}
		return true, err
	})
	if n != c.copies {
		c.problem("%d duplicates are listed, and there are %d", n, c.copies)
	}
	return err
}

// revisits compares the queue of revisits with the records.
func (c *checker) revisits() error {
	return c.db.EachRevisit(time.Time{}, func(due time.Time, doc vocab.DocID) (bool, error) {
		r, ok, err := c.db.Get(doc)
		if err == nil && (!ok || !r.Due.Equal(due) || r.State != Finished && r.State != GivenUp) {
			c.problem("document %d is to be visited again on %s, and is %s until %s", doc, due, r.State, r.Due)
		}
		return true, err
	})
}

// totals compares the stored counts with the actual ones.
func (c *checker) totals() error {
	kept, err := c.db.Counts()
	if err != nil {
		return err
	}
	for _, s := range []State{Queued, Waiting} {
		if c.unfound[s] != 0 {
			c.problem("%d documents are %s and in no queue", c.unfound[s], s)
		}
	}
	if kept != c.seen {
		c.problem("counts are %v, and should be %v", kept, c.seen)
	}
	return nil
}
