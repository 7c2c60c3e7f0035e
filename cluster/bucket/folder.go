package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anatomy/disk/durable"
)

// tempAge is the age at which a temporary file is considered abandoned by a writer that was killed.
// It is large, so that a clock that is wrong by a day deletes no file that is being written.
const tempAge = 7 * 24 * time.Hour

// A folder is a bucket in a folder. An object is a file below it, with the object's name as its
// path. Symbolic links and other special files below it are not followed.
//
// Calls to a file system that hangs do not return when their context ends.
type folder struct {
	path string
	fs   durable.FS // for changes
}

// exists fails if the path of the bucket does not exist, or is not a folder.
func (f *folder) exists() error {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("folder %s does not exist: create it, or mount its file system", f.path)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", f.path)
	}
	return err
}

func (f *folder) String() string { return f.path }

func (f *folder) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	_, err := f.find(name)
	if err == nil || errors.Is(err, ErrNotExist) {
		err = put(ctx, f.fs, f.file(name), content, size)
	}
	return wrap(f, "put", name, err)
}

// put writes a file and creates its parent folders.
func put(ctx context.Context, fsys durable.FS, path string, content io.ReaderAt, size int64) error {
	if err := durable.MkdirAll(fsys, filepath.Dir(path)); err != nil {
		return err
	}
	w, err := durable.CreateShared(fsys, path)
	if err != nil {
		return err
	}
	defer w.Abort()
	in := &exact{in: io.NewSectionReader(content, 0, size), left: size, check: ctx.Err}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	return w.Commit()
}

func (f *folder) Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	r, err := f.get(ctx, name, offset, size)
	if err != nil {
		return nil, wrap(f, "get", name, err)
	}
	return r, nil
}

func (f *folder) get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	if err := checkRange(offset, size); err != nil {
		return nil, err
	}
	if _, err := f.find(name); err != nil {
		return nil, err
	}
	file, err := os.Open(f.file(name))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case offset > info.Size() || size > info.Size()-offset:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	if size < 0 {
		size = info.Size() - offset
	}
	in := &exact{in: io.NewSectionReader(file, offset, size), left: size, check: ctx.Err}
	return readCloser{in, file}, nil
}

// file returns the path of an object's file.
func (f *folder) file(name string) string { return filepath.Join(f.path, filepath.FromSlash(name)) }

// find returns the file of an object. It fails if a component of its path is neither a folder nor a
// regular file.
func (f *folder) find(name string) (fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := os.Lstat(f.file(name[:i]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := f.exists(); err != nil {
				return nil, err
			}
			return nil, ErrNotExist
		case err != nil:
			return nil, err
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is a symbolic link or a special file", f.file(name[:i]))
		case info.IsDir() != (i < len(name)):
			return nil, ErrNotExist
		case i == len(name):
			return info, nil
		}
	}
	return nil, ErrNotExist
}

// List also removes temporary files that are older than [tempAge], if it can.
func (f *folder) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		err := f.exists()
		if err == nil {
			err = f.walk(ctx, "", prefix, after, yield)
		}
		if err != nil && err != errStop {
			yield(Object{}, wrap(f, "list", prefix, err))
		}
	}
}

// errStop is returned by walk when the caller has stopped the iteration.
var errStop = errors.New("no more objects are needed")

// walk lists the objects whose names begin with dir, which is empty or ends in a slash.
func (f *folder) walk(
	ctx context.Context, dir, prefix, after string, yield func(Object, error) bool,
) error {
	entries, err := os.ReadDir(f.file(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return strings.Compare(sortKey(a), sortKey(b))
	})
	for _, e := range entries {
		name := dir + e.Name()
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Type().IsRegular() && strings.HasSuffix(name, tempSuffix) {
			f.sweep(name)
		}
		if checkName(name) != nil {
			continue
		}
		if e.IsDir() {
			below := name + "/"
			if (strings.HasPrefix(below, prefix) || strings.HasPrefix(prefix, below)) &&
				(below > after || strings.HasPrefix(after, below)) {
				err = f.walk(ctx, below, prefix, after, yield)
			}
		} else if strings.HasPrefix(name, prefix) && name > after {
			err = visit(name, e, yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sortKey makes the entries of a folder sort like the names of the objects in them.
func sortKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// visit yields one object. It skips a file that was deleted meanwhile.
func visit(name string, e fs.DirEntry, yield func(Object, error) bool) error {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular() && !yield(Object{name, info.Size(), info.ModTime()}, nil):
		return errStop
	}
	return nil
}

// sweep removes a temporary file if it is old. If this machine may only read the folder, another one
// does that.
func (f *folder) sweep(name string) {
	if info, err := os.Lstat(f.file(name)); err == nil && time.Since(info.ModTime()) > tempAge {
		_ = durable.Remove(f.fs, f.file(name))
	}
}

func (f *folder) Delete(ctx context.Context, name string) error {
	_, err := f.find(name)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = durable.Remove(f.fs, f.file(name))
	}
	if errors.Is(err, ErrNotExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return wrap(f, "delete", name, err)
}

// An exact reader reads exactly left bytes of in. It fails if there are fewer, or if check fails.
type exact struct {
	in    io.Reader
	left  int64
	check func() error
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	if err := e.check(); err != nil {
		return 0, err
	}
	n, err := e.in.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
