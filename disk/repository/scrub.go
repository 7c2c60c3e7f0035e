package repository

import (
	"errors"

	"anatomy/vocab"
)

var errEnough = errors.New("read enough")

// Scrub verifies blocks from an address on until it has read about most bytes, and calls report for
// each problem (*DamageError). It returns the address to continue from, or 0 at the end, and the
// number of bytes read. It ignores bytes after the last complete block of the last file.
func (r *Reader) Scrub(from vocab.Address, most int64, report func(problem error)) (next vocab.Address, read int64, err error) {
	err = r.scan(&scanner{
		from:    from,
		problem: report,
		block:   func(h header) { read += blockHeader + int64(h.stored) },
		record: func(address vocab.Address, _ *Record) error {
			if next = vocab.MakeAddress(address.File(), address.Offset(), 0); next > from && read >= most {
				return errEnough // the next Scrub reads this block again
			}
			return nil
		},
	})
	if errors.Is(err, errEnough) {
		return next, read, nil
	}
	return 0, read, err
}
