package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"anatomy/lab/rig"
)

// A bench runs our crawlers as processes over the web of a docsweb: an owner, and nodes that fetch
// from loopback addresses of their own.
//
// docsweb draws a pace for each host, or for each host and client, and a spread for each URL, each
// from a third of its median to three times as much; the median is 3T, so that the paces are 1T to
// 9T, as the paper's latencies. Pages are bytes, of which a mean page has 5.5f. Nothing is slower
// than the crawlers' timeout, so the figures are to be compared with those of long timeouts.
type bench struct {
	docsweb, pages string
	anatomy, work  string
	unit           float64 // f, in bytes
	total          int     // pages that one process finds
}

const (
	realPeriod  = 25 * time.Millisecond // T
	meanSize    = (1 + maxSize) / 2.0   // in f
	connections = 16
	ownerAt     = "127.0.0.1:4222"
	webAt       = "127.0.0.1:80"
)

// measureProcesses writes the table of crawls by 3, 5 and 7 nodes.
func measureProcesses(out io.Writer, docsweb, pages string) (err error) {
	b := &bench{docsweb: docsweb, pages: pages}
	if b.work, err = os.MkdirTemp("", "dspider"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if b.anatomy, err = rig.Build(b.work); err != nil {
		return err
	}
	one, err := b.crawl(0)
	if err != nil {
		return err
	}
	b.total = one.files
	b.unit = float64(one.units) / float64(one.files) / meanSize
	fmt.Fprintf(out, "\nprocesses over docsweb, %d connections a node: T is %v, f is %.0f bytes; ",
		connections, realPeriod, b.unit)
	fmt.Fprintf(out, "one process finds %d pages\n     nodes  speed, f/T  srcuse, f/T  communicate, 1/T  ", b.total)
	fmt.Fprintln(out, "duplicate, 1/10,000  fetched by nobody, %  crawlers lost  CPU s")
	for i, name := range networks {
		faults := []string{"-latency", (3 * realPeriod).String(), b.rate("-bandwidth", lanLine)}
		if i == 1 {
			faults = []string{faults[0], faults[1], "-latency-by-client", b.rate("-client-bandwidth", wanLine)}
		}
		for _, nodes := range []int{3, 5, 7} {
			m, err := b.crawl(nodes, faults...)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s  %5d  %10.2f  %11.2f  %16.3f  %19.2f  %20.1f  %13d  %5.1f\n", name, nodes,
				m.speed(), m.srcuse(), m.communicate(), 1e4*m.duplicate(), 100*m.unfetched(), m.lost, m.cpu)
		}
	}
	return nil
}

// rate returns a flag of docsweb for a number of f a period.
func (b *bench) rate(flag string, units float64) string {
	return fmt.Sprintf("%s=%.0f", flag, units*b.unit/realPeriod.Seconds())
}

// A realCrawl has the measures of a crawl by processes. Its units are bytes while the unit is
// unknown.
type realCrawl struct {
	measures
	lost int     // crawlers, as the owner logged them
	cpu  float64 // seconds, of owner and nodes
}

// crawl serves the web with faults, crawls it by an owner with nodes, or by one process if there
// are none, and measures that by the access log and its audit.
func (b *bench) crawl(nodes int, faults ...string) (*realCrawl, error) {
	data, access := filepath.Join(b.work, "data"), filepath.Join(b.work, "access.log")
	authority := filepath.Join(b.work, "ca.pem")
	if err := os.RemoveAll(data); err != nil {
		return nil, err
	}
	serve := []string{"serve", "-root", b.pages, "-log", access, "-ca", authority, "-no-sitemap"}
	stop, err := rig.Start(exec.Command(b.docsweb, append(serve, faults...)...), webAt)
	if err != nil {
		return nil, err
	}
	defer stop()
	r := &realCrawl{measures: measures{setting: setting{nodes: nodes}, total: b.total}}
	if err := r.run(b.anatomy, b.work, authority, data); err != nil {
		return nil, err
	}
	stop()
	audit := exec.Command(b.docsweb, "audit", "-root", b.pages, access)
	if out, err := audit.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("audit: %w\n%s", err, out)
	}
	return r, r.readLog(access, b.unit)
}

