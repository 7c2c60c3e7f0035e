package repository

import (
	"errors"

	"anatomy/vocab"
)

var errEnough = errors.New("enough was read")

// Scrub reads blocks from a place on until it has read about so many bytes, and calls report for each thing that is
// wrong (*DamageError). It gives the place to go on from, 0 at the end, and how many bytes it read. A block that is not
// whole at the end of the last file is none yet.
func (r *Reader) Scrub(from vocab.Place, most int64, report func(problem error)) (next vocab.Place, read int64, err error) {
	err = r.scan(&scanner{
		from:    from,
		problem: report,
		block:   func(h header) { read += blockHeader + int64(h.stored) },
		record: func(place vocab.Place, _ *Record) error {
			if next = vocab.PlaceAt(place.File(), place.Offset(), 0); next > from && read >= most {
				return errEnough // which is known at the first block behind: it is read again
			}
			return nil
		},
	})
	if errors.Is(err, errEnough) {
		return next, read, nil
	}
	return 0, read, err
}
