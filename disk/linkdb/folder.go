package linkdb

import "anatomy/disk/datadir"

// OpenFolder opens the link runs that the manifest of the data folder dir names. It takes no lock:
// if a merge replaces the runs meanwhile, OpenFolder reads the next manifest.
func OpenFolder(dir string) (set *Set, err error) {
	err = datadir.ReadFiles(dir, func(m datadir.Manifest) (err error) {
		set, err = OpenSet(Paths(dir, m.Links))
		return err
	})
	return set, err
}

// Counts are numbers of links.
type Counts struct {
	Links   uint64 // a link in several runs counts once per run
	Changes uint64 // see [Run.CountChanges]
}

// CountFolder returns the counts of the runs that m, a manifest of dir, names.
func CountFolder(dir string, m datadir.Manifest) (n Counts, err error) {
	for _, path := range Paths(dir, m.Links) {
		r, err := Open(path)
		if err != nil {
			return n, err
		}
		n.Links += r.CountLinks()
		n.Changes += r.CountChanges()
		if err := r.Close(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Paths returns the paths of the named runs of the data folder dir.
func Paths(dir string, names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = datadir.Links(dir, name)
	}
	return paths
}
