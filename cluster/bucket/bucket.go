// Package bucket stores objects by name where several machines can reach them: on an S3-compatible
// server, or in a folder, which may be on a shared file system.
//
// It requires of a server only put, get, range requests, list and delete. It does not use
// conditional puts, because several servers ignore the condition.
//
// The address of a bucket contains no secrets. The key of a server comes from the environment
// variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION, or from the
// file ~/.aws/credentials.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// A Bucket stores objects by name. It is safe for use by many goroutines and processes.
//
// Names are slash-separated, of [A-Za-z0-9._-] and at most 200 bytes. No part of a name is empty,
// "." or "..", or ends in ".tmp", and no object has the name of another one's folder: "a" excludes
// "a/b". Objects with other names are ignored.
//
// An error names the bucket, the object and the operation, and the user's next step where there is
// one. Transient failures of a server are retried for some seconds; a call to a server that does
// not answer fails after some minutes.
type Bucket interface {
	// Put stores an object atomically and durably. It replaces an object of the same name.
	Put(ctx context.Context, name string, content io.ReaderAt, size int64) error

	// Get returns size bytes of an object from an offset; size < 0 means to its end. The error
	// wraps ErrNotExist if the object does not exist, and io.ErrUnexpectedEOF if it has fewer
	// bytes. The reader returns all bytes or an error. It is valid until ctx ends.
	Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error)

	// List returns the objects whose names begin with prefix and are greater than after, in
	// ascending order. It stops at the first error.
	List(ctx context.Context, prefix, after string) iter.Seq2[Object, error]

	// Delete removes an object. It succeeds if the object does not exist.
	Delete(ctx context.Context, name string) error

	// String returns the bucket's address.
	String() string
}

// An Object is an entry of a list.
type Object struct {
	Name    string
	Size    int64
	Changed time.Time // when it was stored, by the server's clock
}

// ErrNotExist is the error of Get for an object that does not exist.
var ErrNotExist = errors.New("the object does not exist")

const (
	maxName    = 200
	tempSuffix = ".tmp" // of temporary files in a folder
)

// checkName fails unless name is a valid object name.
func checkName(name string) error {
	valid := len(name) <= maxName && !strings.ContainsFunc(name, odd)
	for part := range strings.SplitSeq(name, "/") {
		valid = valid && part != "" && part != "." && part != ".." && !strings.HasSuffix(part, tempSuffix)
	}
	if !valid {
		return fmt.Errorf("%.210q is not a valid object name", name)
	}
	return nil
}

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"

// odd reports whether r is not allowed in names.
func odd(r rune) bool { return !strings.ContainsRune(nameBytes, r) }

// checkRange fails unless offset and size describe a range.
func checkRange(offset, size int64) error {
	if offset < 0 || size > 0 && offset+size < 0 {
		return fmt.Errorf("%d bytes from offset %d are not a valid range", size, offset)
	}
	return nil
}

// wrap adds the bucket, the operation and the object to an error.
func wrap(b Bucket, op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{b.String(), strings.TrimSpace(op + " " + name), err}
}

// An Error is a failure of a bucket.
type Error struct {
	Bucket string // its address
	Call   string // "get NAME" and so on
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("bucket %s: %s: %v", e.Bucket, e.Call, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }
