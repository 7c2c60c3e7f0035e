// Package crawllog records the last crawls of a data folder: one line of JSON per crawl, oldest
// first, in the file crawls.log of the folder.
//
//	{"began":"2026-11-24T03:00:00Z","ended":"2026-11-24T03:12:05Z","how":"recrawl","by":"schedule",
//	"result":"done","new":3,"visited":160,"changed":5,"left":1,"failed":2,"pages":163}
//
// The process that holds the folder's lock replaces the file when a crawl ends. A killed crawl
// leaves no line. Only its owner may read the file.
package crawllog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// Bounds of the file.
const (
	MaxCrawls = 200 // older ones are dropped
	maxReason = 500 // bytes
	maxKinds  = 20  // of Crawl.Errors
)

// Values of Crawl.By: what started a crawl.
const (
	Command   = "command"
	AdminPage = "admin page"
	Schedule  = "schedule"
)

// Values of Crawl.Result.
const (
	Done    = "done"
	Stopped = "stopped" // before its queues were empty, as by Ctrl-C
	Failed  = "failed"
)

// A Crawl is a line of the file. The counts are of this crawl, except Pages.
type Crawl struct {
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	How     string    `json:"how"` // crawl, recrawl or watch
	By      string    `json:"by"`
	Result  string    `json:"result"`
	Reason  string    `json:"reason,omitempty"` // of a failure
	New     int64     `json:"new"`              // new pages
	Visited int64     `json:"visited"`          // pages revisited
	Changed int64     `json:"changed"`          // the part of Visited with a new version
	Left    int64     `json:"left"`             // the part of Visited that left the results
	Failed  int64     `json:"failed"`           // URLs that could not be fetched
	Pages   int64     `json:"pages"`            // pages in the folder at the end

	Errors map[string]int64 `json:"errors,omitempty"` // fetches without a page, by kind: the most frequent ones
}

// Path returns the path of the file of a data folder.
func Path(dir string) string { return filepath.Join(dir, "crawls.log") }

// mostFrequent returns at most maxKinds of the counts.
func mostFrequent(counts map[string]int64) map[string]int64 {
	kinds := vocab.KeysByCount(counts)
	kept := map[string]int64{}
	for _, kind := range kinds[:min(len(kinds), maxKinds)] {
		kept[kind] = counts[kind]
	}
	return kept
}

// Append adds a crawl, and drops the oldest beyond MaxCrawls. The caller holds the lock of the
// folder.
func Append(dir string, c Crawl) error {
	c.Began, c.Ended = c.Began.UTC().Truncate(time.Second), c.Ended.UTC().Truncate(time.Second)
	c.Errors = mostFrequent(c.Errors)
	c.Reason = strings.ToValidUTF8(c.Reason[:min(len(c.Reason), maxReason)], "")
	line, err := json.Marshal(&c)
	if err != nil {
		return fmt.Errorf("crawl log: %w", err)
	}
	lines, err := readLines(dir)
	if err != nil {
		return err
	}
	lines = append(lines, append(line, '\n'))
	lines = lines[max(0, len(lines)-MaxCrawls):]
	if err := durable.WritePrivate(durable.OS, Path(dir), bytes.Join(lines, nil)); err != nil {
		return fmt.Errorf("crawl log: %w", err)
	}
	return nil
}

// Read returns the last crawls, newest first; none if the file does not exist.
func Read(dir string) ([]Crawl, error) {
	lines, err := readLines(dir)
	if err != nil {
		return nil, err
	}
	all := make([]Crawl, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &all[i]); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", Path(dir), i+1, err)
		}
	}
	slices.Reverse(all)
	return all, nil
}

// readLines returns the lines of the file, including line ends.
func readLines(dir string) ([][]byte, error) {
	content, err := os.ReadFile(Path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("crawl log: %w", err)
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		content = append(content, '\n')
	}
	return slices.Collect(bytes.Lines(content)), nil
}
