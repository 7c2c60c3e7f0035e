// Command peers indexes the same text with anatomy and with other search libraries, and prints side by
// side the cost of the build, the size of the index, the time of queries for the ten best pages, and the
// quality of the answers.
//
//	go run ./lab/peers --programs FOLDER --pages FOLDER --work FOLDER [--engines "lucene10 tantivy"] [--list FILE]
//
// It runs at the root of the tree. The programs of Lucene 10.3 and Tantivy are in lucene10, which needs
// Maven and a JDK of 21 or later at --jdk, and tantivy, which needs cargo. Those of further libraries
// are in FOLDER, whose script `run PAGES WORK [LIST]` also extracts title, words of the path and body of
// each page to WORK/text.tsv, unless that is there. For each library in ENGINES it writes, step by step
// as STEPS says,
//
//	WORK/log/NAME.time                    of the build: seconds of user, system and clock, peak in KB
//	WORK/idx/NAME                         the index
//	WORK/out/perf.NAME.MODE               lines of query, matches, best time in nanoseconds
//	WORK/out/run.SET.NAME.all-then-any    lines of query and the URLs of its results
//
// Times depend on how far matches are counted: as few as the ten best pages need, exactly to 1,000, or
// all. Each way is measured of anatomy, Lucene 10.3 and, but for 1,000, Tantivy, in files
// perf.NAME.MODE.COUNT; the script's libraries count in one way.
//
// Judged queries are in FOLDER/../../data/judged/SET.tsv; WORK/bin/docsweb maps files to URLs. Anatomy
// ranks in both phases, but by text alone: no links, no PageRank. It runs before and after the others:
// the difference of its two columns is the machine's. Quality is that of anatomy and of the script's libraries.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"anatomy/eval"
	"anatomy/lab/rig"
)

// The sets of judged queries, and what they are called.
var sets = []struct{ file, name string }{{"index-test", "index terms"}, {"title-test", "titles"}}

// modes of asking for the words of a query, and the file of queries for each.
var modes = []struct {
	mode    eval.Mode
	queries string
}{{eval.Any, "perf-words.txt"}, {eval.All, "perf-words.txt"}, {eval.Phrase, "perf-phrases.txt"}}

// Ways of counting matches.
const (
	countNone = "none" // as few as the ten best pages need
	countSome = "1000" // exactly up to 1,000
	countAll  = "all"
)

var counts = []string{countNone, countSome, countAll}

// scriptCount is how a library of the script counts.
func scriptCount(name string) string {
	if name == "lucene" {
		return countSome
	}
	return countAll
}

// A comparison is one run of all.
type comparison struct {
	programs, pages, work, list string
	jdk                         string
	passes                      int // that are measured
	engines                     []string
}

