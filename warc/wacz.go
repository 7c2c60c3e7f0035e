package warc

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// ErrNoArchive says that a zip file has no web archive in it.
var ErrNoArchive = errors.New("no web archive is in this zip file")

// A Package is a WACZ file, which browsers that archive what they show make: a zip file with WARC files in
// its folder archive, beside indexes of them that are not needed to read all.
type Package struct{ zip *zip.ReadCloser }

// OpenPackage opens the file of that name. It must be closed.
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

// Archives are the names of the web archives in the package.
func (p *Package) Archives() (names []string) {
	for _, f := range p.zip.File {
		if dir, base := path.Split(f.Name); dir == "archive/" && (strings.HasSuffix(base, ".warc") || strings.HasSuffix(base, ".warc.gz")) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Open opens one of Archives.
func (p *Package) Open(archive string) (io.ReadCloser, error) { return p.zip.Open(archive) }

// Close closes the file.
func (p *Package) Close() error { return p.zip.Close() }
