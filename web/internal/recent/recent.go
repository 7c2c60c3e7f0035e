package recent

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"anatomy/web/internal/text"
)

// A Ring keeps the newest values.
type Ring[T any] struct {
	mu   sync.Mutex
	all  []T // circular once it is full
	next int
}

// ringSize is the number of values that a ring keeps.
const ringSize = 50

func (r *Ring[T]) put(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) < ringSize {
		r.all = append(r.all, v)
		return
	}
	r.all[r.next] = v
	r.next = (r.next + 1) % ringSize
}

// Newest returns all values, newest first.
func (r *Ring[T]) Newest() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Concat(r.all[r.next:], r.all[:r.next])
	slices.Reverse(all)
	return all
}

// A Complaint is a warning or an error of the log.
type Complaint struct {
	At   time.Time
	Text string
}

// complaints is a handler that keeps the newest warnings and errors and passes all records on.
type complaints struct {
	slog.Handler
	kept  *Ring[Complaint]
	attrs []slog.Attr
}

// KeepComplaints returns a handler that passes all records to next and keeps the newest warnings and
// errors.
func KeepComplaints(next slog.Handler, kept *Ring[Complaint]) slog.Handler {
	return complaints{next, kept, nil}
}

func (h complaints) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.Handler.Enabled(ctx, level)
}

// maxComplaint limits the text of a complaint, in bytes.
const maxComplaint = 1000

func (h complaints) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		var b strings.Builder
		b.WriteString(r.Message)
		add := func(a slog.Attr) bool {
			if a.Key != "stack" {
				b.WriteString(" " + a.String())
			}
			return b.Len() < maxComplaint
		}
		for _, a := range h.attrs {
			add(a)
		}
		r.Attrs(add)
		h.kept.put(Complaint{r.Time, text.Shorten(b.String(), maxComplaint)})
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h complaints) WithAttrs(attrs []slog.Attr) slog.Handler {
	return complaints{h.Handler.WithAttrs(attrs), h.kept, slices.Concat(h.attrs, attrs)}
}

func (h complaints) WithGroup(name string) slog.Handler {
	return complaints{h.Handler.WithGroup(name), h.kept, h.attrs}
}
