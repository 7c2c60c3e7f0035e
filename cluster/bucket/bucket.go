// Package bucket keeps immutable objects by name where several machines reach them: on an
// S3-compatible server, or in a folder, which may be on a shared file system.
//
// It needs little of a server: put, get, ranges, list and delete. Conditional puts are not used,
// because several servers do not honour the condition.
//
// The address of a bucket has no secrets. The key of a server comes from the environment variables
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION, or from the file
// ~/.aws/credentials.
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

// A Bucket holds objects by name. It is safe for use by many goroutines and processes.
//
// Names are slash-separated, of [A-Za-z0-9._-] and at most 200 bytes. No part of a name is empty,
// "." or "..", or ends in ".tmp", and no object has the name of another one's folder: "a" excludes
// "a/b". Objects of others, with other names, are not seen.
//
// An error names the bucket, the object and what failed, and the user's next step where there is
// one. Calls on a server try again after failures that may pass, for some seconds; a server that
// does not answer fails them after some minutes.
type Bucket interface {
	// Put stores an object, whole or not at all, durably. An object with the name is replaced.
	Put(ctx context.Context, name string, content io.ReaderAt, size int64) error

	// Get returns size bytes of an object from an offset; size < 0 means to its end. The error wraps
	// ErrNotExist if there is none, and io.ErrUnexpectedEOF if the object has fewer bytes. The reader
	// returns all of the bytes or an error. It ends with ctx.
	Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error)

	// List returns the objects whose names begin with prefix and are greater than after, by name,
	// ascending. It ends at the first error.
	List(ctx context.Context, prefix, after string) iter.Seq2[Object, error]

	// Delete removes an object. It is no error if there is none.
	Delete(ctx context.Context, name string) error

	// String returns the bucket's address.
	String() string
}

// An Object describes an object of a bucket.
type Object struct {
	Name    string
	Size    int64
	Changed time.Time // when it was stored, by the server's clock
}

// ErrNotExist is the error of Get for an object that is not in the bucket.
var ErrNotExist = errors.New("there is no such object")

const (
	maxName    = 200
	tempSuffix = ".tmp" // of temporary files in a folder
)

// checkName fails unless name can be an object's name.
func checkName(name string) error {
	valid := len(name) <= maxName && !strings.ContainsFunc(name, odd)
	for part := range strings.SplitSeq(name, "/") {
		valid = valid && part != "" && part != "." && part != ".." && !strings.HasSuffix(part, tempSuffix)
	}
	if !valid {
		return fmt.Errorf("%.210q is not a valid name of an object", name)
	}
	return nil
}

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"

// odd reports whether no name has the character.
func odd(r rune) bool { return !strings.ContainsRune(nameBytes, r) }

// checkRange fails unless offset and size can be those of a range.
func checkRange(offset, size int64) error {
	if offset < 0 || size > 0 && offset+size < 0 {
		return fmt.Errorf("%d bytes from offset %d are not a range", size, offset)
	}
	return nil
}

// wrap adds the bucket, what was done, and to which object, to an error.
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
