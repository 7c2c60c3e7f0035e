// Package audit records who changed a data folder: one line of JSON per action, in the file
// audit.log of the folder.
//
//	{"time":"2026-11-22T14:05:00Z","who":"ada (uid 1000)","what":"remove","target":["spam.example"],"result":"done"}
//
// The server and the command line append to the same file. A file that has reached MaxBytes is
// renamed to audit.log.1, replacing the previous one. Only their owner may read the files.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"anatomy/disk/durable"
)

// Bounds of the record.
const (
	MaxBytes = 4 << 20 // of a file, before the next line

	maxTexts = 20  // maximum targets or options per line
	maxText  = 500 // maximum characters of each
)

// Results of an action.
const (
	Done    = "done"
	Failed  = "failed"
	Refused = "refused" // by the server
)

// An Entry is a line of the file.
type Entry struct {
	Time    time.Time `json:"time"` // set by Append if it is zero
	Who     string    `json:"who"`  // a user and its number, or a token and the address of a client
	What    string    `json:"what"` // a command, or an action on the admin page
	Target  []string  `json:"target,omitempty"`
	Options []string  `json:"options,omitempty"` // "name=value"
	Result  string    `json:"result"`
	Reason  string    `json:"reason,omitempty"` // of a failure
}

// Path returns the path of the file of a data folder.
func Path(dir string) string { return filepath.Join(dir, "audit.log") }

// Append durably adds a line to the record of the data folder dir. If there is no data folder it
// does nothing.
func Append(dir string, e Entry) error {
	if _, err := os.Stat(filepath.Join(dir, "VERSION")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	e.Target, e.Options, e.Reason = bound(e.Target), bound(e.Options), shorten(e.Reason)
	line, err := json.Marshal(&e)
	if err == nil {
		err = rotate(dir)
	}
	if err == nil {
		err = durable.Append(durable.OS, Path(dir), append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	return nil
}

// rotate renames a full file. If another process is doing so, it does nothing.
func rotate(dir string) error {
	if !isFull(dir) {
		return nil
	}
	lock, err := durable.Lock(filepath.Join(dir, "audit.lock"))
	if err != nil {
		return nil
	}
	defer lock.Close()
	if !isFull(dir) { // another process has renamed it
		return nil
	}
	return durable.Rename(durable.OS, Path(dir), Path(dir)+".1")
}

func isFull(dir string) bool {
	info, err := os.Stat(Path(dir))
	return err == nil && info.Size() >= MaxBytes
}

// bound returns at most maxTexts texts, each shortened, and a note on the number of others.
func bound(texts []string) []string {
	var all []string
	for _, text := range texts[:min(len(texts), maxTexts)] {
		all = append(all, shorten(text))
	}
	if more := len(texts) - maxTexts; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return all
}

func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	return string([]rune(text)[:maxText]) + "…"
}
