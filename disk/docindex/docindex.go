// Package docindex is the document index (BP98 §4.2.3): which documents there are, what is known
// of each, and the queues of those to be fetched. The paper keeps a fixed-width ISAM file by docID
// and a sorted list of URL checksums that is searched by merging, a seek for each link being too
// dear; ours are tables of one pebble database, whose bloom filters answer most lookups of new
// URLs from memory.
//
// The tables are parted by the first byte of the key. Integers in keys are big-endian, so that they
// sort; those in values are varints.
//
//	KEY                                      VALUE
//	'a' docID [8] docID [8]                  nothing             the second has the body of the first
//	'c' content ID [16]                      docID               the first document with this body
//	'd' docID [8]                            record, below
//	'h' host                                 HostRecord, below
//	'm' name                                 "counts": version, numbers of states and of outcomes, Counts; others: the URL server's
//	'q' host 0x00 priority [1] number [8]    docID               a URL to be fetched, see QueueKey
//	'r' due, Unix ms [8] docID [8]           nothing             a document to be visited again when it is due
//	's' docID [8]                            nothing             a seed
//	't' host 0x00 folder or query pattern    Yield: two varints  what was fetched of it, new and repeated
//	'u' fingerprint [8]                      URLRecord, below
//	'w' due, Unix ms [8] docID [8]           priority            a URL to be fetched again later
//
// A URLRecord is a varint, docID<<1 | held, and where the order of the queue is by quality the place
// that the URL was queued at: priority [1] and number, a varint.
//
// A HostRecord, version 4: version [1], flags [1] (1 https, 2 a folder is spent), then varints: pages, time
// of a connection and of an answer in µs, requests a connection; 0 is not known; days in which its name was not
// there, and the time of the last finding in Unix s. Version 3 ends before these two, version 2 knows flag 1 alone,
// version 1 ends after the pages.
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
//	        1       Trap, where flagged
//	if fetched:
//	        1       outcome
//	        varint  HTTP status
//	        varint  length of the reason, and the reason
//	        varint  place in the repository
//	        varint  docID of the redirect's target, or of the original of a duplicate
//	        varint  fetched, Unix s
//	        16      content ID, where there is one
//	if visited:
//	        2       checksum of header fields, little endian
//	if there is a history, of varints:
//	        visits, changes, misses, last visit and last change (Unix s),
//	        trials, changes among them, and their span (s)
//	if there are validators:
//	        varint  length of the ETag, and the ETag; the same of Last-Modified
//
// A page that was fetched once and is not visited again thus costs two bytes and its validators. Version 1
// had no flags from 16 on; its documents are taken as visited once.
//
// Example: http://a.test/ queued as a seed, first seen at 1,000,000,000 s:
//
//	02 03 00 00 00 00 80 94eb dc03 00 0e 68 74 74 70 3a 2f 2f 61 2e 74 65 73 74 2f
//
// A document known by a link alone takes some 100 bytes in all tables before compression, 40 to 60
// after; docIDs and hosts cost nearly nothing, neighbouring keys being stored by their difference.
package docindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/vocab"
)

const (
	tableContent = 'c'
	tableDoc     = 'd'
	tableHost    = 'h'
	tableMeta    = 'm'
	tableQueue   = 'q'
	tableRevisit = 'r'
	tableSeed    = 's'
	tableTwin    = 'a'
	tableYield   = 't'
	tableURL     = 'u'
	tableWait    = 'w'
)

// Options of Open.
type Options struct {
	FS         vfs.FS // default: the operating system's
	CacheBytes int64  // for blocks and what is not yet in tables, default 32 MB
}

// A DB is an open document index. It is safe for concurrent use.
type DB struct {
	p   *pebble.DB
	dir string
	o   Options

	readOnly bool
}

