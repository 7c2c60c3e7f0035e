package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
)

// A RankStatus is a rank vector of a data folder, how it came about and whether it is of age. Its form in
// JSON is that of "anatomy pagerank list --json", and in /api/v1/stats.
type RankStatus struct {
	Name         string    `json:"name"`
	Computed     time.Time `json:"computed"`
	Personalized string    `json:"personalized,omitempty"` // what it favours, "" for all pages alike
	Damping      float64   `json:"damping"`
	Iterations   int       `json:"iterations"`
	Residual     float64   `json:"residual"`
	Pages        int       `json:"pages"`
	Links        uint64    `json:"links"`

	// Changed is the share of the links of the link database by which it grew or shrank since. Links
	// of pages that were fetched again count as new until the runs are merged.
	Changed float64 `json:"changed"`
	Stale   bool    `json:"stale"` // Changed is above StaleShare: it should be computed anew
}

// StaleShare is the share of links changed above which a vector should be computed anew.
const StaleShare = 0.1

// ErrNoRank says that no rank vector has a name.
var ErrNoRank = errors.New("no such rank vector")

// CheckRankName says what is wrong with the name of a vector.
func CheckRankName(name string) error {
	if err := rankvector.CheckName(name); err != nil {
		return fmt.Errorf("pagerank: %w", err)
	}
	return nil
}

// Ranks tells of the rank vectors of the data folder dir, by name.
func Ranks(dir string) ([]RankStatus, error) {
	m, err := datadir.Read(dir)
	if err != nil {
		return nil, err
	}
	links, err := countLinks(dir, m)
	if err != nil {
		return nil, err
	}
	return ranksOf(dir, links)
}

func countLinks(dir string, m datadir.Manifest) (n uint64, err error) {
	for _, name := range m.Links {
		r, err := linkdb.Open(datadir.Links(dir, name))
		if err != nil {
			return 0, err
		}
		n += r.CountLinks()
		r.Close() // it was only read
	}
	return n, nil
}

func ranksOf(dir string, links uint64) ([]RankStatus, error) {
	names, err := rankvector.Names(filepath.Dir(datadir.Rank(dir)))
	if err != nil {
		return nil, err
	}
	all := []RankStatus{}
	for _, name := range names {
		v, err := readVector(datadir.RankNamed(dir, name))
		if err != nil {
			return nil, err
		}
		if v != nil { // it may have been removed since
			all = append(all, newRankStatus(name, v, links))
		}
	}
	return all, nil
}

func newRankStatus(name string, v *rankvector.Vector, links uint64) RankStatus {
	st := RankStatus{
		Name: name, Computed: v.Computed, Personalized: v.Personalized, Damping: v.Damping,
		Iterations: v.Iterations, Residual: v.Residual, Pages: ranked(v.Ranks), Links: v.Links,
	}
	if then := v.Recorded; then > 0 {
		st.Changed = float64(max(links, then)-min(links, then)) / float64(then)
		st.Stale = st.Changed > StaleShare
	}
	return st
}

// RemoveRank removes a vector. Searches that name it fail from then on; those without a name go on
// without ranks where it is the default one.
func RemoveRank(dir, name string) error {
	if err := CheckRankName(name); err != nil {
		return err
	}
	err := os.Remove(datadir.RankNamed(dir, name))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := rankvector.Names(filepath.Dir(datadir.Rank(dir)))
	if err != nil {
		return err
	}
	there := "none is computed yet"
	if len(names) > 0 {
		there = "there are " + strings.Join(names, ", ")
	}
	return fmt.Errorf("pagerank: %w: %q; %s", ErrNoRank, name, there)
}
