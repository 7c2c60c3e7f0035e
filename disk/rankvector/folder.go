package rankvector

import (
	"errors"
	"io/fs"

	"anatomy/vocab"
)

// ReadIfAny is Read, but returns nil without an error if there is no file at path.
func ReadIfAny(path string) (*Vector, error) {
	v, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return v, err
}

// Rank returns the rank of doc: 0 if v is nil or has no rank for it.
func (v *Vector) Rank(doc vocab.DocID) float64 {
	if v == nil || doc >= vocab.DocID(len(v.Ranks)) {
		return 0
	}
	return float64(v.Ranks[doc])
}

// Pages returns the number of documents with a rank.
func (v *Vector) Pages() (n int) {
	for _, rank := range v.Ranks {
		if rank != 0 {
			n++
		}
	}
	return n
}
