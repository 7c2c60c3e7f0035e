// Package icons keeps the icons of hosts: one file a host, in the folder icons of a data folder. Its name
// is a hash of the host's. An empty file records that the host has none. The folder is not part of the
// index: without it, results have no icons, and the next crawls fetch them again.
package icons

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"anatomy/disk/durable"
)

// Bounds of a folder.
const (
	MaxBytes = 64 << 10 // of an icon
	MaxHosts = 20_000
	MaxAge   = 30 * 24 * time.Hour // before an icon is fetched again
)

// Path returns the folder of a data folder.
func Path(dir string) string { return filepath.Join(dir, "icons") }

func file(dir, host string) string {
	sum := sha256.Sum256([]byte(host))
	return filepath.Join(Path(dir), hex.EncodeToString(sum[:16]))
}

// Read returns the icon of a host, as its site sent it. The error wraps fs.ErrNotExist if the folder has
// none.
func Read(dir, host string) ([]byte, error) {
	f, err := os.Open(file(dir, host))
	if err != nil {
		return nil, fmt.Errorf("icon: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxBytes))
	if err == nil && len(content) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("icon of %s: %w", host, err)
	}
	return content, nil
}

// Has reports whether the folder has an icon of a host.
func Has(dir, host string) bool {
	info, err := os.Stat(file(dir, host))
	return err == nil && info.Size() > 0
}

// Remove deletes the record of the icon of a host.
func Remove(dir, host string) error {
	err := durable.Remove(durable.OS, file(dir, host))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("icon of %s: %w", host, err)
	}
	return nil
}

// A Writer adds icons to a data folder. It is safe for concurrent use. One process has one for a folder.
type Writer struct {
	dir string

	mu    sync.Mutex
	hosts int // number of files; guarded by mu
}

// NewWriter returns a writer for a data folder.
func NewWriter(dir string) (*Writer, error) {
	entries, err := os.ReadDir(Path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("icons: %w", err)
	}
	return &Writer{dir: dir, hosts: len(entries)}, nil
}

// IsWanted reports whether the icon of a host must be fetched: nothing is recorded of it, or the record
// has reached MaxAge. A full folder takes no further hosts.
func (w *Writer) IsWanted(host string, now time.Time) bool {
	info, err := os.Stat(file(w.dir, host))
	if err == nil {
		return now.Sub(info.ModTime()) >= MaxAge
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Is(err, fs.ErrNotExist) && w.hosts < MaxHosts
}

// Put records the icon of a host, fetched at a time. Empty content records that the host has no icon,
// and does not replace an icon.
func (w *Writer) Put(host string, content []byte, now time.Time) error {
	name := file(w.dir, host)
	if len(content) > MaxBytes {
		content = nil
	}
	_, err := os.Stat(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew || len(content) > 0 {
		err := durable.MkdirAll(durable.OS, Path(w.dir))
		if err == nil {
			err = durable.WriteFile(durable.OS, name, content)
		}
		if err != nil {
			return fmt.Errorf("icon of %s: %w", host, err)
		}
	}
	if isNew {
		w.mu.Lock()
		w.hosts++
		w.mu.Unlock()
	}
	return os.Chtimes(name, now, now)
}
