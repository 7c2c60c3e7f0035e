package replica

import (
	"os"
	"path"
	"path/filepath"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/segment"
)

// An extent says which files of a generation a folder has. It is the content of the file
// [datadir.Light].
type extent string

const (
	whole    extent = "" // the file does not exist
	light    extent = "light\n"
	changing extent = "changing\n" // from one of them to the other: any file may be missing or superfluous
	unknown  extent = "unknown"    // after an error; not in any file
)

func readExtent(dir string) (extent, error) {
	content, err := os.ReadFile(datadir.Light(dir))
	switch {
	case isMissing(err):
		return whole, nil
	case err == nil && extent(content) != light:
		return changing, nil
	}
	return light, err
}

// wanted returns the extent that the folder is to have.
func (f *Follower) wanted() extent {
	if f.o.Light() {
		return light
	}
	return whole
}

// setExtent records the extent of the folder. After an error it is unknown which one the file has, so
// that the next call writes it again.
func (f *Follower) setExtent(e extent) (err error) {
	switch path := datadir.Light(f.o.Dir); {
	case e == f.extent:
		return nil
	case e == whole:
		err = durable.Remove(durable.OS, path)
	default:
		if err = durable.MkdirAll(durable.OS, filepath.Dir(path)); err == nil {
			err = durable.WriteFile(durable.OS, path, []byte(e))
		}
	}
	if err != nil {
		f.extent = unknown
		return err
	}
	f.extent = e
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.Light = e != whole
	return nil
}

// lighten returns the generation with the files of a light copy.
func (g *Generation) lighten() *Generation {
	some := *g
	some.Files = nil
	for _, file := range g.Files {
		switch {
		case isPostings(file.Path):
			some.Files = append(some.Files, File{Path: path.Join(path.Dir(file.Path), segment.LightName)})
		case !isBulk(file.Path):
			some.Files = append(some.Files, file)
		}
	}
	return &some
}

// isBulk reports whether light copies lack a file.
func isBulk(p string) bool {
	_, below := within(p)
	return topOf(below) == datadir.RepositoryName || isOfSegment(below) && segment.IsMapped(path.Base(below))
}

// isOfSegment reports whether a path below a data folder is that of a file of a segment.
func isOfSegment(below string) bool {
	return path.Dir(path.Dir(below)) == filepath.Base(filepath.Dir(datadir.Segment("", "x")))
}

func isPostings(p string) bool {
	_, below := within(p)
	return isOfSegment(below) && path.Base(below) == segment.PostingsName
}

// dropPostings deletes the postings of segments that are to be light.
func (f *Follower) dropPostings(g *Generation, folder string) error {
	for i := range g.Files {
		shard, below := within(g.Files[i].Path)
		if shard != folder || !isOfSegment(below) || path.Base(below) != segment.LightName {
			continue
		}
		postings := filepath.Join(f.o.Dir, filepath.FromSlash(path.Dir(g.Files[i].Path)), segment.PostingsName)
		if err := durable.Remove(durable.OS, postings); err != nil && !isMissing(err) {
			return err
		}
	}
	return nil
}
