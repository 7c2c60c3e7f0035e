// Package docindex is the document index (BP98 §4.2.3): a record of each document, the seen set,
// and the queues of documents to be fetched. The paper has a fixed-width ISAM file by docID and a
// sorted list of URL checksums, which is searched by merging because a seek for each link would be
// too slow. Here they are tables of one pebble database, whose bloom filters answer most lookups of
// new URLs from memory.
//
// The first byte of a key is its table. Integers in keys are big-endian, so that they sort; those
// in values are varints.
//
//	KEY                                      VALUE
//	'a' docID [8] docID [8]                  empty               the second is a duplicate of the first
//	'b' site                                 SiteUsage, below
//	'c' content ID [16]                      docID               first document with this body
//	'd' docID [8]                            record, below
//	'h' host                                 HostRecord, below
//	'm' name                                 "counts": Counts    "folder": ID of the data folder;
//	                                                             "stored": last address, a varint;
//	                                                             other names: of the URL server
//	'q' host 0x00 priority [1] number [8]    docID               a queued URL, see QueueKey
//	'r' due, Unix ms [8] docID [8]           empty               a document to revisit when due
//	's' docID [8]                            empty               a seed
//	't' host 0x00 URL shape                  Yield, below        results of the pages of a shape
//	'u' fingerprint [8]                      URLRecord, below
//	'w' due, Unix ms [8] docID [8]           priority            a URL to fetch again later
//	'x' host 0x00 URL shape 0x00 docID [8]   empty               a document refused because of its shape
//
// A URLRecord is a varint, docID<<1 | nofollowed, and if the queue is ordered by quality its position
// when the URL was queued: priority [1] and number, a varint. If either is set, flags [1] follow:
// 1 bred, 2 listed, 4 sampled; priority and number are 0 then if there are none.
//
// A Yield is varints: pages with new and with repeated texts; then, unless all are 0, breeding
// pages, URLs without a page, and URLs refused. Earlier versions wrote only the first two.
//
// A HostRecord, version 5: version [1], flags [1] (1 https, 2 a shape was spent, 4 a sitemap was sought
// where none was named), then varints: pages, time to connect and time to answer in µs, requests per
// connection (each 0 if unknown), and since when the host is down, in Unix s, 0 if it is up. Version 4 has
// instead the days on which the name did not resolve, and the last such time in Unix s. Version 3 ends
// before that, version 2 has only flag 1, version 1 ends after the pages.
//
// A SiteUsage, version 2: version [1], Budget [1], then varints: URLs queued, bytes and µs spent on
// pages, sitemaps queued, their bytes, and URLs refused. Version 1 ends before the last.
//
// Counts, version 3: version [1], numbers of states, outcomes and traps [1 each], then varints:
// known, pages, and the totals by state, outcome and trap.
//
// A record, version 2:
//
//	OFFSET  SIZE    MEANING
//	0       1       version, 2
//	1       1       State
//	2       1       flags: 1 sitemap, 2 scheme swapped, 4 fetched, 8 content ID is there,
//	                16 visited once, when fetched, 32 a history follows, 64 validators follow,
//	                128 a trap is there
//	3       varint  depth
//	        1       hops of redirects
//	        1       failed tries
//	        varint  first seen, Unix s; 0 unknown
//	        varint  due, Unix ms; 0 for none
//	        varint  length of the URL, and the URL
//	        1       Trap, if flagged
//	if fetched:
//	        1       outcome, plus 16 times the truncation, plus 128 if the request carried
//	                credentials
//	        varint  HTTP status
//	        varint  length of the reason, and the reason
//	        varint  address in the repository
//	        varint  docID of the redirect's target, or of the original of a duplicate
//	        varint  fetched, Unix s
//	        16      content ID, if flagged
//	if visited:
//	        2       checksum of header fields, little endian
//	if there is a history, of varints:
//	        visits, changes, misses, last visit and last change (Unix s),
//	        trials, changes among them, and their span (s)
//	if there are validators:
//	        varint  length of the ETag, and the ETag; the same of Last-Modified
//
// So the history of a page visited once takes two bytes and its validators. Version 1 has no flags
// from 16 on; its fetched documents count as visited once.
//
// Example: http://a.test/ queued as a seed, first seen at 1,000,000,000 s:
//
//	02 03 00 00 00 00 80 94eb dc03 00 0e 68 74 74 70 3a 2f 2f 61 2e 74 65 73 74 2f
//
// A document that is only known from a link takes about 100 bytes in all tables, 40 to 60 when
// compressed. DocIDs and hosts take almost nothing, because pebble stores the differences of
// neighbouring keys.
package docindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/vocab"
)