// Open opens the document index in the folder dir, and makes it where there is none.
func Open(dir string, o Options) (*DB, error) {
	if o.CacheBytes == 0 {
		o.CacheBytes = 32 << 20
	}
	if o.FS == nil {
		o.FS = leanFS{vfs.Default}
	}
	db := &DB{dir: dir, o: o}
	if err := db.open(); err != nil {
		return nil, fmt.Errorf("docindex: open %s: %w", dir, err)
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
		MemTableSize:       4 << 20, // pebble takes it out of the cache, twice
		Logger:             quiet{},
		EventListener:      &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}}, // whoever read it gets an error; by default pebble calls Fatalf
		ReadOnly:           db.readOnly,
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		options.Levels[i].BlockSize = 16 << 10
	}
	db.p, err = pebble.Open(db.dir, options)
	return err
}

// Checkpoint makes a copy as of now in the folder dir, which must not be there: hard links where dir is
// on the same file system. Others may read and write meanwhile.
func (db *DB) Checkpoint(dir string) error {
	if err := db.p.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("docindex: checkpoint %s: %w", dir, err)
	}
	return nil
}

// flushWithin bounds the last flush: on a full disk pebble tries for ever.
const flushWithin = 10 * time.Second

// Tidy writes what is in memory to tables, which are a third of the log's size.
func (db *DB) Tidy() error {
	var flushed <-chan struct{}
	err := db.commit(func() (err error) { flushed, err = db.p.AsyncFlush(); return err })
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-time.After(flushWithin):
		return errors.New("docindex: tables cannot be written; the log has everything")
	}
}

// Close closes the index. Pebble keeps old logs to write over them; where there are some, opening once
// more removes them: on a crawl of 10,000 pages they were 4.7 MB beside 1.8 MB of tables.
func (db *DB) Close() error {
	logs := db.p.Metrics().WAL.ObsoleteFiles
	err := db.p.Close()
	if err == nil && logs > 0 && !db.readOnly {
		if err = db.open(); err == nil {
			err = db.p.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("docindex: close: %w", err)
	}
	return nil
}

// quiet is pebble's logger. Pebble calls Fatalf where it cannot write its log, on a full disk for
// one, and expects the program to end there; a panic that Commit turns into an error lets the
// caller end in its own way. On pebble's own goroutines it does end the program.
type quiet struct{}

type fatal string

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fatal(fmt.Sprintf(format, args...))) }

// get gives the value of a key to decode, if the key is there. The value is valid within decode.
func (db *DB) get(key []byte, decode func([]byte) error) (bool, error) {
	value, closer, err := db.p.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("docindex: read %s: %w", keyName(key), err)
	}
	defer closer.Close()
	return true, decode(value)
}

