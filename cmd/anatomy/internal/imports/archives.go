package imports

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/warc"
)

// archives are the web archives named on the command line, with those in packages and indexes listed one
// by one.
type archives struct {
	names    []string
	packed   map[string]func() (io.ReadCloser, error) // opens an archive in a package or index, by its name
	packages []*warc.Package
	c        *cobra.Command
}

// openArchives fails if one of the files cannot be read, or if none has an intact record.
func openArchives(c *cobra.Command, files []string) (*archives, error) {
	a := &archives{c: c, packed: map[string]func() (io.ReadCloser, error){}}
	for _, name := range files {
		if err := a.add(name); err != nil {
			a.close()
			return nil, err
		}
	}
	if err := a.check(); err != nil {
		a.close()
		return nil, cli.WithHint(err, "the files must be web archives: WARC, WACZ, ARC or WET")
	}
	return a, nil
}

// check fails if no archive has an intact record: Import would create a data folder for nothing.
func (a *archives) check() error {
	if len(a.names) == 0 {
		return errors.New("the index names no record, so nothing was read")
	}
	var failed error
	for _, name := range a.names {
		check := a.checkFirst
		if !a.isRegular(name) {
			check = a.checkStream
		}
		err := check(name)
		if err == nil {
			return nil
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

func (a *archives) isRegular(name string) bool {
	if _, ok := a.packed[name]; ok {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// checkFirst fails if an archive has no intact record.
func (a *archives) checkFirst(name string) error {
	f, err := a.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return checkRecords(name, f)
}

// maxHead is the number of bytes that checkStream reads.
const maxHead = 16 << 20

// checkStream is checkFirst for an archive that can be read only once, such as standard input. It does not
// fail if the first maxHead bytes have no intact record but more follow.
func (a *archives) checkStream(name string) error {
	f, err := a.open(name)
	if err != nil {
		return err
	}
	var head bytes.Buffer
	a.packed[name] = func() (io.ReadCloser, error) {
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(&head, f), f}, nil
	}
	if err = checkRecords(name, io.TeeReader(io.LimitReader(f, maxHead), &head)); head.Len() == maxHead {
		return nil
	}
	return err
}

// checkRecords fails if an archive has no intact record. It reads up to the first one.
func checkRecords(name string, archive io.Reader) error {
	if name == "-" {
		name = "standard input"
	}
	r := warc.NewReader(archive, warc.ReaderOptions{})
	var damage error
	for {
		_, err := r.Next()
		if err == nil {
			return nil
		}
		if err == io.EOF && damage == nil {
			return fmt.Errorf("%s has no record, so nothing was read", name)
		}
		damage = cmp.Or(damage, err)
		if !errors.As(err, new(*warc.DamageError)) {
			return fmt.Errorf("%s has no intact record: %w", name, damage)
		}
	}
}

func (a *archives) add(name string) error {
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".wacz"):
		p, err := warc.OpenPackage(name)
		if err != nil {
			return cli.WithHint(err, "a .wacz file is a zip file with WARC files in its folder archive")
		}
		a.packages = append(a.packages, p)
		for _, member := range p.Archives() {
			full := name + "/" + member
			a.names = append(a.names, full)
			a.packed[full] = func() (io.ReadCloser, error) { return p.Open(member) }
		}
		return nil
	case strings.HasSuffix(strings.ToLower(name), ".cdxj"):
		return a.addIndex(name)
	case name != "-":
		f, err := cli.OpenInput(a.c, name)
		if err != nil {
			return err
		}
		f.Close()
	}
	a.names = append(a.names, name)
	return nil
}

// addIndex adds the archives that an index names. Only the records that it names are read.
func (a *archives) addIndex(name string) error {
	f, err := cli.OpenInput(a.c, name)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := warc.ReadIndex(f)
	if err != nil {
		return cli.WithHint(fmt.Errorf("%s: %w", name, err), "\"anatomy export warc --cdxj\" writes such an index")
	}
	for _, of := range all {
		path, err := beside(name, of.Filename)
		if err != nil {
			return cli.WithHint(err, "put the archive into the folder of the index")
		}
		full := name + "/" + of.Filename
		a.names = append(a.names, full)
		a.packed[full] = func() (io.ReadCloser, error) {
			f, err := os.Open(path)
			return struct {
				io.Reader
				io.Closer
			}{of.Reader(f), f}, err
		}
	}
	return nil
}

// beside returns the path of an archive that an index names: in the folder of the index, below it or
// not. Indexes are untrusted, and name no file elsewhere.
func beside(index, archive string) (string, error) {
	for _, local := range []string{filepath.FromSlash(archive), filepath.Base(archive)} {
		path := filepath.Join(filepath.Dir(index), local)
		if _, err := os.Stat(path); err == nil && filepath.IsLocal(local) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s names %q, which is not in its folder", index, archive)
}

func (a *archives) open(name string) (io.ReadCloser, error) {
	if open, ok := a.packed[name]; ok {
		return open()
	}
	return cli.OpenInput(a.c, name)
}

func (a *archives) close() {
	for _, p := range a.packages {
		p.Close()
	}
}
