// Package buckettest provides an in-memory bucket for tests, with injected failures and delays.
package buckettest

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/cluster/bucket"
)

// A Memory is an in-memory bucket. Objects are listed as soon as they are put.
type Memory struct {
	// Before, if not nil, runs before each call; its error becomes the error of the call. It may
	// sleep.
	Before func(ctx context.Context, op, name string) error

	mu      sync.Mutex
	objects map[string]object
	calls   map[string]int
}

type object struct {
	content []byte
	changed time.Time
}

// ErrAway is an error to return from Before.
var ErrAway = errors.New("the bucket is away")

func (m *Memory) before(ctx context.Context, op, name string) error {
	m.mu.Lock()
	if m.calls == nil {
		m.calls = map[string]int{}
	}
	m.calls[op]++
	before := m.Before
	m.mu.Unlock()
	if before != nil {
		if err := before(ctx, op, name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Set sets Before; it may be called concurrently with other methods.
func (m *Memory) Set(before func(ctx context.Context, op, name string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Before = before
}

// Calls returns the number of calls of an operation: "put", "get", "list" or "delete".
func (m *Memory) Calls(op string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[op]
}

// Put implements [bucket.Bucket].
func (m *Memory) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	if err := m.before(ctx, "put", name); err != nil {
		return err
	}
	b := make([]byte, size)
	if n, err := content.ReadAt(b, 0); n < len(b) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects == nil {
		m.objects = map[string]object{}
	}
	m.objects[name] = object{b, time.Now()}
	return nil
}

// Get implements [bucket.Bucket].
func (m *Memory) Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	if err := m.before(ctx, "get", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[name]
	if !ok {
		return nil, bucket.ErrNotExist
	}
	content := o.content[min(offset, int64(len(o.content))):]
	if size >= 0 {
		content = content[:min(size, int64(len(content)))]
	}
	return io.NopCloser(strings.NewReader(string(content))), nil
}

// List implements [bucket.Bucket].
func (m *Memory) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Object, error] {
	return func(yield func(bucket.Object, error) bool) {
		if err := m.before(ctx, "list", prefix); err != nil {
			yield(bucket.Object{}, err)
			return
		}
		for _, o := range m.list(prefix, after) {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (m *Memory) list(prefix, after string) (all []bucket.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if o := m.objects[name]; strings.HasPrefix(name, prefix) && name > after {
			all = append(all, bucket.Object{Name: name, Size: int64(len(o.content)), Changed: o.changed})
		}
	}
	return all
}

// Delete implements [bucket.Bucket].
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := m.before(ctx, "delete", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

func (m *Memory) String() string { return "memory" }

// Change replaces the content of an object by the result of change. If the result is nil it deletes
// the object.
func (m *Memory) Change(name string, change func([]byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[name]
	if o.content = change(slices.Clone(o.content)); o.content == nil {
		delete(m.objects, name)
	} else {
		m.objects[name] = o
	}
}

// Age makes all objects older.
func (m *Memory) Age(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, o := range m.objects {
		o.changed = o.changed.Add(-by)
		m.objects[name] = o
	}
}

// Names returns the names of the objects with a prefix, ascending.
func (m *Memory) Names(prefix string) (names []string) {
	for _, o := range m.list(prefix, "") {
		names = append(names, o.Name)
	}
	return names
}
