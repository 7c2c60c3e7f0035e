//go:build !linux

package main

import (
	"errors"
	"os"
)

// dropCache fails: only on Linux do we know how to do it.
func dropCache(*os.File) error { return errors.ErrUnsupported }