const (
	tableSite      = 'b'
	tableContent   = 'c'
	tableDoc       = 'd'
	tableHost      = 'h'
	tableMeta      = 'm'
	tableQueue     = 'q'
	tableRevisit   = 'r'
	tableSeed      = 's'
	tableDuplicate = 'a'
	tableYield     = 't'
	tableURL       = 'u'
	tableWait      = 'w'
	tableRefused   = 'x'
)

// Options configure Open.
type Options struct {
	FS         vfs.FS // default: the operating system's
	CacheBytes int64  // for blocks and for records not yet in tables; default 32 MB

	// NoCompactions disables background compactions of pebble: the folder of a checkpoint then
	// keeps the same tables as the checkpoint.
	NoCompactions bool
}

// A DB is an open document index. It is safe for concurrent use.
type DB struct {
	changes atomic.Uint64 // number of batches that were applied, or failed, so far

	p       *pebble.DB
	dir     string
	o       Options
	failure failure // the first failed write; all later ones fail

	checkpoint failure // failed sync of a folder of the current checkpoint

	readOnly bool
	pinned   *pinnedFS     // set if readOnly
	stored   atomic.Uint64 // see Stored
}

// DefaultCacheBytes is the default of Options.CacheBytes.
const DefaultCacheBytes = 32 << 20

// Open opens the document index in the folder dir, creating it if needed.
func Open(dir string, o Options) (*DB, error) {
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	db := &DB{dir: dir, o: o}
	db.o.FS = writeFS{o.FS, dir, &db.failure, &db.checkpoint}
	if err := db.open(); err != nil {
		return nil, fmt.Errorf("document index: open %s: %w", dir, err)
	}
	return db, nil
}

func (db *DB) open() (err error) {
	cache := pebble.NewCache(db.o.CacheBytes)
	defer cache.Unref()
	options := &pebble.Options{
		FS:                 db.o.FS,
		Cache:              cache,
		FormatMajorVersion: pebble.FormatNewest,
		MemTableSize:       4 << 20, // pebble takes twice this from the cache
		Logger:             quiet{},
		// The reader gets an error; by default pebble also calls Fatalf.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
		ReadOnly:      db.readOnly,

		DisableAutomaticCompactions: db.o.NoCompactions,
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		options.Levels[i].BlockSize = 16 << 10
	}
	defer func() {
		if failed := returnFatal(recover()); failed != nil {
			err = failed
		}
		if failed := db.failure.get(); failed != nil {
			err = failed // pebble ignores it
			if db.p != nil {
				db.p.Close()
			}
		}
	}()
	db.p, err = pebble.Open(db.dir, options)
	if err == nil {
		_, err = db.get(metaKey(metaStored), func(b []byte) error {
			v, err := value(b, metaStored)
			db.stored.Store(v)
			return err
		})
	}
	return err
}

// Checkpoint copies the current state to the folder dir, which must not exist, with hard links if
// dir is on the same file system. Reads and writes continue meanwhile. Records in memory are first
// written to tables. Tables are immutable, so the next copy need not copy them again.
func (db *DB) Checkpoint(dir string) error {
	if err := db.Tidy(); err != nil {
		return err
	}
	err := db.p.Checkpoint(dir, pebble.WithFlushedWAL())
	if unsynced := db.checkpoint.take(); unsynced != nil { // after other errors pebble removes dir
		err = errors.Join(err, unsynced, db.o.FS.RemoveAll(dir))
	}
	if err != nil {
		return fmt.Errorf("document index: checkpoint %s: %w", dir, err)
	}
	return nil
}

// Changes returns a number that grows with each batch of an index, after the batch can be read. A
// checkpoint changes files without changing it.
func Changes(db *DB) uint64 { return db.changes.Load() }

// Tidy writes the records in memory to tables, which take a third of the size of the log.
func (db *DB) Tidy() error { return db.commit(db.p.Flush) }

