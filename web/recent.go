package web

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// A ring holds the newest of what is put in.
type ring[T any] struct {
	mu   sync.Mutex
	all  []T // in a circle once full
	next int
}

// ringSize is how many a ring holds.
const ringSize = 50

func (r *ring[T]) put(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) < ringSize {
		r.all = append(r.all, v)
		return
	}
	r.all[r.next] = v
	r.next = (r.next + 1) % ringSize
}

// newest gives all, the newest first.
func (r *ring[T]) newest() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Concat(r.all[r.next:], r.all[:r.next])
	slices.Reverse(all)
	return all
}

// A slowQuery is a search that took long. It holds what somebody asked for, so none is kept unless
// Options.SlowQueries asks for it.
type slowQuery struct {
	At    time.Time
	Query string
	Took  string
	Total int
}

// A complaint is a warning or an error of the log.
type complaint struct {
	At   time.Time
	Text string
}

// A complaints is a log that keeps the newest warnings and errors in memory, and passes all on.
type complaints struct {
	slog.Handler
	kept  *ring[complaint]
	attrs []slog.Attr
}

func (h complaints) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.Handler.Enabled(ctx, level)
}

// maxComplaint bounds the text of one, in bytes.
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
		h.kept.put(complaint{r.Time, shorten(b.String(), maxComplaint)})
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
