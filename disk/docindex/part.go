package docindex

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"anatomy/vocab"
)

// A Part selects the documents of an index that CopyPart copies. Other documents are omitted,
// unless the copy mentions them.
type Part struct {
	// Own returns the DocID in the copy of a document of the part, or 0 for others. The documents
	// of the part get the DocIDs from 1, in their order.
	Own func(vocab.DocID) vocab.DocID

	// Mentioned returns the DocID in the copy of a document that the copy has or mentions, or 0 for
	// others. The DocIDs of mentioned documents follow those of the part.
	Mentioned func(vocab.DocID) vocab.DocID

	OwnHost func(host string) bool // reports whether the URLs of a host belong to the part
	OwnSite func(site string) bool // reports whether any URL of a site does
	Address func(vocab.Address) vocab.Address
}

// copyBytes is the size of a batch of copied rows.
const copyBytes = 1 << 20

// CopyPart copies the records of a part to an empty index, with their queues, hosts and sites. A
// mentioned document gets a record with its URL that is out of scope.
func (db *DB) CopyPart(to *DB, part Part) error {
	c := copier{db: db, to: to, part: part, b: to.NewBatch()}
	for _, copied := range []func() error{c.ownRecords, c.mentionedRecords, c.rows, c.finish} {
		if err := copied(); err != nil {
			return err
		}
	}
	return nil
}

// A copier copies a part of db.
type copier struct {
	db, to *DB
	part   Part
	b      *Batch
	counts Counts
}

// flush commits the batch if it is large.
func (c *copier) flush() error {
	if c.b.Len() < copyBytes {
		return nil
	}
	err := c.b.Commit()
	c.b = c.to.NewBatch()
	return err
}

func (c *copier) ownRecords() error {
	return c.db.Each(1, func(r Record) error {
		from := r.Doc
		if r.Doc = c.part.Own(from); r.Doc == 0 {
			return nil
		}
		if f := r.Fetch; f != nil {
			if f.Address != 0 {
				f.Address = c.part.Address(f.Address)
			}
			if f.Alias != 0 {
				f.Alias = c.part.Mentioned(f.Alias)
			}
		}
		return c.put(&r)
	})
}

func (c *copier) mentionedRecords() error {
	return c.db.Each(1, func(r Record) error {
		doc := c.part.Mentioned(r.Doc)
		if doc == 0 || c.part.Own(r.Doc) != 0 {
			return nil
		}
		return c.put(&Record{
			Doc: doc, URL: r.URL, Kind: r.Kind, State: OutOfScope, Depth: r.Depth, FirstSeen: r.FirstSeen,
		})
	})
}

// put writes a record and counts it.
func (c *copier) put(r *Record) error {
	c.b.PutRecord(r)
	c.counts.Known++
	c.counts.States[r.State]++
	if r.State == Trapped {
		c.counts.Traps[r.Trap]++
	}
	if r.Fetch != nil {
		c.counts.Outcomes[r.Fetch.Outcome]++
		if r.IsPage() {
			c.counts.Pages++
		}
	}
	return c.flush()
}

// rows copies the tables other than records.
func (c *copier) rows() error {
	return c.db.each(nil, nil, func(key, value []byte) (bool, error) {
		key, value, err := c.row(bytes.Clone(key), bytes.Clone(value))
		if err == nil && key != nil {
			c.b.p.Set(key, value, nil)
			err = c.flush()
		}
		return true, err
	})
}

// row returns a row for the copy, or no key if the row is omitted.
func (c *copier) row(key, content []byte) (_, _ []byte, err error) {
	switch host, _, _ := bytes.Cut(key[1:], []byte{0}); key[0] {
	case tableHost, tableYield:
		return keep(c.part.OwnHost(string(host)), key, content)
	case tableSite:
		return keep(c.part.OwnSite(string(host)), key, content)
	case tableMeta:
		name := string(host)
		return keep(name != "counts" && name != metaFolder && name != metaStored, key, content)
	case tableSeed, tableRefused, tableWait, tableRevisit:
		return c.ownKey(key, content)
	case tableDuplicate:
		if key, content, err = c.ownKey(key, content); key == nil {
			return nil, nil, err
		}
		of := vocab.DocID(binary.BigEndian.Uint64(key[1:]))
		binary.BigEndian.PutUint64(key[1:], uint64(c.part.Mentioned(of)))
		return key, content, nil
	case tableContent, tableQueue:
		doc, err := value(content, keyName(key))
		own := c.part.Own(vocab.DocID(doc))
		if own == 0 || err != nil {
			return nil, nil, err
		}
		return key, binary.AppendUvarint(nil, uint64(own)), nil
	case tableURL:
		r, err := decodeURL(vocab.Fingerprint(binary.BigEndian.Uint64(key[1:])), content)
		if err != nil {
			return nil, nil, err
		}
		own := c.part.Own(r.Doc)
		if r.Doc = c.part.Mentioned(r.Doc); own == 0 {
			r = URLRecord{Doc: r.Doc}
		}
		return keep(r.Doc != 0, key, r.append(nil))
	}
	return nil, nil, nil // a record, which is copied separately
}

// ownKey translates the DocID at the end of a key, and omits rows of other documents.
func (c *copier) ownKey(key, value []byte) (_, _ []byte, err error) {
	if len(key) < 9 {
		return nil, nil, fmt.Errorf("document index: key %s is damaged", keyName(key))
	}
	at := key[len(key)-8:]
	own := c.part.Own(vocab.DocID(binary.BigEndian.Uint64(at)))
	binary.BigEndian.PutUint64(at, uint64(own))
	return keep(own != 0, key, value)
}

func keep(kept bool, key, value []byte) (_, _ []byte, err error) {
	if !kept {
		return nil, nil, nil
	}
	return key, value, nil
}

// finish writes the totals.
func (c *copier) finish() error {
	c.b.PutCounts(&c.counts)
	if err := c.b.Commit(); err != nil {
		return err
	}
	return c.to.Sync()
}
