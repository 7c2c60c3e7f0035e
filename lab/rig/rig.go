// Package rig is what several programs of the lab are set up on: our program built, others started and stopped, queries
// read, and what a run took told.
package rig

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Build builds anatomy in a folder; it is run in that of the module.
func Build(dir string) (program string, err error) {
	program = filepath.Join(dir, "anatomy")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/anatomy").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// Start starts a program and waits until it answers at an address, half a minute at most. Stop interrupts it and waits for
// its end; it may be called twice.
func Start(c *exec.Cmd, address string) (stop func(), err error) {
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	stop = sync.OnceFunc(func() { c.Process.Signal(os.Interrupt); c.Wait() })
	for range 300 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return nil, fmt.Errorf("%s does not answer at %s", c.Path, address)
}

// CPU is the processor time of a program that has ended, in seconds.
func CPU(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// Queries reads a query a line. What follows a tab is passed over, and so are lines that begin with #.
func Queries(file string) (queries []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		query, _, _ := strings.Cut(lines.Text(), "\t")
		if query = strings.TrimSpace(query); query != "" && query[0] != '#' {
			queries = append(queries, query)
		}
	}
	if lines.Err() == nil && len(queries) == 0 {
		return nil, fmt.Errorf("%s has no query", file)
	}
	return queries, lines.Err()
}

// Percentile is what a share of some times, which are in order, are at most; 0 of none.
func Percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
