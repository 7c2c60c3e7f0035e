package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/lab/rig"
)

// A liveRun crawls a web into one folder and into shards.
type liveRun struct {
	program, work string
	crawl         []string // arguments of every crawl
	queries       []string // files
	passes        int
}

// run crawls once for each number of shards. Two live crawls do not know exactly the same URLs, so
// these are compared by their pages; the one folder, divided offline, by documents, ranks and answers.
func (r *liveRun) run(counts []int) error {
	if err := os.RemoveAll(r.work); err != nil {
		return err
	}
	if err := os.MkdirAll(r.work, 0o700); err != nil {
		return err
	}
	one := filepath.Join(r.work, "one")
	cpu, took, err := r.do("crawl", one, r.crawl...)
	if err != nil {
		return err
	}
	want, err := rig.ReadPages(one)
	if err != nil {
		return err
	}
	if len(want) < 2 {
		return fmt.Errorf("the crawl found %d pages", len(want))
	}
	if err := r.print("one folder", one, cpu, cpu, took); err != nil {
		return err
	}
	var splits []string
	for _, n := range counts {
		split, err := r.compare(n, one, want, cpu)
		if err != nil {
			return fmt.Errorf("%d shards: %w", n, err)
		}
		splits = append(splits, split)
	}
	if err := run(one, r.queries, r.passes, false, splits); err != nil {
		return err
	}
	return r.compareRanks(one, splits)
}

// compareRanks compares ranks that are computed over the shards with those of one folder, which a
// split copies.
func (r *liveRun) compareRanks(one string, splits []string) error {
	want, err := readDocuments(one)
	if err != nil {
		return err
	}
	fmt.Println("ranks computed over shards:")
	for _, split := range splits {
		if _, _, err := r.do("pagerank", split); err != nil {
			return err
		}
		if err := compareDocuments(split, want); err != nil {
			return fmt.Errorf("%s: %w", split, err)
		}
	}
	return nil
}

// compare crawls into n shards and compares the pages. It divides the one folder into as many.
func (r *liveRun) compare(
	n int, one string, want rig.Pages, base time.Duration,
) (split string, err error) {
	dir, count := filepath.Join(r.work, fmt.Sprint("live-", n)), fmt.Sprint(n)
	cpu, took, err := r.do("crawl", dir, append([]string{"--shards", count}, r.crawl...)...)
	if err != nil {
		return "", err
	}
	if _, _, err := r.do("check", dir); err != nil {
		return "", err
	}
	found, err := rig.ReadPages(dir)
	if err == nil {
		err = errors.Join(found.Same(want), r.print(count+" shards", dir, cpu, base, took))
	}
	if err != nil {
		return "", err
	}
	split = filepath.Join(r.work, fmt.Sprint("split-", n))
	_, _, err = r.do("split", one, "--shards", count, split)
	return split, err
}

// do runs a command on a folder to its end.
func (r *liveRun) do(command, dir string, args ...string) (cpu, took time.Duration, err error) {
	args = append([]string{command, "--data", dir}, args...)
	c, began := exec.Command(r.program, args...), time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), time.Since(began), nil
}

func (r *liveRun) print(what, dir string, cpu, base, took time.Duration) error {
	pages, err := rig.ReadPages(dir)
	if err != nil {
		return err
	}
	bytes, err := datadir.FolderSize(dir)
	fmt.Printf("%s: %d URLs with pages, %.1f s of CPU (%.2f), %.1f s, %.1f MB\n", what, len(pages),
		cpu.Seconds(), float64(cpu)/float64(base), took.Seconds(), float64(bytes)/1e6)
	return err
}
