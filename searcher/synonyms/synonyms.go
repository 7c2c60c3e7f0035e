// Package synonyms reads groups of synonyms from a file that the operator edits:
//
//	# Each line is a group. A comment starts with #.
//	postgres = PostgreSQL
//	js = javascript = ecmascript
//
// A query for one word of a group also finds pages with another.
package synonyms

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/reload"
)

// Bounds of a file.
const (
	MaxBytes = 1 << 20
	MaxGroup = 16  // words per group
	MaxWord  = 100 // bytes
)

// A Table maps each word to the other words of its groups, sorted. Words are folded like terms. The
// zero value is empty.
type Table struct{ others map[string][]string }

// Of returns the synonyms of a term, sorted. The caller must not modify the result.
func (t *Table) Of(term string) []string {
	if t == nil {
		return nil
	}
	return t.others[term]
}

// A LineError is a syntax error in a line of a file.
type LineError struct {
	File   string
	Line   int
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Reason) }

// Read reads a file.
func Read(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(f, path)
}

// Parse reads a table. name is the file name for errors. A word in several groups has the synonyms
// of all of them.
func Parse(r io.Reader, name string) (*Table, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, MaxBytes)
	}
	t := &Table{others: map[string][]string{}}
	lines, n := bufio.NewScanner(bytes.NewReader(text)), 0
	lines.Buffer(nil, MaxBytes+1)
	for lines.Scan() {
		n++
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		group, err := groupOf(line)
		if err != nil {
			return nil, &LineError{name, n, err.Error()}
		}
		t.add(group)
	}
	return t, lines.Err()
}

// groupOf returns the terms of a line.
func groupOf(line string) (group []string, err error) {
	for word := range strings.SplitSeq(line, "=") {
		word = strings.TrimSpace(word)
		switch terms := analysis.PhraseTerms(word); {
		case word == "" || len(terms) == 0:
			return nil, errors.New("a word is missing: write word = other word")
		case len(terms) > 1:
			return nil, fmt.Errorf("%q has several words; a synonym has one", word)
		case len(word) > MaxWord:
			return nil, fmt.Errorf("%.20q… is longer than %d bytes", word, MaxWord)
		default:
			group = append(group, terms[0])
		}
	}
	switch {
	case len(group) == 1:
		return nil, fmt.Errorf("%q has no synonym: write word = other word", group[0])
	case len(group) > MaxGroup:
		return nil, fmt.Errorf("the line has %d words; at most %d are allowed", len(group), MaxGroup)
	}
	return group, nil
}

func (t *Table) add(group []string) {
	for _, word := range group {
		for _, other := range group {
			at, known := slices.BinarySearch(t.others[word], other)
			if other != word && !known && len(t.others[word]) < MaxGroup {
				t.others[word] = slices.Insert(t.others[word], at, other)
			}
		}
	}
}

// A File is a synonym file that may be edited while it is in use.
type File = reload.File[*Table]

// Open reads a file. onError receives the errors of later versions, which are not used.
func Open(path string, onError func(error)) (*File, error) { return reload.Open(path, Read, onError) }

// OpenLater is Open for a file that counts only while isNamed reports so, and which may be missing
// until then.
func OpenLater(path string, isNamed func(path string) bool, onError func(error)) (*File, error) {
	return reload.Open(path, func(path string) (*Table, error) {
		if !isNamed(path) {
			return nil, nil
		}
		return Read(path)
	}, onError)
}
