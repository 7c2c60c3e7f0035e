// Command breed measures how a crawl ends at a site that breeds URLs, and that it does not end
// early at a large one.
//
//	go run ./lab/breed                     # pages of new text, each with 200 new URLs, without end
//	go run ./lab/breed --same              # the same text on each page
//	go run ./lab/breed --pages 300000      # a finite site of so many pages
//
// It builds anatomy, serves the site on loopback, crawls it with the default budgets at --delay 0,
// and prints the requests, the time and the largest memory. Further arguments go to the crawl.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"anatomy/lab/rig"
)

func main() {
	var s site
	flag.BoolVar(&s.same, "same", false, "show the same text on each page")
	flag.IntVar(&s.links, "links", 200, "new URLs on each page")
	flag.IntVar(&s.pages, "pages", 0, "pages of a finite site; 0 for one without end")
	dir := flag.String("dir", "", "data folder to keep; default: a temporary one")
	flag.Parse()
	if err := run(&s, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "breed:", err)
		os.Exit(1)
	}
}

// A site serves pages at /0, /1 and so on. Those of a site without end link to URLs that no page
// has named yet; those of a finite one are a tree, with links to other pages.
type site struct {
	same         bool
	links, pages int
	named        atomic.Int64 // URLs, without end
	requests     atomic.Int64
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	s.requests.Add(1)
	w.Header().Set("Content-Type", "text/html")
	out := bufio.NewWriter(w)
	defer out.Flush()
	n, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
	random := rand.New(rand.NewPCG(uint64(n), 1))
	if s.same {
		random = rand.New(rand.NewPCG(1, 1))
	}
	fmt.Fprint(out, "<!doctype html><title>Page</title>")
	for range 10 {
		fmt.Fprint(out, "<p>")
		for range 15 {
			fmt.Fprintf(out, "w%x ", random.Uint32N(1<<16))
		}
	}
	for i := range s.links {
		fmt.Fprintf(out, "<a href=\"/%d\">more</a> ", s.next(n, i))
	}
}

// next returns the number of the page that the i-th link of page n leads to.
func (s *site) next(n, i int) int {
	if s.pages == 0 {
		return int(s.named.Add(1))
	}
	if i < 20 {
		return min(20*n+i+1, s.pages-1)
	}
	return (n + i*i) % s.pages
}

func run(s *site, dir string, args []string) error {
	tmp, err := os.MkdirTemp("", "breed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	program, err := rig.Build(tmp)
	if err != nil {
		return err
	}
	if dir == "" {
		dir = filepath.Join(tmp, "data")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s}
	defer server.Close()
	go server.Serve(listener) // ends with Close; an error before shows in the crawl
	args = append([]string{
		"crawl", "--data", dir, "--allow-private", "--delay", "0", "--quiet",
		"http://" + listener.Addr().String() + "/0",
	}, args...)
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	began := time.Now()
	if err := c.Run(); err != nil {
		return err
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Printf("%d requests for pages, %.0f s, %.0f s of CPU, largest memory %d MB\n",
		s.requests.Load(), time.Since(began).Seconds(), rig.CPU(c.ProcessState), usage.Maxrss>>10)
	return nil
}
