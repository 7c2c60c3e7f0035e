package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anatomy/disk/durable"
)

// RepairVersion rewrites VERSION if it is damaged, or missing in a folder that has a document index
// or a repository, and returns the problem that it repaired. The ID is that of the MANIFEST or, if
// it has none, of idOf, which returns the ID in the document index, or "". A folder whose MANIFEST
// names no rank vectors although some exist gets version 2.
func RepairVersion(dir string, idOf func() string) (repaired, err error) {
	repaired = CheckVersion(dir)
	var damage *DamageError
	switch {
	case repaired == nil, errors.As(repaired, &damage):
	case errors.Is(repaired, ErrNone) && IsUsed(dir):
		repaired = &DamageError{filepath.Join(dir, VersionName), fs.ErrNotExist}
	default:
		return nil, repaired
	}
	if repaired == nil {
		return nil, nil
	}
	v := version{number: Version}
	m, err := decodeManifestOf(dir)
	if err == nil && len(m.Ranks) == 0 && HasRanks(dir) {
		v.number = 2
	}
	if _, err := os.Stat(Disks(dir)); err == nil {
		v.number = SpreadVersion
	}
	if v.id = m.Folder; err != nil || v.id == "" {
		v.id = idOf()
	}
	if err := writeVersion(durable.OS, dir, v); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return repaired, nil
}

// IsUsed reports whether dir has structures that only data folders have.
func IsUsed(dir string) bool {
	_, err := os.Stat(DocIndex(dir))
	return err == nil && HasRepository(dir)
}
