// Package reason describes, as short text for display, why a request failed.
package reason

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Status names a status: "404 Not Found".
func Status(code int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
}

// Of returns the text of an error without the addresses and operations that package net adds.
func Of(err error) string {
	var errno syscall.Errno
	var op *net.OpError
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &op) && op.Timeout():
		return "timed out"
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}