// Close closes the index. If pebble has kept old logs for reuse, Close reopens and closes it once,
// which removes them: after a crawl of 10,000 pages they take 4.7 MB, and the tables 1.8 MB.
func (db *DB) Close() error {
	if db.pinned != nil {
		defer db.pinned.close()
	}
	logs := db.p.Metrics().WAL.ObsoleteFiles
	err := errors.Join(db.p.Close(), db.failure.get())
	if err == nil && logs > 0 && !db.readOnly {
		if err = db.open(); err == nil {
			err = errors.Join(db.p.Close(), db.failure.get())
		}
	}
	if err != nil {
		return fmt.Errorf("document index: close: %w", err)
	}
	return nil
}

// quiet is pebble's logger. Pebble calls Fatalf on internal inconsistencies and expects the process
// to exit. Here Fatalf panics, and returnFatal converts the panic to an error. On pebble's own
// goroutines the panic ends the process. Failed writes do not lead there, see writeFS.
type quiet struct{}

type fatal string

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fatal(fmt.Sprintf(format, args...))) }

// returnFatal returns an error for a panic of quiet, or nil for no panic. It re-panics for others.
func returnFatal(panicked any) error {
	switch p := panicked.(type) {
	case nil:
		return nil
	case fatal:
		return errors.New(string(p))
	default:
		panic(p)
	}
}

// get calls decode with the value of a key, if it exists. The value is valid during the call.
func (db *DB) get(key []byte, decode func([]byte) error) (bool, error) {
	value, closer, err := db.p.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("document index: read %s: %w", keyName(key), err)
	}
	defer closer.Close()
	return true, decode(value)
}

// each calls fn for the keys in [lo, hi) in order until fn returns false or an error.
func (db *DB) each(lo, hi []byte, fn func(key, value []byte) (bool, error)) error {
	it, err := db.p.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return fmt.Errorf("document index: iterate: %w", err)
	}
	more := true
	for ok := it.First(); ok && more && err == nil; ok = it.Next() {
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			more, err = fn(it.Key(), value)
		}
	}
	return errors.Join(err, it.Close())
}

// Get returns the record of a document.
func (db *DB) Get(doc vocab.DocID) (r Record, ok bool, err error) {
	ok, err = db.get(number(tableDoc, uint64(doc)), func(b []byte) (err error) {
		r, err = DecodeRecord(doc, b)
		return err
	})
	return r, ok && err == nil, err
}

// Each calls fn for the records from docID from on, in order.
func (db *DB) Each(from vocab.DocID, fn func(Record) error) error {
	return db.EachContaining("", from, fn)
}

// EachContaining is Each for the records whose encoding contains text, at less than half the cost of
// Each: the others are not decoded. A record contains its URL, so text can be a part of URLs.
func (db *DB) EachContaining(text string, from vocab.DocID, fn func(Record) error) error {
	part := []byte(text)
	return db.each(number(tableDoc, uint64(from)), []byte{tableDoc + 1}, func(key, value []byte) (bool, error) {
		if !bytes.Contains(value, part) {
			return true, nil
		}
		doc, err := numberOf(key)
		if err != nil {
			return false, err
		}
		r, err := DecodeRecord(vocab.DocID(doc), value)
		if err != nil {
			return false, err
		}
		return true, fn(r)
	})
}

// Find returns the document of a URL's fingerprint. noFollowed reports whether only nofollow links lead
// to it.
func (db *DB) Find(fp vocab.Fingerprint) (doc vocab.DocID, noFollowed, ok bool, err error) {
	r, ok, err := db.URL(fp)
	return r.Doc, r.NoFollowed, ok, err
}

// URL returns the record of a URL's fingerprint.
func (db *DB) URL(fp vocab.Fingerprint) (r URLRecord, ok bool, err error) {
	ok, err = db.get(number(tableURL, uint64(fp)), func(b []byte) (err error) {
		r, err = decodeURL(fp, b)
		return err
	})
	return r, ok && err == nil, err
}

// ByContent returns the first document with a body.
func (db *DB) ByContent(id vocab.ContentID) (doc vocab.DocID, ok bool, err error) {
	ok, err = db.get(contentKey(id), func(b []byte) error {
		v, err := value(b, id)
		doc = vocab.DocID(v)
		return err
	})
	return doc, ok && err == nil, err
}

// Host returns the record of a host, or zero for an unknown one.
func (db *DB) Host(name string) (h HostRecord, err error) {
	_, err = db.get(append([]byte{tableHost}, name...), func(b []byte) (err error) {
		h, err = decodeHost(name, b)
		return err
	})
	return h, err
}

