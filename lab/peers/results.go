package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"anatomy/eval"
)

// nameURLs makes of a run that names files one in the form of the others that names URLs.
func (c *comparison) nameURLs(ctx context.Context, run, set, to string) error {
	judged, err := c.readJudged(set)
	if err != nil {
		return err
	}
	in, err := os.Open(run)
	if err != nil {
		return err
	}
	defer in.Close()
	results, err := eval.Read(in, run, judged)
	if err != nil {
		return err
	}
	var files, urls bytes.Buffer
	for i, entries := range results {
		files.WriteString(judged[i].Query)
		for _, e := range entries {
			files.WriteString("\t" + e.URL)
		}
		files.WriteByte('\n')
	}
	name := exec.CommandContext(ctx, c.at("bin", "docsweb"), "urls", "-root", c.pages)
	name.Stdin, name.Stdout, name.Stderr = &files, &urls, os.Stderr
	if err := name.Run(); err != nil {
		return fmt.Errorf("docsweb urls: %w", err)
	}
	return os.WriteFile(to, urls.Bytes(), 0o644)
}

func (c *comparison) readJudged(set string) ([]eval.Judged, error) {
	in, err := os.Open(c.judged(set))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return eval.ReadTSV(in, c.judged(set))
}

// measures are the quality of a run that names URLs, those of one page with spaces between.
func (c *comparison) measures(set, run string) (m eval.Measures, err error) {
	judged, err := c.readJudged(set)
	if err != nil {
		return m, err
	}
	text, err := os.ReadFile(run)
	if err != nil {
		return m, err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != len(judged) {
		return m, fmt.Errorf("%s: %d queries of %d", run, len(lines), len(judged))
	}
	results := make([][]string, len(judged))
	for i, line := range lines {
		fields := strings.Split(line, "\t")
		if fields[0] != judged[i].Query {
			return m, fmt.Errorf("%s, line %d: %q is not query %q", run, i+1, fields[0], judged[i].Query)
		}
		for _, page := range fields[1:] {
			results[i] = append(results[i], rightOf(&judged[i], page))
		}
	}
	return eval.Measure(judged, results), nil
}

// rightOf is the URL of a page that is right, or any of its URLs.
func rightOf(j *eval.Judged, page string) (name string) {
	for _, url := range strings.Fields(page) {
		if name = eval.Page(url); j.Grades[name] > 0 {
			break
		}
	}
	return name
}

// A build is what making an index cost.
type build struct {
	cpu, wall float64 // seconds
	peak      float64 // MB
	index     float64 // MB
	texts     float64 // MB of it that hold what pages say, which ours keeps for snippets
	text      float64 // MB
}

func (c *comparison) build(name string) (b build, err error) {
	text, err := os.ReadFile(c.at("log", name+".time"))
	if err != nil {
		return b, err
	}
	var user, system float64
	if _, err := fmt.Sscan(string(text), &user, &system, &b.wall, &b.peak); err != nil {
		return b, fmt.Errorf("%s.time: %w", name, err)
	}
	b.cpu, b.peak = user+system, b.peak*1024/1e6
	every := func(string) bool { return true }
	if b.text, err = megabytes(c.at("text.tsv"), every); err != nil {
		return b, err
	}
	if b.index, err = megabytes(c.at("idx", name), every); err != nil {
		return b, err
	}
	b.texts, err = megabytes(c.at("idx", name), func(file string) bool { return file == "texts" })
	return b, err
}

// megabytes is the size of a file, or of those in a folder and below it whose names are wanted.
func megabytes(path string, wanted func(file string) bool) (sum float64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !wanted(d.Name()) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += float64(info.Size()) / 1e6
		}
		return err
	})
	return sum, err
}

// latency sums up the times of a library.
func (c *comparison) latency(name string, mode eval.Mode, count string) (l eval.Latency, err error) {
	file := c.perf(name, mode, count)
	text, err := os.ReadFile(file)
	if err != nil {
		return l, err
	}
	var timings []eval.Timing
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return l, fmt.Errorf("%s, line %d: want query, matches and nanoseconds", file, i+1)
		}
		hits, failed := strconv.Atoi(fields[1])
		ns, err := strconv.ParseInt(fields[2], 10, 64)
		if failed != nil || err != nil || ns == math.MaxInt64 {
			return l, fmt.Errorf("%s, line %d: %q is no time, or %q no number", file, i+1, fields[2], fields[1])
		}
		timings = append(timings, eval.Timing{Query: fields[0], Hits: hits, Best: time.Duration(ns)})
	}
	return eval.Summary(timings), nil
}
