package segment

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"

	"anatomy/vocab"
)

// columns are the data of each document that a segment keeps in memory, by ordinal.
type columns struct {
	docIDs     []vocab.DocID
	lengths    []uint32
	depths     []uint8
	titles     []uint32
	hosts      []hostRun
	sketches   []vocab.Sketch
	genres     []vocab.Genre // all 0 in segments without the column
	media      []vocab.Medium
	languages  []Language
	dates      []vocab.Day
	controls   []docControls   // of the documents with controls
	services   []vocab.Ordinal // of the documents that define web services, ascending
	crawled    []byte          // one bit per document
	tombstones []vocab.DocID

	byDocIDOnce sync.Once
	byDocID     []vocab.Ordinal
}

// load reads the columns of n documents.
func (c *columns) load(d *database, n int) error {
	return errors.Join(
		d.column('c', func(v []byte) (err error) { c.crawled, err = decodeBits(v, n); return err }),
		d.column('d', func(v []byte) (err error) { c.docIDs, err = decodeColumn[vocab.DocID](v, n); return err }),
		d.optional('g', func(v []byte) (err error) { c.genres, err = decodeColumn[vocab.Genre](v, n); return err },
			func() { c.genres = make([]vocab.Genre, n) }),
		d.column('h', func(v []byte) (err error) { c.hosts, err = decodeHosts(v, n); return err }),
		d.column('l', func(v []byte) (err error) { c.languages, err = decodeColumn[Language](v, n); return err }),
		d.column('m', func(v []byte) (err error) {
			c.media, err = decodeColumn[vocab.Medium](v, n)
			for ord, medium := range c.media {
				if medium.Service() {
					c.services = append(c.services, vocab.Ordinal(ord))
				}
			}
			return err
		}),
		d.column('n', func(v []byte) (err error) { c.titles, err = decodeColumn[uint32](v, n); return err }),
		d.optional('p', func(v []byte) (err error) { c.controls, err = decodeControls(v, n); return err }, func() {}),
		d.column('r', func(v []byte) (err error) { c.tombstones, err = decodeTombstones(v); return err }),
		d.column('s', func(v []byte) (err error) { c.sketches, err = decodeSketches(v, n); return err }),
		d.column('t', func(v []byte) (err error) { c.dates, err = decodeColumn[vocab.Day](v, n); return err }),
		d.column('u', func(v []byte) (err error) { c.depths, err = decodeColumn[uint8](v, n); return err }),
		d.column('w', func(v []byte) (err error) { c.lengths, err = decodeColumn[uint32](v, n); return err }),
	)
}

// Docs returns the number of documents. Ordinals are below it.
func (c *columns) Docs() int { return len(c.docIDs) }

// DocID returns the ID of a document.
func (c *columns) DocID(ord vocab.Ordinal) vocab.DocID { return c.docIDs[ord] }

// Words returns the length of a document's body in words.
func (c *columns) Words(ord vocab.Ordinal) uint32 { return c.lengths[ord] }

// Depth returns the number of folders in a document's URL, at most 255: see [weburl.URL.Depth].
func (c *columns) Depth(ord vocab.Ordinal) int { return int(c.depths[ord]) }

// Title returns the lengths and checksums of a document's title.
func (c *columns) Title(ord vocab.Ordinal) Title { return unpackTitle(c.titles[ord]) }

// Sketch returns the sketch of a document's text.
func (c *columns) Sketch(ord vocab.Ordinal) vocab.Sketch { return c.sketches[ord] }

// Genre returns the genre of a document, if the program that wrote the segment knew it.
func (c *columns) Genre(ord vocab.Ordinal) vocab.Genre { return c.genres[ord] }

// Medium returns the medium of a document.
func (c *columns) Medium(ord vocab.Ordinal) vocab.Medium { return c.media[ord] }

// Services returns the documents that define web services, ascending.
func (c *columns) Services() []vocab.Ordinal { return c.services }

// Language returns the language of a document, without region and script.
func (c *columns) Language(ord vocab.Ordinal) Language { return c.languages[ord] }

// Date returns the date of a document, 0 if it has none.
func (c *columns) Date(ord vocab.Ordinal) vocab.Day { return c.dates[ord] }

// Crawled reports whether a document was fetched. The others are only known from links.
func (c *columns) Crawled(ord vocab.Ordinal) bool { return c.crawled[ord/8]>>(ord%8)&1 != 0 }

// Tombstones returns the IDs, ascending, of documents of older segments that are deleted.
func (c *columns) Tombstones() []vocab.DocID { return c.tombstones }

// Ordinal returns the ordinal of a document. The first call sorts the documents by ID.
func (c *columns) Ordinal(doc vocab.DocID) (ord vocab.Ordinal, found bool) {
	c.byDocIDOnce.Do(c.sortByDocID)
	i, found := slices.BinarySearchFunc(c.byDocID, doc, func(ord vocab.Ordinal, doc vocab.DocID) int {
		return cmp.Compare(c.docIDs[ord], doc)
	})
	if !found {
		return 0, false
	}
	return c.byDocID[i], true
}

func (c *columns) sortByDocID() {
	c.byDocID = make([]vocab.Ordinal, len(c.docIDs))
	for i := range c.byDocID {
		c.byDocID[i] = vocab.Ordinal(i)
	}
	slices.SortFunc(c.byDocID, func(a, b vocab.Ordinal) int {
		return cmp.Compare(c.docIDs[a], c.docIDs[b])
	})
}

// Documents are in the order of their URL keys, in which the host precedes the path, so the
// documents of a host are consecutive.

// Hosts iterates over the hosts of the documents in order, in the form of Host.
func (c *columns) Hosts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, run := range c.hosts {
			if !yield(run.name) {
				return
			}
		}
	}
}

// HostRange returns the range [from, to) of the documents of a host, which may be empty.
func (c *columns) HostRange(host string) (from, to vocab.Ordinal) {
	i := sort.Search(len(c.hosts), func(i int) bool { return c.hosts[i].name+"/" >= host+"/" })
	switch {
	case i == len(c.hosts) || c.hosts[i].name != host:
		return 0, 0
	case i+1 == len(c.hosts):
		return c.hosts[i].first, vocab.Ordinal(len(c.docIDs))
	}
	return c.hosts[i].first, c.hosts[i+1].first
}

// Host returns the host of a document in the form of its URL key, such as "org.example.www".
func (c *columns) Host(ord vocab.Ordinal) string {
	return c.hosts[sort.Search(len(c.hosts), func(i int) bool { return c.hosts[i].first > ord })-1].name
}