// A Yield counts the results of the URLs of a host with one shape: those of a folder, of a query
// pattern, or with one extension.
type Yield struct {
	New      uint64 // pages whose text is new in the shape
	Repeated uint64 // pages whose text earlier pages of the shape had
	Breeding uint64 // of these, pages with links to new URLs of the shape
	Missing  uint64 // URLs that do not exist or are not pages
	Refused  uint64 // refused URLs, including sampled ones
}

// Yield returns the yield of a shape of a host's URLs, or zero for an unknown one.
func (db *DB) Yield(host, shape string) (y Yield, err error) {
	_, err = db.get(yieldKey(host, shape), func(b []byte) (err error) {
		y, err = decodeYield(b)
		return err
	})
	return y, err
}

// EachYield calls fn for the shapes of a host's URLs, in the order of their names.
func (db *DB) EachYield(host string, fn func(shape string, y Yield) error) error {
	lo := yieldKey(host, "")
	hi := append(append([]byte{tableYield}, host...), 1)
	return db.each(lo, hi, func(key, b []byte) (bool, error) {
		y, err := decodeYield(b)
		if err != nil {
			return false, err
		}
		return true, fn(string(key[len(lo):]), y)
	})
}

func yieldKey(host, shape string) []byte {
	b := make([]byte, 0, len(host)+len(shape)+2)
	return append(append(append(append(b, tableYield), host...), 0), shape...)
}

func decodeYield(b []byte) (Yield, error) {
	d := decoder{b: b}
	y := Yield{New: d.uvarint(1<<64 - 1), Repeated: d.uvarint(1<<64 - 1)}
	if len(d.b) > 0 {
		y.Breeding, y.Missing = d.uvarint(1<<64-1), d.uvarint(1<<64-1)
		y.Refused = d.uvarint(1<<64 - 1)
	}
	if err := d.end(); err != nil {
		return Yield{}, fmt.Errorf("document index: yield of a URL shape: %w", err)
	}
	return y, nil
}

// EachRefused calls fn for the documents refused because of a shape, ascending, until fn returns
// false.
func (db *DB) EachRefused(host, shape string, fn func(vocab.DocID) (bool, error)) error {
	lo := refusedKey(host, shape, 0)
	return db.each(lo, refusedKey(host, shape, 1<<64-1), func(key, _ []byte) (bool, error) {
		return fn(vocab.DocID(binary.BigEndian.Uint64(key[len(key)-8:])))
	})
}

func refusedKey(host, shape string, doc vocab.DocID) []byte {
	b := make([]byte, 0, len(host)+len(shape)+11)
	b = append(append(append(append(b, tableRefused), host...), 0), shape...)
	return binary.BigEndian.AppendUint64(append(b, 0), uint64(doc))
}

// Counts returns the totals, or zero for a new index.
func (db *DB) Counts() (c Counts, err error) {
	_, err = db.get(metaKey("counts"), func(b []byte) (err error) {
		c, err = decodeCounts(b)
		return err
	})
	return c, err
}

// Meta returns the value that the URL server stores under a name, or "".
func (db *DB) Meta(name string) (s string, err error) {
	_, err = db.get(metaKey(name), func(b []byte) error { s = string(b); return nil })
	return s, err
}

// Seeds returns the documents of all seeds.
func (db *DB) Seeds() (docs []vocab.DocID, err error) {
	err = db.each([]byte{tableSeed}, []byte{tableSeed + 1}, func(key, _ []byte) (bool, error) {
		doc, err := numberOf(key)
		docs = append(docs, vocab.DocID(doc))
		return true, err
	})
	return docs, err
}

// A QueueKey is a position in a host's queue: lower priorities come first, then lower numbers.
// Numbers are unique, in the order of queueing.
type QueueKey struct {
	Host     string // with its port, unless that is the scheme's default
	Priority uint8
	Number   uint64
}

func (k QueueKey) bytes() []byte {
	b := make([]byte, 0, len(k.Host)+11)
	b = append(append(append(b, tableQueue), k.Host...), 0, k.Priority)
	return binary.BigEndian.AppendUint64(b, k.Number)
}

func decodeQueueKey(b []byte) (k QueueKey, err error) {
	n := len(b) - 10
	if n < 1 || b[n] != 0 {
		return k, fmt.Errorf("document index: %s is not a position in a queue", keyName(b))
	}
	return QueueKey{Host: string(b[1:n]), Priority: b[n+1], Number: binary.BigEndian.Uint64(b[n+2:])}, nil
}

