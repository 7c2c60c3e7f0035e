package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
)

const (
	filePerm  = 0o600 // pages may have required signing in
	bufferLen = 256 << 10
)

// A Writer writes the new content of a file. The content is written to a temporary file beside it,
// and replaces the file in Commit. Writes are buffered.
//
// A Writer is not safe for concurrent use. The caller ends it with Commit or Abort. Abort does
// nothing after either, so it can be deferred.
type Writer struct {
	fsys FS
	path string
	temp string
	new  bool // path must not exist
	file File // nil after Commit or Abort
	out  *bufio.Writer
}

// buffers are of Writers that have ended. A crawl, and a copy of one, write many small files: new
// buffers were half of what a copy allocates.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, bufferLen) }}

// Create starts new content for the file at path, which need not exist. Only one process at a time
// may do so: a temporary file left by another one is overwritten.
func Create(fsys FS, path string) (*Writer, error) {
	return create(fsys, path, path+".tmp", os.O_TRUNC, filePerm)
}

// CreateNew is Create for a file that must not exist: CreateNew or Commit fails if it does. No
// other process may create it meanwhile.
func CreateNew(fsys FS, path string) (*Writer, error) {
	if err := mustNotExist(fsys, path); err != nil {
		return nil, err
	}
	w, err := create(fsys, path, path+".tmp", os.O_EXCL, filePerm)
	if err == nil {
		w.new = true
	}
	return w, err
}

// mustNotExist fails if a file or folder exists at path.
func mustNotExist(fsys FS, path string) error {
	_, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
}

// CreateShared is Create for a file that several processes may replace at the same time. The last
// one to commit wins. Temporary files left by a crash are never overwritten.
func CreateShared(fsys FS, path string) (*Writer, error) {
	return createShared(fsys, path, filePerm)
}

func createShared(fsys FS, path string, perm fs.FileMode) (*Writer, error) {
	for {
		temp := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		w, err := create(fsys, path, temp, os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return w, err
		}
	}
}

func create(fsys FS, path, temp string, flag int, perm fs.FileMode) (*Writer, error) {
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|flag, perm)
	if err != nil {
		return nil, err
	}
	out := buffers.Get().(*bufio.Writer)
	out.Reset(f)
	return &Writer{fsys: fsys, path: path, temp: temp, file: f, out: out}, nil
}

// Write appends p to the new content. After an error all later writes, and Commit, return the
// error.
func (w *Writer) Write(p []byte) (int, error) { return w.out.Write(p) }

// Commit durably replaces the content of the file. After an error the file has its old content or, if
// only the sync of the folder failed, the new one; the temporary file is removed.
func (w *Writer) Commit() error {
	err := w.out.Flush()
	if err == nil {
		err = w.file.Sync()
	}
	err = errors.Join(err, w.end())
	if err == nil && w.new {
		err = mustNotExist(w.fsys, w.path)
	}
	if err == nil {
		err = w.fsys.Rename(w.temp, w.path)
	}
	if err != nil {
		return errors.Join(err, w.fsys.Remove(w.temp))
	}
	return syncParent(w.fsys, w.path)
}

// Abort removes the temporary file, unless Commit or Abort was called before.
func (w *Writer) Abort() {
	if w.file == nil {
		return
	}
	w.end()
	w.fsys.Remove(w.temp)
}

// end closes the file and returns the buffer to its pool.
func (w *Writer) end() error {
	err := w.file.Close()
	w.out.Reset(nil)
	buffers.Put(w.out)
	w.file, w.out = nil, nil
	return err
}

// WriteFile atomically replaces the content of the file at path, which need not exist: after a
// crash the file has the complete old or new content. Only one process at a time may do so.
func WriteFile(fsys FS, path string, content []byte) error {
	w, err := Create(fsys, path)
	if err != nil {
		return err
	}
	return w.finish(content)
}

// WritePrivate is WriteFile for a file that only its owner may read.
func WritePrivate(fsys FS, path string, content []byte) error {
	w, err := create(fsys, path, path+".tmp", os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return w.finish(content)
}

func (w *Writer) finish(content []byte) error {
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		return err
	}
	return w.Commit()
}

// WriteNew creates the file at path, which must not exist, with the content that write writes. On
// an error it removes the file. A crash before WriteNew returns may leave a partial file.
func WriteNew(fsys FS, path string, write func(io.Writer) error) error {
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Remove(path))
	}
	return syncParent(fsys, path)
}

// ReadFile returns the content of a file.
func ReadFile(fsys FS, path string) ([]byte, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var content []byte
	if err == nil {
		content, err = io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	}
	return content, errors.Join(err, f.Close())
}

// Overwrite calls write to change an existing file to size bytes, and syncs it. After a crash the
// file may have any part of the change.
func Overwrite(fsys FS, path string, size int64, write func(io.WriterAt) error) error {
	f, err := fsys.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Append durably adds content to the end of the file at path in one write. It creates the file,
// readable by its owner only, if needed. Several processes may append at the same time. A crash may
// leave a part of the content.
func Append(fsys FS, path string, content []byte) error {
	_, missing := fsys.Stat(path)
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil || missing == nil {
		return err
	}
	return syncParent(fsys, path)
}

// Remove durably deletes a file or an empty folder.
func Remove(fsys FS, path string) error {
	if err := fsys.Remove(path); err != nil {
		return err
	}
	return syncParent(fsys, path)
}

// Rename durably renames a file or folder within its folder.
func Rename(fsys FS, from, to string) error {
	if err := fsys.Rename(from, to); err != nil {
		return err
	}
	return syncParent(fsys, to)
}
