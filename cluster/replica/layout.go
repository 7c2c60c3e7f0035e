package replica

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"anatomy/disk/datadir"
	"anatomy/disk/shards"
)

// A generation contains a data folder, or a folder of shards: data folders shard-0, shard-1 and so on,
// with parcels and other files between them, see package shards.

// within splits the path of a file in a generation into the folder of its shard, or "", and the
// path below it.
func within(p string) (shard, below string) {
	if top, rest, ok := strings.Cut(p, "/"); ok && isShard(top) {
		return top, rest
	}
	return "", p
}

func isShard(top string) bool {
	top = strings.ToLower(top) // some file systems ignore case
	var n int
	_, err := fmt.Sscanf(top, "shard-%d", &n)
	return err == nil && n >= 0 && n < shards.Max && top == filepath.Base(shards.Folder("", n))
}

// topOf returns the first component of a path.
func topOf(p string) string {
	top, _, _ := strings.Cut(p, "/")
	return top
}

// Shards returns the number of shards, or 0 for a data folder.
func (g *Generation) Shards() int { return len(g.shards()) }

// shards returns the folders of the shards, in ascending order.
func (g *Generation) shards() (all []string) {
	for i := range g.Files {
		shard, _ := within(g.Files[i].Path)
		if shard != "" && (len(all) == 0 || all[len(all)-1] != shard) {
			all = append(all, shard)
		}
	}
	return all
}

// dataFolders returns the data folders of a generation: the folder itself, or its shards.
func (g *Generation) dataFolders() []string {
	if all := g.shards(); len(all) > 0 {
		return all
	}
	return []string{""}
}

// isReplaced reports whether a file may change or be deleted while related files stay. In a data
// folder these are the document index and the files at the top level; between shards, all files.
func isReplaced(p string) bool {
	shard, below := within(p)
	top := topOf(below)
	return top == below || isOfDocIndex(p) || shard == "" && top == parcels
}

func isOfDocIndex(p string) bool {
	_, below := within(p)
	return topOf(below) == datadir.DocIndexName
}

var parcels = filepath.Base(shards.Parcels(""))

// isAppended reports whether a file only grows at its end.
func isAppended(p string) bool {
	_, below := within(p)
	return path.Dir(below) == datadir.RepositoryName
}

// isLocal reports whether a path is valid in a generation: clean, below the data folder, and not a
// file that belongs to the machine.
func isLocal(p string) bool {
	_, below := within(p)
	return filepath.IsLocal(filepath.FromSlash(p)) && path.Clean(p) == p &&
		!strings.Contains(p, "\\") && !strings.ContainsFunc(p, unicode.IsControl) &&
		!isOwn(topOf(p)) && !isOwn(topOf(below))
}

// isOwn reports whether a file or folder at the top level of a data folder belongs to the machine:
// locks, sockets, keys, and records of its server and commands.
func isOwn(top string) bool {
	is := func(name string) bool { return strings.EqualFold(name, top) } // some file systems ignore case
	return slices.ContainsFunc(own, is) || strings.HasPrefix(strings.ToLower(top), "audit.")
}

var own = []string{
	"LOCK", "LOCK.pid", "MANIFEST.lock", "cluster.keys", "cluster", "control", "certificates",
	"snapshot", "barrels", datadir.DisksName,
}