// Queued returns the document at a position in a queue, or 0.
func (db *DB) Queued(k QueueKey) (doc vocab.DocID, err error) {
	_, err = db.get(k.bytes(), func(b []byte) error {
		v, err := value(b, k)
		doc = vocab.DocID(v)
		return err
	})
	return doc, err
}

// EachQueued calls fn for the queue of one host from a position on, until fn returns false.
func (db *DB) EachQueued(from QueueKey, fn func(QueueKey, vocab.DocID) (bool, error)) error {
	hi := append(append([]byte{tableQueue}, from.Host...), 1)
	return db.eachQueued(from.bytes(), hi, fn)
}

// EachQueue calls fn for the queues of all hosts from the name host on, in the order of names,
// until fn returns false.
func (db *DB) EachQueue(host string, fn func(QueueKey, vocab.DocID) (bool, error)) error {
	return db.eachQueued(append([]byte{tableQueue}, host...), []byte{tableQueue + 1}, fn)
}

func (db *DB) eachQueued(lo, hi []byte, fn func(QueueKey, vocab.DocID) (bool, error)) error {
	return db.each(lo, hi, func(key, b []byte) (bool, error) {
		k, err := decodeQueueKey(key)
		if err != nil {
			return false, err
		}
		doc, err := value(b, k)
		if err != nil {
			return false, err
		}
		return fn(k, vocab.DocID(doc))
	})
}

// A Wait is a document that will be queued again when it is due.
type Wait struct {
	Due      time.Time // whole milliseconds
	Doc      vocab.DocID
	Priority uint8 // for the queue
}

// EachWaiting calls fn for the waiting documents that are due at from or later, in the order of
// Due, until fn returns false.
func (db *DB) EachWaiting(from time.Time, fn func(Wait) (bool, error)) error {
	lo := binary.BigEndian.AppendUint64([]byte{tableWait}, millis(from))
	return db.each(lo, []byte{tableWait + 1}, func(key, b []byte) (bool, error) {
		if len(key) != 17 || len(b) != 1 {
			return false, fmt.Errorf("document index: %s is damaged", keyName(key))
		}
		due := fromMillis(binary.BigEndian.Uint64(key[1:]))
		return fn(Wait{Due: due, Doc: vocab.DocID(binary.BigEndian.Uint64(key[9:])), Priority: b[0]})
	})
}

// EachRevisit calls fn for the documents to revisit that are due at from or later, in the order of
// due, until fn returns false.
func (db *DB) EachRevisit(from time.Time, fn func(due time.Time, doc vocab.DocID) (bool, error)) error {
	lo := binary.BigEndian.AppendUint64([]byte{tableRevisit}, millis(from))
	return db.each(lo, []byte{tableRevisit + 1}, func(key, _ []byte) (bool, error) {
		a, b, err := pairOf(key)
		if err != nil {
			return false, err
		}
		return fn(fromMillis(a), vocab.DocID(b))
	})
}

// EachDuplicateOf calls fn for the duplicates of a document, ascending, until fn returns false.
func (db *DB) EachDuplicateOf(of vocab.DocID, fn func(doc vocab.DocID) (bool, error)) error {
	return db.each(number(tableDuplicate, uint64(of)), number(tableDuplicate, uint64(of)+1), func(key, _ []byte) (bool, error) {
		_, doc, err := pairOf(key)
		if err != nil {
			return false, err
		}
		return fn(vocab.DocID(doc))
	})
}

// EachDuplicate calls fn for all duplicates, in the order of their canonical documents, until fn
// returns false.
func (db *DB) EachDuplicate(fn func(of, doc vocab.DocID) (bool, error)) error {
	return db.each([]byte{tableDuplicate}, []byte{tableDuplicate + 1}, func(key, _ []byte) (bool, error) {
		of, doc, err := pairOf(key)
		if err != nil {
			return false, err
		}
		return fn(vocab.DocID(of), vocab.DocID(doc))
	})
}

// Sync makes everything committed so far durable.
func (db *DB) Sync() error { return db.commit(func() error { return db.p.LogData(nil, pebble.Sync) }) }

// DiskBytes returns the size of the index on disk.
func (db *DB) DiskBytes() int64 { return int64(db.p.Metrics().DiskSpaceUsage()) }

