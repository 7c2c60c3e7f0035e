// Package rig holds what several programs of the lab share: it builds anatomy, starts and stops other
// programs, and reads queries and the pages of data folders.
package rig

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"anatomy/eval"
)

// Build builds anatomy into a folder and returns the path of the program. It must run within the
// module.
func Build(dir string) (program string, err error) { return BuildPackage(dir, "anatomy/cmd/anatomy") }

// BuildPackage is Build for the program of a package, by its import path.
func BuildPackage(dir, pkg string) (program string, err error) {
	program = filepath.Join(dir, path.Base(pkg))
	if out, err := exec.Command("go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// BuildAt builds the anatomy of a commit into a folder and returns the path of the program. It must
// run in the folder of the module.
func BuildAt(dir, commit string) (program string, err error) {
	source := filepath.Join(dir, "source")
	archive := filepath.Join(dir, "source.tar")
	program = filepath.Join(dir, "anatomy-"+commit)
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	for _, c := range []*exec.Cmd{
		exec.Command("git", "archive", "-o", archive, commit),
		exec.Command("tar", "-xf", archive, "-C", source),
		exec.Command("go", "build", "-C", source, "-o", program, "./cmd/anatomy"),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", commit, err, out)
		}
	}
	return program, nil
}

// Start starts a program and waits until it accepts connections at an address, for up to 30 s. The
// function that it returns interrupts the program and waits for its end; it may be called twice.
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
	return nil, fmt.Errorf("%s does not accept connections at %s", c.Path, address)
}

// CPU returns the processor time of a program that has ended, in seconds.
func CPU(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// OwnCPU returns the processor time of this process so far.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no process of its own
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// RunningCPU returns the processor time of a process that runs, in seconds.
func RunningCPU(pid int) (float64, error) {
	const ticks = 100 // a second, on Linux
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the state on
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, stat)
	}
	sum := 0.0
	for _, field := range fields[11:13] { // of the process, and of the kernel for it
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, err
		}
		sum += n / ticks
	}
	return sum, nil
}

// Queries reads queries, one per line. It ignores what follows a tab, and lines that begin with #.
func Queries(file string) (queries []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := eval.ReadQueries(f, file)
	for _, line := range lines {
		query, _, _ := strings.Cut(line, "\t")
		if query = strings.TrimSpace(query); query != "" && query[0] != '#' {
			queries = append(queries, query)
		}
	}
	if err == nil && len(queries) == 0 {
		err = fmt.Errorf("%s holds no query", file)
	}
	return queries, err
}
