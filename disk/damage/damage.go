// Package damage collects the damage that the readers of a process find in a data folder. All
// readers report to it, so that logs, metrics and status pages have one source.
package damage

import (
	"log/slog"
	"maps"
	"sync"
)

// Repair is the command that repairs damage.
const Repair = "anatomy check --repair"

// Structures by which damage is counted.
const (
	Documents  = "documents"
	Index      = "index"
	Links      = "links"
	Manifest   = "manifest"
	Rank       = "rank"
	Repository = "repository"
)

// maxKept bounds the number of distinct problems kept.
const maxKept = 1000

// A Log collects problems. A nil Log discards them. It is safe for concurrent use.
type Log struct {
	log *slog.Logger

	mu     sync.Mutex // guards what follows
	known  map[string]bool
	counts map[string]int
}

// NewLog returns a Log that warns of each problem once.
func NewLog(log *slog.Logger) *Log {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Log{log: log, known: map[string]bool{}, counts: map[string]int{}}
}

// Add adds a problem of a structure, and logs it if it is new.
func (l *Log) Add(structure string, problem error) {
	if l == nil || problem == nil {
		return
	}
	key := structure + ": " + problem.Error()
	l.mu.Lock()
	fresh := !l.known[key] && len(l.known) < maxKept
	if fresh {
		l.known[key] = true
		l.counts[structure]++
	}
	l.mu.Unlock()
	if fresh {
		l.log.Warn("the data folder is damaged: stop the server and the crawl, and run "+Repair,
			"structure", structure, "error", problem)
	}
}

// Counts returns the number of distinct problems by structure.
func (l *Log) Counts() map[string]int {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}
