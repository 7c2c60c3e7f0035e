// Package memo caches results that do not change.
package memo

import "sync"

// maxEntries bounds a Memo. When it is full, it is emptied.
const maxEntries = 4096

// A Memo is a bounded map that is safe for concurrent use. The zero Memo is empty.
type Memo[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]V
}

// Get returns the value of a key.
func (m *Memo[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.entries[key]
	return v, ok
}

// Put sets the value of a key. The key must not share memory with a query's arena.
func (m *Memo[K, V]) Put(key K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil || len(m.entries) >= maxEntries {
		m.entries = map[K]V{}
	}
	m.entries[key] = v
}