// commit calls write. It fails if write or an earlier write failed.
func (db *DB) commit(write func() error) (err error) {
	defer func() {
		if err = errors.Join(err, returnFatal(recover())); err == nil {
			err = db.failure.get()
		}
		if err != nil {
			err = fmt.Errorf("document index: write: %w", err)
		}
	}()
	if err := db.failure.get(); err != nil {
		return err
	}
	return write()
}

// Stored returns the greatest address of a record of the repository that the index ever had, or 0.
// Indexes of folders of version 1 do not have it before their first new page.
func (db *DB) Stored() vocab.Address { return vocab.Address(db.stored.Load()) }

const metaStored = "stored"

// putStored adds the greatest address to the batch if it exceeds that of the index.
func (b *Batch) putStored() {
	for {
		was := b.db.stored.Load()
		if uint64(b.stored) <= was {
			return
		}
		if b.db.stored.CompareAndSwap(was, uint64(b.stored)) {
			b.p.Set(metaKey(metaStored), binary.AppendUvarint(nil, uint64(b.stored)), nil)
			return
		}
	}
}

// A Batch is a set of changes that are applied atomically.
type Batch struct {
	db     *DB
	p      *pebble.Batch
	buf    []byte
	stored vocab.Address // greatest address of the records in the batch
}

// NewBatch returns an empty batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db, p: db.p.NewBatch()} }

// PutRecord writes the record of a document.
func (b *Batch) PutRecord(r *Record) {
	b.buf = r.Append(b.buf[:0])
	b.p.Set(number(tableDoc, uint64(r.Doc)), b.buf, nil)
	if r.Fetch != nil {
		b.stored = max(b.stored, r.Fetch.Address)
	}
}

// PutURL writes the record of a URL's fingerprint.
func (b *Batch) PutURL(fp vocab.Fingerprint, r URLRecord) {
	b.buf = r.append(b.buf[:0])
	b.p.Set(number(tableURL, uint64(fp)), b.buf, nil)
}

// PutContent sets the first document with a body.
func (b *Batch) PutContent(id vocab.ContentID, doc vocab.DocID) { b.set(contentKey(id), uint64(doc)) }

// DeleteContent is the inverse of PutContent.
func (b *Batch) DeleteContent(id vocab.ContentID) { b.p.Delete(contentKey(id), nil) }

// PutDuplicate records that doc is a duplicate of another document.
func (b *Batch) PutDuplicate(of, doc vocab.DocID) {
	b.p.Set(pair(tableDuplicate, uint64(of), uint64(doc)), nil, nil)
}

// DeleteDuplicate is the inverse of PutDuplicate.
func (b *Batch) DeleteDuplicate(of, doc vocab.DocID) {
	b.p.Delete(pair(tableDuplicate, uint64(of), uint64(doc)), nil)
}

// PutRevisit sets when a document is to be revisited, in whole milliseconds.
func (b *Batch) PutRevisit(due time.Time, doc vocab.DocID) {
	b.p.Set(pair(tableRevisit, millis(due), uint64(doc)), nil, nil)
}

// DeleteRevisit is the inverse of PutRevisit.
func (b *Batch) DeleteRevisit(due time.Time, doc vocab.DocID) {
	b.p.Delete(pair(tableRevisit, millis(due), uint64(doc)), nil)
}

// DeleteRevisits empties the queue of revisits.
func (b *Batch) DeleteRevisits() {
	b.p.DeleteRange([]byte{tableRevisit}, []byte{tableRevisit + 1}, nil)
}

// PutSeed adds a seed.
func (b *Batch) PutSeed(doc vocab.DocID) { b.p.Set(number(tableSeed, uint64(doc)), nil, nil) }

// PutHost writes the record of a host.
func (b *Batch) PutHost(name string, h HostRecord) {
	b.buf = h.append(b.buf[:0])
	b.p.Set(append([]byte{tableHost}, name...), b.buf, nil)
}

// PutYield writes the yield of a shape of a host's URLs.
func (b *Batch) PutYield(host, shape string, y Yield) {
	b.buf = binary.AppendUvarint(binary.AppendUvarint(b.buf[:0], y.New), y.Repeated)
	if y.Breeding|y.Missing|y.Refused != 0 {
		b.buf = binary.AppendUvarint(binary.AppendUvarint(b.buf, y.Breeding), y.Missing)
		b.buf = binary.AppendUvarint(b.buf, y.Refused)
	}
	b.p.Set(yieldKey(host, shape), b.buf, nil)
}

