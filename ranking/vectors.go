package ranking

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
)

// A VectorStatus describes a rank vector of a data folder. Its JSON is that of
// "anatomy pagerank list --json" and part of /api/v1/stats.
type VectorStatus struct {
	Name         string    `json:"name"`
	Computed     time.Time `json:"computed"`
	Personalized string    `json:"personalized,omitempty"` // see Options.Title; "" if not personalised
	Damping      float64   `json:"damping"`
	Iterations   int       `json:"iterations"`
	Residual     float64   `json:"residual"`
	Pages        int       `json:"pages"`
	Links        uint64    `json:"links"`

	// Changed is the number of links that changed since the computation, as a share of the links now:
	// see linkdb.Run.CountChanges. All links of a refetched page count until the runs are merged.
	Changed float64 `json:"changed"`
	Stale   bool    `json:"stale"` // Changed is above StaleShare
}

// StaleShare is the share of changed links above which a vector should be recomputed.
const StaleShare = 0.1

// ErrNoVector is the error if no vector has the name.
var ErrNoVector = errors.New("no such rank vector")

// CheckName fails if name is not a valid name of a vector.
func CheckName(name string) error { return rankvector.CheckName(name) }

// List returns the rank vectors of the data folder dir, or of all shards, by name.
func List(dir string) ([]VectorStatus, error) {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return nil, err
	}
	var all []VectorStatus
	for _, dir := range dirs {
		m, err := datadir.ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		links, err := linkdb.CountFolder(dir, m)
		if err != nil {
			return nil, err
		}
		some, err := ListFor(dir, links)
		if err != nil {
			return nil, err
		}
		all = AddShard(all, some)
	}
	return all, nil
}

// AddShard merges the status of the vectors of another shard into all.
func AddShard(all, shard []VectorStatus) []VectorStatus {
	if all == nil {
		return shard
	}
	for i := range all {
		for _, v := range shard {
			if v.Name == all[i].Name {
				all[i].Pages += v.Pages
				all[i].Changed, all[i].Stale = max(all[i].Changed, v.Changed), all[i].Stale || v.Stale
			}
		}
	}
	return all
}

// ListFor is List for one data folder, with the counts of its links given.
func ListFor(dir string, links linkdb.Counts) ([]VectorStatus, error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	all := []VectorStatus{}
	for _, name := range m.RankNames() {
		v, err := rankvector.ReadFolder(dir, name)
		if err != nil {
			return nil, err
		}
		if v != nil { // it may have been removed meanwhile
			all = append(all, newRankStatus(name, v, links))
		}
	}
	return all, nil
}

func newRankStatus(name string, v *rankvector.Vector, links linkdb.Counts) VectorStatus {
	st := VectorStatus{
		Name: name, Computed: v.Computed, Personalized: v.Personalized, Damping: v.Damping,
		Iterations: v.Iterations, Residual: v.Residual, Pages: v.Pages(), Links: v.Links,
	}
	if now, then := links.Changes, v.LinkChanges; then > 0 {
		changed := max(now, then) - min(now, then) // now is less after a rebuild, which counts anew
		st.Changed = float64(changed) / float64(max(links.Links, 1))
		st.Stale = st.Changed > StaleShare
	}
	return st
}

// Remove removes a vector from all shards. Later searches that name it fail. If it is the default
// one, other searches run without ranks.
func Remove(dir, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if name == rankvector.Plain {
		return fmt.Errorf("the vector %q cannot be removed: reports on links need it", name)
	}
	if err := upgrade(dir); err != nil {
		return err
	}
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	removed := false
	for _, dir := range dirs {
		err := datadir.RemoveRank(dir, name)
		if err != nil && !errors.Is(err, datadir.ErrNoRank) {
			return err
		}
		removed = removed || err == nil
	}
	if removed {
		return nil
	}
	return noVector(dirs[0], name)
}

// Restore makes the vector rankvector.Previous of the data folder dir, or of all shards, the default one, and
// the default one the previous. The error wraps [ErrNoVector] if a shard lacks either.
func Restore(dir string) error {
	if err := upgrade(dir); err != nil {
		return err
	}
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	vectors := make([][2]*rankvector.Vector, len(dirs))
	for i, dir := range dirs {
		for k, name := range []string{rankvector.Previous, Default} {
			v, err := rankvector.ReadFolder(dir, name)
			if err == nil && v == nil {
				err = noVector(dir, name)
			}
			if err != nil {
				return err
			}
			vectors[i][k] = v
		}
	}
	for i, dir := range dirs {
		if err := rankvector.Publish(dir, Default, vectors[i][0]); err != nil {
			return err
		}
		if err := rankvector.Publish(dir, rankvector.Previous, vectors[i][1]); err != nil {
			return err
		}
	}
	return nil
}

// noVector returns the error for a vector that does not exist.
func noVector(dir, name string) error {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return err
	}
	there := "none is computed yet"
	if len(m.Ranks) > 0 {
		there = "there are " + strings.Join(m.RankNames(), ", ")
	}
	return fmt.Errorf("%w: %q; %s", ErrNoVector, name, there)
}
