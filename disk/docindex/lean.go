package docindex

import "github.com/cockroachdb/pebble/v2/vfs"

// A leanFS makes files no larger than what is in them. Pebble sets aside a log's full size at once
// and keeps a few old logs for their blocks: 18 MB of disk for the first 1 MB of records. What it
// saves is a change of the file's length in each sync, and we sync a few times a second.
type leanFS struct{ vfs.FS }

func (fs leanFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return lean(fs.FS.Create(name, category))
}

func (fs leanFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return lean(fs.FS.ReuseForWrite(oldname, newname, category))
}

func (fs leanFS) Unwrap() vfs.FS { return fs.FS }

type leanFile struct{ vfs.File }

func (leanFile) Preallocate(_, _ int64) error { return nil }

func lean(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return leanFile{f}, nil
}