func main() {
	var c comparison
	flag.StringVar(&c.programs, "programs", "", "folder of the other libraries' programs")
	flag.StringVar(&c.pages, "pages", "", "folder of pages")
	flag.StringVar(&c.work, "work", "", "folder for text, indexes and results; what is there of the text is used again")
	flag.StringVar(&c.list, "list", "", "file that names the pages to take, a line each (default: what the script takes)")
	flag.StringVar(&c.jdk, "jdk", os.Getenv("JAVA_HOME"), "a JDK of 21 or later, for lucene10")
	flag.IntVar(&c.passes, "passes", 12, "passes over the queries that are measured, but for the script's libraries")
	engines := flag.String("engines", "lucene10 tantivy", "the libraries, separated by spaces")
	flag.Parse()
	if c.programs == "" || c.pages == "" || c.work == "" {
		fmt.Fprintln(os.Stderr, "usage: peers --programs FOLDER --pages FOLDER --work FOLDER")
		os.Exit(2)
	}
	c.engines = strings.Fields(*engines)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := c.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// The names of our two columns.
const before, after = "anatomy", "anatomy-after"

func (c *comparison) run(ctx context.Context) error {
	if err := os.MkdirAll(c.at("bin"), 0o755); err != nil {
		return err
	}
	if _, err := rig.Build(c.at("bin")); err != nil {
		return err
	}
	if _, err := os.Stat(c.at("text.tsv")); err != nil {
		if err := c.peers(ctx, "text"); err != nil {
			return err
		}
	}
	if err := c.ours(ctx, before); err != nil {
		return err
	}
	if err := c.others(ctx); err != nil {
		return err
	}
	if err := c.ours(ctx, after); err != nil {
		return err
	}
	return c.print(os.Stdout, slices.Concat([]string{before}, c.engines, []string{after}))
}

// others runs the other libraries.
func (c *comparison) others(ctx context.Context) error {
	for _, name := range c.engines {
		n := nativeOf(name)
		if n == nil {
			continue
		}
		if err := n.build(ctx, c); err != nil {
			return err
		}
		for _, m := range modes {
			if err := n.ask(ctx, c, m.mode, c.queries(m.queries)); err != nil {
				return err
			}
		}
	}
	if len(c.scripted()) == 0 {
		return nil
	}
	if err := c.peers(ctx, "build perf quality"); err != nil {
		return err
	}
	return c.quality(ctx, before) // the script has made docsweb by now
}

// scripted returns the libraries of the script.
func (c *comparison) scripted() (names []string) {
	for _, name := range c.engines {
		if nativeOf(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// queries is a file of queries.
func (c *comparison) queries(name string) string {
	return filepath.Join(c.programs, "../../data/queries", name)
}

// perf is the file of the times of a library.
func (c *comparison) perf(name string, mode eval.Mode, count string) string {
	file := "perf." + name + "." + string(mode)
	if name == before || name == after || nativeOf(name) != nil {
		file += "." + count
	}
	return c.at("out", file)
}

// at is a place in the folder of work.
func (c *comparison) at(name ...string) string {
	return filepath.Join(append([]string{c.work}, name...)...)
}

// command is one whose output goes to standard error.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd
}

// peers runs steps of the script for the other libraries.
func (c *comparison) peers(ctx context.Context, steps string) error {
	cmd := command(ctx, filepath.Join(c.programs, "run"), c.pages, c.work)
	if c.list != "" {
		cmd.Args = append(cmd.Args, c.list)
	}
	cmd.Env = append(os.Environ(), "ENGINES="+strings.Join(c.scripted(), " "), "STEPS="+steps)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", steps, err)
	}
	return nil
}

// ours builds our index and asks it, and leaves what the script leaves of others.
func (c *comparison) ours(ctx context.Context, name string) error {
	index, program := c.at("idx", name), c.at("bin", "anatomy")
	if err := os.RemoveAll(index); err != nil {
		return err
	}
	for _, folder := range []string{"idx", "log", "out"} {
		if err := os.MkdirAll(c.at(folder), 0o755); err != nil {
			return err
		}
	}
	build := command(ctx, program, "index", "--text", c.at("text.tsv"), "--data", index, "--workers", "1")
	took, err := timed(build)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := os.WriteFile(c.at("log", name+".time"), []byte(took), 0o644); err != nil {
		return err
	}
	for _, m := range modes {
		for _, count := range counts {
			ask := command(ctx, program, "bench", c.queries(m.queries), "--data", index, "--mode", string(m.mode), "--count", count, "--passes", strconv.Itoa(c.passes), "--output", c.perf(name, m.mode, count))
			if err := ask.Run(); err != nil {
				return fmt.Errorf("bench: %w", err)
			}
		}
	}
	return nil
}

// timed runs a command and gives what WORK/log/NAME.time holds of it.
func timed(cmd *exec.Cmd) (string, error) {
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return "", err
	}
	p := cmd.ProcessState
	return fmt.Sprintf("%.2f %.2f %.2f %d\n", p.UserTime().Seconds(), p.SystemTime().Seconds(), time.Since(began).Seconds(), p.SysUsage().(*syscall.Rusage).Maxrss), nil
}

// judged is the file of a set.
func (c *comparison) judged(set string) string {
	return filepath.Join(c.programs, "../../data/judged", set+".tsv")
}

// quality asks the judged queries, and leaves the URLs of our results. Of the index we know the files alone.
func (c *comparison) quality(ctx context.Context, name string) error {
	for _, set := range sets {
		run := c.at("out", "eval."+set.file)
		if err := command(ctx, c.at("bin", "anatomy"), "eval", c.judged(set.file), "--data", c.at("idx", name), "--output", run).Run(); err != nil {
			return fmt.Errorf("eval: %w", err)
		}
		if err := c.nameURLs(ctx, run, set.file, c.at("out", "run."+set.file+"."+name+".all-then-any")); err != nil {
			return err
		}
	}
	return nil
}
