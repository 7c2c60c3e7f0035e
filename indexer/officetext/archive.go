package officetext

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of a zip file.
const (
	maxFiles    = 10_000
	maxInflated = 32 << 20 // bytes read of all files; what exceeds it is left out
	maxRatio    = 200      // inflated to packed bytes of a file
	ratioFrom   = 1 << 20  // inflated bytes before the ratio counts
)

// ErrBomb is the error of Convert for a file that unpacks to far more than its size.
var ErrBomb = errors.New("office document unpacks to far more than its size")

// An archive is a zip file in memory.
type archive struct {
	files map[string]*zip.File // by name in lower case, the first of each
	size  int                  // bytes of the zip file
	room  int64                // bytes that may still be read
}

// openArchive opens a zip file. It fails if that has more than maxFiles files, even if it states fewer.
func openArchive(body []byte) (*archive, error) {
	if n := bytes.Count(body, []byte("PK\x01\x02")); n > maxFiles {
		return nil, fmt.Errorf("zip file of more than %d files", maxFiles)
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("zip file: %w", err)
	}
	files := make(map[string]*zip.File, len(z.File))
	a := &archive{files: files, size: len(body), room: maxInflated}
	for _, f := range z.File {
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		if a.files[name] == nil {
			a.files[name] = f
		}
	}
	return a, nil
}

// file returns the file with a name, or nil. Names of parts are not case-sensitive (ECMA-376, part
// 2).
func (a *archive) file(name string) *zip.File { return a.files[strings.ToLower(name)] }

// open returns a reader of a file. The file ends early where the bound of the archive is reached.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.file(name)
	if f == nil {
		return nil, fmt.Errorf("no file %.100q", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("file %.100q: %w", name, err)
	}
	packed := min(f.CompressedSize64, uint64(a.size)) // the file may state any number
	return &inflating{ReadCloser: r, a: a, packed: int64(packed)}, nil
}

// An inflating reads a file of an archive.
type inflating struct {
	io.ReadCloser
	a         *archive
	packed, n int64
}

func (r *inflating) Read(p []byte) (int, error) {
	if r.a.room <= 0 {
		return 0, io.EOF
	}
	n, err := r.ReadCloser.Read(p[:min(int64(len(p)), r.a.room)])
	r.n += int64(n)
	r.a.room -= int64(n)
	if r.n > ratioFrom && r.n > maxRatio*r.packed {
		return 0, ErrBomb
	}
	return n, err
}

// readAll returns at most max bytes of a file.
func (a *archive) readAll(name string, max int64) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, max))
}

// worse returns the more important of two errors: ErrBomb, else the first one.
func worse(first, next error) error {
	if first == nil || errors.Is(next, ErrBomb) {
		return next
	}
	return first
}
