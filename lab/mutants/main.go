// Command mutants applies small faults to a copy of the tree, one after the other, and runs the tests
// of the room that should notice each. It exits with status 1 if a fault survives, does not compile,
// or no longer applies because the line it changes is gone.
//
//	go run ./lab/mutants             # all
//	go run ./lab/mutants -run idf    # those whose name contains idf
//	go run ./lab/mutants -list       # print the table
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	run := flag.String("run", "", "apply only the mutants whose name contains `TEXT`")
	list := flag.Bool("list", false, "print the mutants and exit")
	limit := flag.Duration("limit", 10*time.Minute, "time that the tests of one mutant may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	chosen := choose(mutants, *run)
	if *list {
		for _, m := range chosen {
			fmt.Printf("%-24s %s: %s -> %s (%s)\n", m.name, m.file, m.old, m.new, m.tests)
		}
		return
	}
	survived, err := runAll(ctx, ".", chosen, *limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	if survived > 0 {
		fmt.Fprintf(os.Stderr, "error: %d of %d mutants survived\n", survived, len(chosen))
		os.Exit(1)
	}
}

// choose returns the mutants whose name contains a text.
func choose(all []mutant, text string) (chosen []mutant) {
	for _, m := range all {
		if strings.Contains(m.name, text) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// errStale is the error of a mutant whose line is not in its file exactly once.
var errStale = errors.New("the line to change is not there exactly once")

// runAll applies each mutant to a copy of the tree at root and runs its tests, which must pass on the
// copy before. It prints a line for each mutant and returns how many survived.
func runAll(ctx context.Context, root string, mutants []mutant, limit time.Duration) (survived int, err error) {
	if len(mutants) == 0 {
		return 0, errors.New("no mutant has that name")
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := copyTree(root, dir); err != nil {
		return 0, err
	}
	for _, m := range mutants { // before any test runs, so that an outdated table fails at once
		if _, err := m.mutate(dir); err != nil {
			return 0, err
		}
	}
	for _, m := range mutants {
		began := time.Now()
		killed, err := m.try(ctx, dir, limit)
		if err != nil {
			return survived, err
		}
		verdict := "killed"
		if !killed {
			verdict = "SURVIVED"
			survived++
		}
		fmt.Printf("%-24s %-9s %6.1f s  %s\n", m.name, verdict, time.Since(began).Seconds(), m.file)
	}
	return survived, nil
}

// mutate returns the mutant's file in dir with the line changed.
func (m *mutant) mutate(dir string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return nil, fmt.Errorf("mutant %q: %w", m.name, err)
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 || m.old == m.new {
		return nil, fmt.Errorf("mutant %q: %s: %q: %w", m.name, m.file, m.old, errStale)
	}
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), nil
}

// try runs the mutant's tests on the tree in dir as it is, where they must pass, and with the mutant
// applied. It reports whether they failed then, and leaves the tree as it was.
func (m *mutant) try(ctx context.Context, dir string, limit time.Duration) (killed bool, err error) {
	if out, err := m.test(ctx, dir, limit); err != nil {
		return false, fmt.Errorf("mutant %q: the tests fail without it: %w\n%s", m.name, err, out)
	}
	mutated, err := m.mutate(dir)
	if err != nil {
		return false, err
	}
	file := filepath.Join(dir, m.file)
	original, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(file, mutated, 0o644); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.WriteFile(file, original, 0o644)) }()
	out, failed := m.test(ctx, dir, limit)
	if bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")) {
		return false, fmt.Errorf("mutant %q does not compile:\n%s", m.name, out)
	}
	return failed != nil, ctx.Err()
}

// test runs the mutant's tests in dir.
func (m *mutant) test(ctx context.Context, dir string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, "go", append([]string{"test", "-trimpath"}, strings.Fields(m.tests)...)...)
	c.Dir = dir
	return c.CombinedOutput()
}

// copyTree copies the files that git has or would add.
func copyTree(from, to string) error {
	c := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = from
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) { // deleted, not committed yet
			continue
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
