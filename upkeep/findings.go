package upkeep

import (
	"errors"
	"fmt"
	"path/filepath"

	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/vocab"
)

// findings are the repairable findings of a check.
type findings struct {
	problems  int
	lost      []vocab.DocID   // documents whose records cannot be read
	files     map[uint32]bool // damaged files of the repository
	index     bool            // segments, links or ranks are damaged
	documents bool            // the document index is damaged
	manifest  bool            // the manifest, which names segments and links, is damaged
	pages     bool            // the repository is missing
}

// addMismatch records that a structure is missing, or belongs to another folder.
func (f *findings) addMismatch(problem error) {
	var bad *datadir.MismatchError
	if !errors.As(problem, &bad) {
		return
	}
	switch bad.Structure {
	case datadir.DocIndexName:
		f.documents = true
	case datadir.RepositoryName:
		f.pages = true
	case datadir.ManifestName:
		f.manifest = true
	}
}

// addRepository records a problem of the repository.
func (f *findings) addRepository(problem error) {
	var damage *repository.DamageError
	if !errors.As(problem, &damage) {
		return
	}
	var number uint32
	_, err := fmt.Sscanf(filepath.Base(damage.File), "%d.repo", &number)
	if err == nil && filepath.Ext(damage.File) == ".repo" {
		f.files[number] = true
	} else {
		f.index = true // a table of moved records, which a rebuilt index does not need
	}
}
