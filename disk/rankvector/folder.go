package rankvector

import (
	"fmt"

	"anatomy/disk/datadir"
	"anatomy/vocab"
)

// ReadFolder returns the current vector under a name in the data folder dir, or nil. It takes no
// lock.
func ReadFolder(dir, name string) (v *Vector, err error) {
	err = datadir.ReadFiles(dir, func(m datadir.Manifest) (err error) {
		v, err = ReadNamed(dir, m, name)
		return err
	})
	return v, err
}

// ReadNamed returns the vector that m, a manifest of the data folder dir, has under a name, or nil.
func ReadNamed(dir string, m datadir.Manifest, name string) (*Vector, error) {
	file := m.Ranks[name]
	if file == "" {
		return nil, nil
	}
	return Read(datadir.Rank(dir, file))
}

// Publish durably makes v the current vector of a name in the data folder dir. On an error the previous
// vector stays current. Any process may call it, even while a crawl runs.
func Publish(dir, name string, v *Vector) error {
	data, err := v.Encode()
	if err == nil {
		err = CheckName(name)
	}
	if err == nil {
		err = datadir.PublishRank(dir, name, data)
	}
	if err != nil {
		return fmt.Errorf("rank vector %s: %w", name, err)
	}
	return nil
}

// Rank returns the rank of doc, or 0 if v is nil or has no rank for it.
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
