// Package reload reads a file that may be edited while it is in use.
package reload

import (
	"os"
	"sync"
	"time"
)

// A File is a file with its content as of the last read that succeeded. It is safe for concurrent
// use. A nil File has the zero value as its content, and never changes.
type File[T any] struct {
	path    string
	read    func(path string) (T, error)
	onError func(error)

	mu      sync.Mutex // guards all below
	stamp   stamp
	content T
}

// A stamp changes when the file does. It is zero while there is no file.
type stamp struct {
	size int64
	at   time.Time
}

// Open reads a file. onError receives the errors of later versions, whose content is not used.
func Open[T any](
	path string, read func(path string) (T, error), onError func(error),
) (*File[T], error) {
	f := &File[T]{path: path, read: read, onError: onError}
	f.stamp, _ = stampOf(path) // before the content, so that a change in between is detected
	var err error
	f.content, err = read(path)
	return f, err
}

// Content returns the content of the file as of the last read.
func (f *File[T]) Content() (content T) {
	if f == nil {
		return content
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.content
}

// Reload reads the file if it has changed, or is no longer there.
func (f *File[T]) Reload() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := stampOf(f.path)
	if now == f.stamp && err == nil || err != nil && f.stamp == (stamp{}) {
		return
	}
	f.stamp = now
	content, err := f.read(f.path)
	if err != nil {
		f.onError(err)
		return
	}
	f.content = content
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime()}, nil
}
