package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/lab/rig"
	"anatomy/urlserver"
)

// A served is a web that docsweb serves with latency, for crawls by the program. Each host has a pace of its
// own, up to nine times as slow as another, and one connection at a time, as in the paper. To open one takes
// no time here.
type served struct {
	docsweb, folder string
	latency         time.Duration // median of the answers
	delay           time.Duration // between two requests to a site; 0 for none
	connections     int
	anatomy, work   string
}

// A fetch is a page in docsweb's access log.
type fetch struct {
	at  time.Duration // when its answer ended
	url string
}

// runDocsweb crawls docsweb by all policies. The quality of a page is its PageRank in the links that the
// first crawl has found. The scheduler does not know it.
func (o *options) runDocsweb(out io.Writer) (err error) {
	s := o.served
	s.connections = o.plan.connections
	if s.work, err = os.MkdirTemp("", "scheduling"); err != nil {
		return err
	}
	defer os.RemoveAll(s.work)
	if s.anatomy, err = rig.Build(s.work); err != nil {
		return err
	}
	e := &experiment{name: "PageRank, guessed from links, by the program over docsweb", file: "docsweb"}
	var quality map[string]float64
	var cpu []float64
	for _, policy := range policies {
		fetches, took, err := s.crawl(policy)
		if err != nil {
			return fmt.Errorf("%s: %w", policy, err)
		}
		if quality == nil {
			if quality, err = qualities(s.data()); err != nil {
				return err
			}
		}
		e.curves = append(e.curves, curve{name: policy.String(), history: history(fetches, quality)})
		cpu = append(cpu, took)
	}
	fmt.Fprintf(out, "docsweb, %d pages with PageRank; answers after %v at the median, delay %v, %d connections\n",
		len(quality), s.latency, s.delay, s.connections)
	if err := e.report(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for i, c := range e.curves {
		n := len(c.history)
		fmt.Fprintf(out, "%-18s %d pages; quality of the first 10 %%, 30 %%, 50 %% of them %.1f %.1f %.1f; CPU ms a page %.2f\n",
			c.name, n, 100*c.first(n/10), 100*c.first(n*3/10), 100*c.first(n/2), 1000*cpu[i]/float64(n))
	}
	return o.draw(e.file, e.panels())
}

func (s *served) data() string { return filepath.Join(s.work, "data") }

// crawl crawls the web into a new data folder, and returns its pages and the CPU seconds of the crawl.
func (s *served) crawl(policy urlserver.Policy) ([]fetch, float64, error) {
	access, authority := filepath.Join(s.work, "access.log"), filepath.Join(s.work, "ca.pem")
	if err := os.RemoveAll(s.data()); err != nil {
		return nil, 0, err
	}
	stop, err := rig.Start(exec.Command(s.docsweb, "serve", "-root", s.folder, "-log", access, "-ca", authority,
		"-no-sitemap", "-latency", s.latency.String()), "127.0.0.1:80")
	if err != nil {
		return nil, 0, err
	}
	defer stop()
	c := exec.Command(s.anatomy, "crawl", "--data", s.data(), "--quiet", "--scope", "any", "--policy", policy.String(),
		"--delay", s.delay.String(), "--per-site", "1", "--per-address", "-1", "--connections", strconv.Itoa(s.connections),
		"--contact", "lab@example.org", "--allow-private", "--resolver", "127.0.0.1:5353", "http://www.docs.test/")
	c.Env = append(os.Environ(), "SSL_CERT_FILE="+authority)
	if says, err := c.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("crawl: %w\n%s", err, says)
	}
	stop()
	log, err := os.ReadFile(access)
	if err != nil {
		return nil, 0, err
	}
	fetches, err := readAccess(string(log))
	return fetches, rig.CPU(c.ProcessState), err
}

// readAccess returns the pages of an access log in the order in which they came, each once. Its lines have
// start and duration in µs, host, path and status, by tabs.
func readAccess(log string) ([]fetch, error) {
	var all []fetch
	seen := map[string]bool{}
	for line := range strings.Lines(log) {
		c := strings.Split(line, "\t")
		if len(c) < 6 {
			return nil, fmt.Errorf("%q is no line of an access log", line)
		}
		url := "http://" + c[2] + c[3]
		if c[4] != "200" || c[3] == "/robots.txt" || seen[url] {
			continue
		}
		seen[url] = true
		start, err := strconv.Atoi(c[0])
		if err != nil {
			return nil, err
		}
		took, err := strconv.Atoi(c[1])
		if err != nil {
			return nil, err
		}
		all = append(all, fetch{time.Duration(start+took) * time.Microsecond, url})
	}
	slices.SortFunc(all, func(a, b fetch) int { return cmp.Compare(a.at, b.at) })
	return all, nil
}

// qualities returns the PageRank of the pages of a crawl by their URLs.
func qualities(data string) (map[string]float64, error) {
	const all = 1 << 30
	w, ranks, err := withRanks(paper.readWeb(data, all, 0))
	if err != nil {
		return nil, err
	}
	quality := make(map[string]float64, len(ranks))
	for i, p := range w.pages {
		quality[p.url.String()] = ranks[i]
	}
	return quality, nil
}

// history returns when pages came, from the first on. A page without PageRank, such as the duplicate of
// another one, has cost a request and has no quality.
func history(fetches []fetch, quality map[string]float64) []moment {
	var all []moment
	for _, f := range fetches {
		all = append(all, moment{at: f.at - fetches[0].at, quality: quality[f.url]})
	}
	return all
}