// each visits the keys in [lo, hi) in order until fn says false or fails.
func (db *DB) each(lo, hi []byte, fn func(key, value []byte) (bool, error)) error {
	it, err := db.p.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
	if err != nil {
		return fmt.Errorf("docindex: iterate: %w", err)
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

// Get is the record of a document.
func (db *DB) Get(doc vocab.DocID) (r Record, ok bool, err error) {
	ok, err = db.get(number(tableDoc, uint64(doc)), func(b []byte) (err error) {
		r, err = DecodeRecord(doc, b)
		return err
	})
	return r, ok && err == nil, err
}

// Each visits the records from docID from on, in order.
func (db *DB) Each(from vocab.DocID, fn func(Record) error) error {
	return db.each(number(tableDoc, uint64(from)), []byte{tableDoc + 1}, func(key, value []byte) (bool, error) {
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

// Find is the document of a URL's fingerprint. Held: only nofollow links lead to it so far.
func (db *DB) Find(fp vocab.Fingerprint) (doc vocab.DocID, held, ok bool, err error) {
	r, ok, err := db.URL(fp)
	return r.Doc, r.Held, ok, err
}

// URL is what is kept of a URL by its fingerprint.
func (db *DB) URL(fp vocab.Fingerprint) (r URLRecord, ok bool, err error) {
	ok, err = db.get(number(tableURL, uint64(fp)), func(b []byte) (err error) {
		r, err = decodeURL(fp, b)
		return err
	})
	return r, ok && err == nil, err
}

// ByContent is the first document that had this body.
func (db *DB) ByContent(id vocab.ContentID) (doc vocab.DocID, ok bool, err error) {
	ok, err = db.get(contentKey(id), func(b []byte) error {
		v, err := value(b, id)
		doc = vocab.DocID(v)
		return err
	})
	return doc, ok && err == nil, err
}

// Host is what is kept of a host; zero for an unknown one.
func (db *DB) Host(name string) (h HostRecord, err error) {
	_, err = db.get(append([]byte{tableHost}, name...), func(b []byte) (err error) {
		h, err = decodeHost(name, b)
		return err
	})
	return h, err
}

// A Yield is what the pages fetched of a folder, or of a query pattern, have brought.
type Yield struct {
	New      uint64 // showed a text that the folder had not shown
	Repeated uint64 // showed one that it had
}

// Yield is what was kept of a folder or query pattern of a host; zero for an unknown one.
func (db *DB) Yield(host, shape string) (y Yield, err error) {
	_, err = db.get(yieldKey(host, shape), func(b []byte) (err error) {
		y, err = decodeYield(b)
		return err
	})
	return y, err
}

// EachYield visits the folders and query patterns of a host, in the order of their names.
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
	if err := d.end(); err != nil {
		return Yield{}, fmt.Errorf("docindex: yield of a folder: %w", err)
	}
	return y, nil
}

// Counts are the totals; zero for a new index.
func (db *DB) Counts() (c Counts, err error) {
	_, err = db.get(metaKey("counts"), func(b []byte) (err error) {
		c, err = decodeCounts(b)
		return err
	})
	return c, err
}

// Meta is a value that the URL server keeps under a name; "" where there is none.
func (db *DB) Meta(name string) (s string, err error) {
	_, err = db.get(metaKey(name), func(b []byte) error { s = string(b); return nil })
	return s, err
}

// Seeds are the documents that crawls started from.
func (db *DB) Seeds() (docs []vocab.DocID, err error) {
	err = db.each([]byte{tableSeed}, []byte{tableSeed + 1}, func(key, _ []byte) (bool, error) {
		doc, err := numberOf(key)
		docs = append(docs, vocab.DocID(doc))
		return true, err
	})
	return docs, err
}

// A QueueKey is a place in a host's queue: lower priorities first, then lower numbers. Numbers are
// given out once, in the order of queueing.
type QueueKey struct {
	Host     string // with its port where that is not the scheme's own
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
		return k, fmt.Errorf("docindex: %s is no place in a queue", keyName(b))
	}
	return QueueKey{Host: string(b[1:n]), Priority: b[n+1], Number: binary.BigEndian.Uint64(b[n+2:])}, nil
}

// Queued is the document at a place in a queue, 0 where there is none.
func (db *DB) Queued(k QueueKey) (doc vocab.DocID, err error) {
	_, err = db.get(k.bytes(), func(b []byte) error {
		v, err := value(b, k)
		doc = vocab.DocID(v)
		return err
	})
	return doc, err
}

// EachQueued visits the queue of one host from a place on, until fn says false.
func (db *DB) EachQueued(from QueueKey, fn func(QueueKey, vocab.DocID) (bool, error)) error {
	hi := append(append([]byte{tableQueue}, from.Host...), 1)
	return db.eachQueued(from.bytes(), hi, fn)
}

// EachQueue visits the queues, host by host in the order of their names, from a host on, until fn says false; from ""
// all.
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

// A Wait is a document that is to be queued again when it is due.
type Wait struct {
	Due      time.Time // whole milliseconds
	Doc      vocab.DocID
	Priority uint8 // for the queue
}

// EachWaiting visits the waiting documents that are due at from or later, in the order of Due,
// until fn says false.
func (db *DB) EachWaiting(from time.Time, fn func(Wait) (bool, error)) error {
	lo := binary.BigEndian.AppendUint64([]byte{tableWait}, millis(from))
	return db.each(lo, []byte{tableWait + 1}, func(key, b []byte) (bool, error) {
		if len(key) != 17 || len(b) != 1 {
			return false, fmt.Errorf("docindex: %s is corrupt", keyName(key))
		}
		due := fromMillis(binary.BigEndian.Uint64(key[1:]))
		return fn(Wait{Due: due, Doc: vocab.DocID(binary.BigEndian.Uint64(key[9:])), Priority: b[0]})
	})
}

// EachRevisit visits the documents to be visited again that are due at from or later, in the order of
// their time, until fn says false.
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

// EachTwin visits the duplicates of a document, in order, until fn says false.
func (db *DB) EachTwin(of vocab.DocID, fn func(doc vocab.DocID) (bool, error)) error {
	return db.each(number(tableTwin, uint64(of)), number(tableTwin, uint64(of)+1), func(key, _ []byte) (bool, error) {
		_, doc, err := pairOf(key)
		if err != nil {
			return false, err
		}
		return fn(vocab.DocID(doc))
	})
}

// EachTwins visits the duplicates of all documents, ascending by these, until fn says false.
func (db *DB) EachTwins(fn func(of, doc vocab.DocID) (bool, error)) error {
	return db.each([]byte{tableTwin}, []byte{tableTwin + 1}, func(key, _ []byte) (bool, error) {
		of, doc, err := pairOf(key)
		if err != nil {
			return false, err
		}
		return fn(vocab.DocID(of), vocab.DocID(doc))
	})
}

// Sync makes everything committed so far durable.
func (db *DB) Sync() error { return db.commit(func() error { return db.p.LogData(nil, pebble.Sync) }) }

// DiskBytes is how much room the index takes.
func (db *DB) DiskBytes() int64 { return int64(db.p.Metrics().DiskSpaceUsage()) }

func (db *DB) commit(write func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fatal:
			err = fmt.Errorf("docindex: write: %s", string(r))
		default:
			panic(r)
		}
	}()
	if err := write(); err != nil {
		return fmt.Errorf("docindex: write: %w", err)
	}
	return nil
}

// A Batch is a set of changes that happen together or not at all.
type Batch struct {
	db  *DB
	p   *pebble.Batch
	buf []byte
}

// NewBatch begins a batch.
func (db *DB) NewBatch() *Batch { return &Batch{db: db, p: db.p.NewBatch()} }

// PutRecord writes the record of a document.
func (b *Batch) PutRecord(r *Record) {
	b.buf = r.Append(b.buf[:0])
	b.p.Set(number(tableDoc, uint64(r.Doc)), b.buf, nil)
}

// PutURL writes what is kept of a URL by its fingerprint.
func (b *Batch) PutURL(fp vocab.Fingerprint, r URLRecord) {
	b.buf = r.append(b.buf[:0])
	b.p.Set(number(tableURL, uint64(fp)), b.buf, nil)
}

// PutContent names the first document with a body.
func (b *Batch) PutContent(id vocab.ContentID, doc vocab.DocID) { b.set(contentKey(id), uint64(doc)) }

// DeleteContent forgets the first document with a body.
func (b *Batch) DeleteContent(id vocab.ContentID) { b.p.Delete(contentKey(id), nil) }

// PutTwin notes that doc is a duplicate of another, DeleteTwin that it no longer is.
func (b *Batch) PutTwin(of, doc vocab.DocID) {
	b.p.Set(pair(tableTwin, uint64(of), uint64(doc)), nil, nil)
}

// DeleteTwin is the inverse of PutTwin.
func (b *Batch) DeleteTwin(of, doc vocab.DocID) {
	b.p.Delete(pair(tableTwin, uint64(of), uint64(doc)), nil)
}

// PutRevisit notes when a document is to be visited again, in whole milliseconds.
func (b *Batch) PutRevisit(due time.Time, doc vocab.DocID) {
	b.p.Set(pair(tableRevisit, millis(due), uint64(doc)), nil, nil)
}

// DeleteRevisit is the inverse of PutRevisit.
func (b *Batch) DeleteRevisit(due time.Time, doc vocab.DocID) {
	b.p.Delete(pair(tableRevisit, millis(due), uint64(doc)), nil)
}

// DeleteRevisits empties the queue of documents to be visited again.
func (b *Batch) DeleteRevisits() {
	b.p.DeleteRange([]byte{tableRevisit}, []byte{tableRevisit + 1}, nil)
}

// PutSeed remembers a seed.
func (b *Batch) PutSeed(doc vocab.DocID) { b.p.Set(number(tableSeed, uint64(doc)), nil, nil) }

// PutHost writes what is kept of a host.
func (b *Batch) PutHost(name string, h HostRecord) {
	b.buf = h.append(b.buf[:0])
	b.p.Set(append([]byte{tableHost}, name...), b.buf, nil)
}

// PutYield writes what a folder or query pattern has brought.
func (b *Batch) PutYield(host, shape string, y Yield) {
	b.buf = binary.AppendUvarint(binary.AppendUvarint(b.buf[:0], y.New), y.Repeated)
	b.p.Set(yieldKey(host, shape), b.buf, nil)
}

// PutCounts writes the totals.
func (b *Batch) PutCounts(c *Counts) {
	b.buf = c.append(b.buf[:0])
	b.p.Set(metaKey("counts"), b.buf, nil)
}

// PutMeta keeps a value under a name other than "counts".
func (b *Batch) PutMeta(name, value string) { b.p.Set(metaKey(name), []byte(value), nil) }

// PutQueued queues a document.
func (b *Batch) PutQueued(k QueueKey, doc vocab.DocID) { b.set(k.bytes(), uint64(doc)) }

// DeleteQueued takes a document out of its queue.
func (b *Batch) DeleteQueued(k QueueKey) { b.p.Delete(k.bytes(), nil) }

// DeleteQueues empties all queues, that of waiting documents too.
func (b *Batch) DeleteQueues() {
	b.p.DeleteRange([]byte{tableQueue}, []byte{tableQueue + 1}, nil)
	b.p.DeleteRange([]byte{tableWait}, []byte{tableWait + 1}, nil)
}

// PutWaiting lets a document wait.
func (b *Batch) PutWaiting(w Wait) { b.p.Set(w.bytes(), []byte{w.Priority}, nil) }

// DeleteWaiting ends its wait.
func (b *Batch) DeleteWaiting(w Wait) { b.p.Delete(w.bytes(), nil) }

// Len is the size of the batch in bytes.
func (b *Batch) Len() int { return b.p.Len() }

// Empty says whether the batch changes nothing.
func (b *Batch) Empty() bool { return b.p.Empty() }

// Commit applies the batch. It is durable after the next commit that is waited for.
func (b *Batch) Commit() error {
	return b.db.commit(func() error { return errors.Join(b.p.Commit(pebble.NoSync), b.p.Close()) })
}

// Apply applies the batch and begins to make it durable; Wait waits for that.
func (b *Batch) Apply() error {
	return b.db.commit(func() error { return b.db.p.ApplyNoSyncWait(b.p, pebble.Sync) })
}

// Wait returns when the batch is durable, after Apply.
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
		return 0, 0, fmt.Errorf("docindex: key %s is corrupt", keyName(key))
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
		return 0, fmt.Errorf("docindex: key %s is corrupt", keyName(key))
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

func contentKey(id vocab.ContentID) []byte { return append([]byte{tableContent}, id[:]...) }
func metaKey(name string) []byte           { return append([]byte{tableMeta}, name...) }

// value decodes a value that is one varint; key names it in errors.
func value(b []byte, key any) (uint64, error) {
	d := decoder{b: b}
	v := d.uvarint(1<<64 - 1)
	if err := d.end(); err != nil {
		return 0, fmt.Errorf("docindex: value of %v: %w", key, err)
	}
	return v, nil
}

// keyName shows a key to people.
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
