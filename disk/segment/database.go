package segment

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// A database is the sstables of a segment, open for reading. It is safe for concurrent use.
type database struct {
	dir string // of the segment
	db  *pebble.DB

	mu    sync.Mutex
	iters []*pebble.Iterator // idle ones: a new iterator costs as much as a seek
}

// maxIdleIters bounds the idle iterators, each of which holds a few blocks.
const maxIdleIters = 16

// open opens the database. It also returns pebble's fatal errors.
func (d *database) open(o *pebble.Options) (err error) {
	defer returnFatal(&err)
	d.db, err = pebble.Open(d.dir, o)
	return err
}

// close closes the database. All iterators must be released.
func (d *database) close() (err error) {
	for _, it := range d.iters {
		err = errors.Join(err, it.Close())
	}
	d.iters = nil
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
		d.db = nil
	}
	return err
}

// get calls read with the value of a key. read must not keep the value.
func (d *database) get(key []byte, read func([]byte) error) error {
	value, closer, err := d.db.Get(key)
	if err != nil {
		return err
	}
	defer closer.Close()
	return read(value)
}

// column is get for a column.
func (d *database) column(name byte, read func([]byte) error) error {
	if err := d.get([]byte{kindColumn, name}, read); err != nil {
		return fmt.Errorf("column %c: %w", name, err)
	}
	return nil
}

// iter returns an iterator over all keys. The caller releases it.
func (d *database) iter() (*pebble.Iterator, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.iters); n > 0 {
		it := d.iters[n-1]
		d.iters = d.iters[:n-1]
		return it, nil
	}
	return d.db.NewIter(nil)
}

func (d *database) release(it *pebble.Iterator) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if it.Error() != nil || len(d.iters) >= maxIdleIters {
		it.Close()
		return
	}
	d.iters = append(d.iters, it)
}

// eachKey calls fn with each key of a kind and its value, in ascending order.
func (d *database) eachKey(kind byte, fn func(key, value []byte) error) (err error) {
	it, err := d.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := fn(it.Key(), value); err != nil {
			return err
		}
	}
	return it.Error()
}

// diskUsage returns the number of bytes that the keys of the kinds from first to last take.
func (d *database) diskUsage(first, last byte) (int64, error) {
	n, err := d.db.EstimateDiskUsage([]byte{first}, []byte{last + 1})
	return int64(n), d.wrap(err)
}

// optional is column for a column that older programs did not write: if it is missing, absent is
// called.
func (d *database) optional(name byte, read func([]byte) error, absent func()) error {
	err := d.column(name, read)
	if errors.Is(err, pebble.ErrNotFound) {
		absent()
		return nil
	}
	return err
}

// rebuild is appended to errors of a damaged segment, and of one with another version.
const rebuild = "; \"anatomy index\" rebuilds the index"

// A DamageError is the error for an unreadable part of a segment.
type DamageError struct{ Err error }

func (e *DamageError) Error() string { return e.Err.Error() }
func (e *DamageError) Unwrap() error { return e.Err }

// wrap returns a *DamageError that names the segment and how to rebuild it, or nil. An error that
// wraps [ErrLight] is not damage.
func (d *database) wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrLight) {
		return fmt.Errorf("segment: %s: %w", d.dir, err)
	}
	return &DamageError{fmt.Errorf("segment: %s: %w%s", d.dir, err, rebuild)}
}
