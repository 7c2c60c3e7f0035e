//go:build !linux

package durable

import "errors"

func exchange(string, string) error { return errors.ErrUnsupported }