// local are the flags by which a process reaches the web on loopback.
var local = []string{"--allow-private", "--resolver", "127.0.0.1:5353"}

// run crawls into a new data folder.
func (r *realCrawl) run(anatomy, work, authority, data string) error {
	stats := filepath.Join(work, "stats.json")
	args := []string{"crawl", "--data", data, "--scope", "any", "--delay", "0",
		"--contact", "lab@example.org", "--stats", stats}
	if r.nodes == 0 {
		args = append(append(args, local...), "--quiet")
	} else {
		args = append(args, "--crawlers", ownerAt, "--least-crawlers", strconv.Itoa(r.nodes),
			"--per-site", strconv.Itoa(connections), "--connections", strconv.Itoa(connections*r.nodes))
	}
	owner := exec.Command(anatomy, append(args, "http://www.docs.test/")...)
	owner.Env = append(os.Environ(), "SSL_CERT_FILE="+authority)
	says, err := owner.StderrPipe()
	if err != nil {
		return err
	}
	if err := owner.Start(); err != nil {
		return err
	}
	text, join := "", ""
	var nodes []*exec.Cmd
	for lines := bufio.NewScanner(says); lines.Scan(); {
		text += lines.Text() + "\n"
		if _, line, ok := strings.Cut(lines.Text(), "--join "); ok && join == "" {
			join = line
			if nodes, err = startNodes(anatomy, authority, join, r.nodes); err != nil {
				owner.Process.Kill()
			}
		}
	}
	if ended := owner.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("crawl: %w\n%s", ended, text)
	}
	r.lost = strings.Count(text, "lost a crawler")
	r.cpu = rig.CPU(owner.ProcessState) + stopNodes(nodes)
	if err != nil {
		return err
	}
	counters, err := os.ReadFile(stats)
	if err != nil {
		return err
	}
	var s struct{ Leases int }
	err = json.Unmarshal(counters, &s)
	r.messages = s.Leases
	return err
}

// startNodes starts crawlers that fetch from loopback addresses of their own.
func startNodes(anatomy, authority, join string, n int) (nodes []*exec.Cmd, err error) {
	for i := range n {
		args := []string{"crawler", "--quiet", "--bind", fmt.Sprintf("127.0.2.%d", i+1),
			"--connections", strconv.Itoa(connections)}
		c := exec.Command(anatomy, append(args, local...)...)
		c.Env = append(os.Environ(), "SSL_CERT_FILE="+authority, "ANATOMY_JOIN="+join)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			return nodes, err
		}
		nodes = append(nodes, c)
	}
	return nodes, nil
}

// stopNodes ends nodes and returns their CPU seconds.
func stopNodes(nodes []*exec.Cmd) (cpu float64) {
	for _, c := range nodes {
		c.Process.Signal(syscall.SIGTERM)
	}
	for _, c := range nodes {
		c.Wait()
		cpu += rig.CPU(c.ProcessState)
	}
	return cpu
}

// readLog counts pages in docsweb's access log: start and duration in µs, host, path, status,
// bytes, …, by tabs. unit is f in bytes; 0 to count bytes.
func (r *realCrawl) readLog(name string, unit float64) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	size, first, last := 0, -1, 0
	for line := range strings.Lines(string(b)) {
		c := strings.Split(line, "\t")
		if len(c) < 6 {
			return fmt.Errorf("%s: %q is no line of an access log", name, line)
		}
		if c[3] == "/robots.txt" || c[4] != "200" {
			continue
		}
		var n [3]int
		for i, column := range []int{0, 1, 5} {
			if n[i], err = strconv.Atoi(c[column]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if first < 0 || n[0] < first {
			first = n[0]
		}
		last = max(last, n[0]+n[1])
		size += n[2]
		seen[c[2]+c[3]] = true
		r.fetches++
	}
	r.files = len(seen)
	r.units = size
	if unit > 0 {
		r.units = int(float64(size) / unit)
	}
	took := time.Duration(last-first) * time.Microsecond
	r.took = time.Duration(float64(took) / float64(realPeriod) * float64(period))
	return nil
}
