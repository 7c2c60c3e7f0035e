package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"anatomy/lab/rig"
	"anatomy/searcher"
)

// printTable1 prints sizes as Table 1 of BP98: what was fetched, and anatomy's statistics.
func printTable1(anatomy, data, access string) error {
	b, err := os.ReadFile(access)
	if err != nil {
		return err
	}
	size := 0
	for line := range strings.Lines(string(b)) {
		if c := strings.Split(line, "\t"); len(c) >= 6 && c[4] == "200" {
			n, err := strconv.Atoi(c[5])
			if err != nil {
				return fmt.Errorf("%s: %w", access, err)
			}
			size += n
		}
	}
	stats, err := exec.Command(anatomy, "stats", "--data", data).CombinedOutput()
	if err != nil {
		return fmt.Errorf("stats: %w\n%s", err, stats)
	}
	fmt.Printf("sizes (BP98, Table 1)    %.1f MB fetched\n%s", float64(size)/1e6, stats)
	return nil
}

// printTable2 prints search times as Table 2 of BP98: of queries of two words, once when the files of the
// index are not in memory, and once more.
func printTable2(data string, seed uint64) error {
	asked, err := makeQueries(data, rand.New(rand.NewPCG(seed, 2)), 12)
	if err != nil {
		return err
	}
	s, err := searcher.Open(data, searcher.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("search times, ms         initial CPU, total; the same query repeated CPU, total (BP98, Table 2)")
	for i := 1; i < len(asked); i += 3 { // those of two words
		if err := forget(data); err != nil {
			return err
		}
		var took [4]float64
		for run := range 2 {
			began, before := time.Now(), rig.OwnCPU()
			if _, err := s.Search(context.Background(), searcher.Request{Query: asked[i], Limit: 10}); err != nil {
				return fmt.Errorf("query %q: %w", asked[i], err)
			}
			took[2*run], took[2*run+1] = ms(rig.OwnCPU()-before), ms(time.Since(began))
		}
		fmt.Printf("  %-30.30s %6.2f %6.2f %6.2f %6.2f\n", asked[i], took[0], took[1], took[2], took[3])
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// forget asks the system to drop the files of a folder from its memory.
func forget(dir string) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return dropCache(f)
	})
}
