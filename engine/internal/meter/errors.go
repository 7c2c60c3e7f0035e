package meter

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"anatomy/vocab"
)

// Errors counts fetches without a page, by kind, and has the newest URL of each. The zero value is
// empty.
type Errors struct {
	mu       sync.Mutex // guards what follows
	kinds    map[string]int64
	examples map[string]string
}

const (
	maxKinds   = 60 // servers choose some reasons
	otherKinds = "other"
)

// Add counts f unless it has a page or was not tried.
func (e *Errors) Add(f *vocab.Fetch) {
	switch f.Outcome {
	case vocab.Fetched, vocab.Redirected, vocab.Unmodified, vocab.Skipped:
		return
	}
	kind := errorKind(f)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds == nil {
		e.kinds, e.examples = map[string]int64{}, map[string]string{}
	}
	if _, known := e.kinds[kind]; !known && len(e.kinds) >= maxKinds {
		kind = otherKinds
	}
	e.kinds[kind]++
	e.examples[kind] = f.URL
}

// Read returns the counts so far, and the newest URL of each kind.
func (e *Errors) Read() (counts map[string]int64, examples map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kinds == nil {
		return map[string]int64{}, map[string]string{}
	}
	return maps.Clone(e.kinds), maps.Clone(e.examples)
}

// errorKind returns the kind of an error, without the host: the status, or the innermost cause.
func errorKind(f *vocab.Fetch) string {
	switch f.Outcome {
	case vocab.Forbidden, vocab.NoName, vocab.TooLarge, vocab.Unsupported:
		return f.Outcome.String()
	}
	if f.Status == http.StatusUnauthorized {
		return f.Outcome.Name(f.Status)
	}
	if f.Status >= 400 {
		return strings.TrimSpace(fmt.Sprintf("%s: %d %s", f.Outcome, f.Status, http.StatusText(f.Status)))
	}
	cause := f.Reason[strings.LastIndex(f.Reason, ": ")+1:]
	if cause = strings.TrimSpace(cause); len(cause) > 80 {
		cause = cause[:80]
	}
	return f.Outcome.String() + ": " + strings.ToValidUTF8(cause, "")
}
