package collection

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
)

// A damagedError is an error about damage that is safe to show to visitors.
type damagedError struct{ err error }

func (*damagedError) Error() string {
	return "data needed for the answer is damaged on the server's disk"
}
func (e *damagedError) Unwrap() error { return e.err }

// A structureError is an error of reading a structure whose own errors do not name it.
type structureError struct {
	structure string
	err       error
}

func (e *structureError) Error() string { return e.err.Error() }
func (e *structureError) Unwrap() error { return e.err }

// readingOf wraps err as an error of reading a structure. It returns err unchanged if it already
// names the damaged structure, or is transient.
func readingOf(structure string, err error) error {
	if err == nil || isTransient(err) {
		return err
	}
	return &structureError{structure, err}
}

// isTransient reports whether err has a cause other than damage: the end of the request, a file
// that is being replaced, or a missing permission.
func isTransient(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// reportDamage adds err to log if it means that a structure is damaged, and then returns an error
// without the server's paths.
func reportDamage(log *damage.Log, err error) error {
	if err == nil || errors.As(err, new(*damagedError)) {
		return err
	}
	var (
		stored  *repository.DamageError
		links   *linkdb.CorruptError
		part    *segment.DamageError
		named   *structureError
		publish *datadir.DamageError
		other   *datadir.MismatchError
	)
	switch {
	case errors.As(err, &stored):
		log.Add(damage.Repository, stored)
	case errors.As(err, &links):
		log.Add(damage.Links, links)
	case errors.As(err, &part):
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		log.Add(damage.Index, part)
	case errors.As(err, &named):
		log.Add(named.structure, named.err)
	case errors.As(err, &publish):
		log.Add(damage.Manifest, publish)
	case errors.As(err, &other):
		log.Add(damage.Manifest, other)
	default:
		return err
	}
	return &damagedError{err}
}
