package quality

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/durable"
	"anatomy/eval"
	"anatomy/weburl"
)

func readJudged(names ...string) (all []eval.Judged, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		judged, err := eval.ReadTSV(f, name)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, judged...)
	}
	return all, nil
}

// readRun reads a run from the file of a flag.
func readRun(name, flag string, judged []eval.Judged) ([][]eval.Entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.WithHint(err, flag+" takes a file written by --output")
	}
	defer f.Close()
	run, err := eval.Read(f, name, judged)
	if err != nil {
		return nil, cli.WithHint(err, flag+" takes a file written by --output")
	}
	return run, nil
}

// ownJudged is the file of judged queries that AddJudged makes in a data folder.
const ownJudged = "judged.tsv"

// AddJudged adds a relevant page of a query to the file of judged queries of a data folder, and returns
// the name of the file.
func AddJudged(dir, query, url string) (file string, err error) {
	query = strings.Join(strings.Fields(query), " ")
	u, err := weburl.Parse(strings.TrimSpace(url))
	switch {
	case query == "" || strings.ContainsFunc(query, unicode.IsControl):
		return "", errors.New("Enter a query.")
	case err != nil:
		return "", fmt.Errorf("%q is not a valid URL.", url)
	}
	name := filepath.Join(dir, ownJudged)
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var lines []string
	if all := strings.TrimRight(string(text), "\r\n"); all != "" {
		lines = strings.Split(all, "\n")
	}
	at := slices.IndexFunc(lines, func(line string) bool {
		before, _, _ := strings.Cut(line, "\t")
		return before == query
	})
	if at < 0 {
		lines = append(lines, query+"\t"+u.String())
	} else if _, known, _ := strings.Cut(lines[at], "\t"); !slices.Contains(strings.Fields(known), u.String()) {
		lines[at] = strings.TrimRight(lines[at], "\r") + "\t" + u.String()
	}
	text = []byte(strings.Join(lines, "\n") + "\n")
	if _, err := eval.ReadTSV(bytes.NewReader(text), name); err != nil {
		return "", err
	}
	return name, durable.WriteFile(durable.OS, name, text)
}