// PutRefused records that a document was refused because of a shape.
func (b *Batch) PutRefused(host, shape string, doc vocab.DocID) {
	b.p.Set(refusedKey(host, shape, doc), nil, nil)
}

// DeleteRefused is the inverse of PutRefused.
func (b *Batch) DeleteRefused(host, shape string, doc vocab.DocID) {
	b.p.Delete(refusedKey(host, shape, doc), nil)
}

// PutCounts writes the totals.
func (b *Batch) PutCounts(c *Counts) {
	b.buf = c.append(b.buf[:0])
	b.p.Set(metaKey("counts"), b.buf, nil)
}

// PutMeta sets the value under a name, which is not "counts".
func (b *Batch) PutMeta(name, value string) { b.p.Set(metaKey(name), []byte(value), nil) }

// PutQueued queues a document.
func (b *Batch) PutQueued(k QueueKey, doc vocab.DocID) { b.set(k.bytes(), uint64(doc)) }

// DeleteQueued removes a document from its queue.
func (b *Batch) DeleteQueued(k QueueKey) { b.p.Delete(k.bytes(), nil) }

// DeleteQueues empties all queues and the waiting documents.
func (b *Batch) DeleteQueues() {
	b.p.DeleteRange([]byte{tableQueue}, []byte{tableQueue + 1}, nil)
	b.p.DeleteRange([]byte{tableWait}, []byte{tableWait + 1}, nil)
}

// PutWaiting adds a waiting document.
func (b *Batch) PutWaiting(w Wait) { b.p.Set(w.bytes(), []byte{w.Priority}, nil) }

// DeleteWaiting is the inverse of PutWaiting.
func (b *Batch) DeleteWaiting(w Wait) { b.p.Delete(w.bytes(), nil) }

// Len returns the size of the batch in bytes.
func (b *Batch) Len() int { return b.p.Len() }

// Empty reports whether the batch has no changes.
func (b *Batch) Empty() bool { return b.p.Empty() }

// Commit applies the batch. It is durable after the next Sync or Wait of any batch.
func (b *Batch) Commit() error {
	b.putStored()
	defer b.db.changes.Add(1) // not before: a checkpoint in between would lack the batch that is counted
	return b.db.commit(func() error { return errors.Join(b.p.Commit(pebble.NoSync), b.p.Close()) })
}

// Apply applies the batch and starts to make it durable. The caller then calls Wait.
func (b *Batch) Apply() error {
	b.putStored()
	defer b.db.changes.Add(1) // not before: a checkpoint in between would lack the batch that is counted
	return b.db.commit(func() error { return b.db.p.ApplyNoSyncWait(b.p, pebble.Sync) })
}

// Wait blocks until the batch is durable, after Apply.
func (b *Batch) Wait() error {
	return b.db.commit(func() error { return errors.Join(b.p.SyncWait(), b.p.Close()) })
}

func (b *Batch) set(key []byte, v uint64) {
	var buf [binary.MaxVarintLen64]byte
	b.p.Set(key, buf[:binary.PutUvarint(buf[:], v)], nil)
}

func (w Wait) bytes() []byte { return pair(tableWait, millis(w.Due), uint64(w.Doc)) }

func pair(table byte, x, y uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{table}, x), y)
}

func pairOf(key []byte) (x, y uint64, err error) {
	if len(key) != 17 {
		return 0, 0, fmt.Errorf("document index: key %s is damaged", keyName(key))
	}
	return binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint64(key[9:]), nil
}

func number(table byte, n uint64) []byte {
	b := make([]byte, 9)
	b[0] = table
	binary.BigEndian.PutUint64(b[1:], n)
	return b
}

func numberOf(key []byte) (uint64, error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("document index: key %s is damaged", keyName(key))
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

func contentKey(id vocab.ContentID) []byte { return append([]byte{tableContent}, id[:]...) }
func metaKey(name string) []byte           { return append([]byte{tableMeta}, name...) }

// value decodes a value that is a single varint. Errors mention key.
func value(b []byte, key any) (uint64, error) {
	d := decoder{b: b}
	v := d.uvarint(1<<64 - 1)
	if err := d.end(); err != nil {
		return 0, fmt.Errorf("document index: value of %v: %w", key, err)
	}
	return v, nil
}

// keyName returns a printable form of a key.
func keyName(key []byte) string {
	var s strings.Builder
	for _, c := range key {
		if c > ' ' && c < 0x7f {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, "\\%02x", c)
		}
	}
	return s.String()
}
