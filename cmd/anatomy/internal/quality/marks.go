package quality

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/eval"
	"anatomy/weburl"
)

// Bounds of that file.
const (
	maxJudgedBytes = 4 << 20
	maxJudgedQuery = 2048 // bytes of a query
	maxJudgedURL   = 2048 // bytes
)

// A Mark is a person's judgement of a page for a query.
type Mark int8

// The marks.
const (
	Unjudged Mark = iota
	Right
	Wrong
)

// A JudgedLine is a query of the file of judged queries, with its pages.
type JudgedLine struct {
	Query        string
	Right, Wrong []string // URLs
}

// OwnJudged returns the name of the file of judged queries of a data folder.
func OwnJudged(dir string) string { return filepath.Join(dir, datadir.JudgedName) }

// ReadMarks returns the judged queries of a data folder, in the order of their first mark.
func ReadMarks(dir string) (all []JudgedLine, err error) {
	lines, err := readMarkLines(dir)
	for _, line := range lines {
		if query, fields := splitMarks(line); query != "" {
			all = append(all, newJudgedLine(query, fields))
		}
	}
	return all, err
}

// MarkOf returns the mark of a page.
func (j *JudgedLine) MarkOf(url string) Mark {
	page := eval.Page(url)
	is := func(other string) bool { return eval.Page(other) == page }
	switch {
	case slices.ContainsFunc(j.Right, is):
		return Right
	case slices.ContainsFunc(j.Wrong, is):
		return Wrong
	}
	return Unjudged
}

// SameQuery reports whether two queries are judged together: case and spaces do not count.
func SameQuery(a, b string) bool { return strings.EqualFold(withSpaces(a), withSpaces(b)) }

func withSpaces(query string) string { return strings.Join(strings.Fields(query), " ") }

// SetMark marks a page of a query in the file of judged queries of a data folder, or takes its mark back,
// and returns the name of the file. Other lines stay as they are.
func SetMark(dir, query, url string, mark Mark) (file string, err error) {
	query = withSpaces(query)
	u, err := weburl.Parse(strings.TrimSpace(url))
	switch {
	case query == "" || strings.ContainsFunc(query, unicode.IsControl):
		return "", errors.New("Enter a query.")
	case len(query) > maxJudgedQuery:
		return "", fmt.Errorf("The query is longer than %d bytes.", maxJudgedQuery)
	case err != nil || len(u.String()) > maxJudgedURL:
		return "", fmt.Errorf("%.200q is not a valid URL.", url)
	}
	return changeMarks(dir, query, func(fields []string) []string {
		if line := newJudgedLine(query, fields); line.MarkOf(u.String()) == mark {
			return fields
		}
		fields = withoutPage(fields, eval.Page(u.String()))
		switch mark {
		case Right:
			fields = append(fields, u.String())
		case Wrong:
			fields = append(fields, eval.NotRelevant+u.String())
		}
		return fields
	})
}

// DropQuery removes a query from the file of judged queries of a data folder.
func DropQuery(dir, query string) (file string, err error) {
	return changeMarks(dir, withSpaces(query), func([]string) []string { return nil })
}

// changeMarks replaces the pages of a query. Without pages the query is removed.
func changeMarks(dir, query string, change func(fields []string) []string) (file string, err error) {
	lines, err := readMarkLines(dir)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(lines, func(line string) bool {
		known, _ := splitMarks(line)
		return SameQuery(known, query)
	})
	before := []string(nil)
	if at >= 0 {
		query, before = splitMarks(lines[at])
	}
	switch after := change(slices.Clone(before)); {
	case slices.Equal(before, after):
		return OwnJudged(dir), nil
	case len(after) == 0:
		lines = slices.Delete(lines, at, at+1)
	default:
		line := query + "\t" + strings.Join(after, "\t")
		if at < 0 {
			lines = append(lines, line)
		} else {
			lines[at] = line
		}
	}
	text := []byte(strings.Join(append(lines, ""), "\n"))
	if len(text) > maxJudgedBytes {
		return "", fmt.Errorf("%s would be larger than %d MB.", OwnJudged(dir), maxJudgedBytes>>20)
	}
	if _, err := eval.ReadTSV(bytes.NewReader(text), OwnJudged(dir)); err != nil {
		return "", err
	}
	return OwnJudged(dir), durable.WriteFile(durable.OS, OwnJudged(dir), text)
}

// readMarkLines returns the lines of the file of judged queries. A missing file has no lines.
func readMarkLines(dir string) ([]string, error) {
	f, err := os.Open(OwnJudged(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJudgedBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxJudgedBytes:
		return nil, fmt.Errorf("%s is larger than %d MB.", OwnJudged(dir), maxJudgedBytes>>20)
	}
	all := strings.TrimRight(string(text), "\r\n")
	if all == "" {
		return nil, nil
	}
	return strings.Split(all, "\n"), nil
}

// splitMarks returns the query and the fields of pages of a line, "" for an empty line.
func splitMarks(line string) (query string, fields []string) {
	all := strings.Split(strings.TrimRight(line, "\r"), "\t")
	return all[0], all[1:]
}

// newJudgedLine returns the judged query of the fields of a line.
func newJudgedLine(query string, fields []string) JudgedLine {
	j := JudgedLine{Query: query}
	for _, field := range fields {
		if urls, isWrong := strings.CutPrefix(field, eval.NotRelevant); isWrong {
			j.Wrong = append(j.Wrong, strings.Fields(urls)...)
		} else {
			j.Right = append(j.Right, strings.Fields(urls)...)
		}
	}
	return j
}

// withoutPage removes the URLs of a page from the fields, and then the empty fields.
func withoutPage(fields []string, page string) (left []string) {
	for _, field := range fields {
		urls, isWrong := strings.CutPrefix(field, eval.NotRelevant)
		kept := slices.DeleteFunc(strings.Fields(urls), func(url string) bool { return eval.Page(url) == page })
		if len(kept) == 0 {
			continue
		}
		field = strings.Join(kept, " ")
		if isWrong {
			field = eval.NotRelevant + field
		}
		left = append(left, field)
	}
	return left
}
