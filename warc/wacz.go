package warc

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// ErrNoArchive is the error for a zip file without web archives.
var ErrNoArchive = errors.New("no web archive is in this zip file")

// A Package is an open WACZ file, as made by browser extensions: a zip file with WARC files in its
// folder archive, and with indexes, which are not read.
type Package struct{ zip *zip.ReadCloser }

// OpenPackage opens a WACZ file. The caller closes it.
func OpenPackage(name string) (*Package, error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("wacz: %s: %w", name, err)
	}
	p := &Package{z}
	if len(p.Archives()) == 0 {
		return nil, errors.Join(fmt.Errorf("wacz: %s: %w", name, ErrNoArchive), z.Close())
	}
	return p, nil
}

// Archives returns the names of the web archives in the package.
func (p *Package) Archives() (names []string) {
	for _, f := range p.zip.File {
		dir, base := path.Split(f.Name)
		if dir == "archive/" && (strings.HasSuffix(base, ".warc") || strings.HasSuffix(base, ".warc.gz")) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Open opens one of Archives.
func (p *Package) Open(archive string) (io.ReadCloser, error) { return p.zip.Open(archive) }

// Close closes the file.
func (p *Package) Close() error { return p.zip.Close() }
