// Command frontier fills a URL server with millions of URLs of many hosts, page by page as a crawl does,
// kills itself, and measures in a new process how soon the first lease is granted, how much memory that
// takes, and how fast a part of the frontier is worked off.
//
//	go run ./lab/frontier --urls 5000000 --hosts 100000
//
// Sizes of hosts follow Zipf's law. A page has 60 links: 12 are new, and the others lead to any of the
// last 40,000 URLs, as most links of a site lead to pages that its other pages have just linked to.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"anatomy/lab/rig"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

func main() {
	l := lab{}
	flag.IntVar(&l.urls, "urls", 5_000_000, "URLs in the frontier")
	flag.IntVar(&l.hosts, "hosts", 100_000, "hosts that they are on")
	flag.IntVar(&l.takes, "takes", 200_000, "URLs to lease and complete after the restart")
	flag.StringVar(&l.dir, "dir", "", "folder for the frontier, which must not exist; default: a temporary one")
	phase := flag.String("phase", "", "run only fill or resume, in the folder")
	flag.Parse()
	if err := l.run(*phase); err != nil {
		fmt.Fprintln(os.Stderr, "frontier:", err)
		os.Exit(1)
	}
}

type lab struct {
	urls, hosts, takes int
	dir                string
}

func (l *lab) run(phase string) error {
	switch phase {
	case "fill":
		return l.fill()
	case "resume":
		return l.resume()
	}
	if l.dir == "" {
		dir, err := os.MkdirTemp("", "frontier")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		l.dir = filepath.Join(dir, "data")
	}
	fmt.Printf("%d URLs on %d hosts\n", l.urls, l.hosts)
	return errors.Join(l.again("fill"), l.again("resume"))
}

// again runs one phase in a process of its own, so that its memory is its own.
func (l *lab) again(phase string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-phase", phase, "-dir", l.dir, "-urls", fmt.Sprint(l.urls), "-hosts", fmt.Sprint(l.hosts), "-takes", fmt.Sprint(l.takes))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	err = c.Run()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && phase == "fill" && status.Signal() == syscall.SIGKILL {
		return nil
	}
	return err
}

func (l *lab) open() (*urlserver.Server, error) {
	return urlserver.Open(l.dir, urlserver.Options{Scope: weburl.AnyScope})
}

// fill adds pages until the frontier is full, and ends the process as kill -9 does.
func (l *lab) fill() error {
	s, err := l.open()
	if err != nil {
		return err
	}
	web := newWeb(l.hosts)
	begun, spent := time.Now(), time.Duration(0)
	pages := 0
	for ; int(s.Stats().Known) < l.urls; pages += perLook {
		for range perLook {
			found, err := web.page()
			if err != nil {
				return err
			}
			before := rig.OwnCPU()
			if _, err := s.Add(found); err != nil {
				return err
			}
			spent += rig.OwnCPU() - before
		}
	}
	st := s.Stats()
	fmt.Printf("add      %.0f s, %d pages, %.1f µs of CPU each, %.0f links per CPU second; %.1f bytes a URL on disk, %s\n",
		time.Since(begun).Seconds(), pages, float64(spent.Microseconds())/float64(pages), 60*float64(pages)/spent.Seconds(), float64(st.Disk)/float64(st.Known), memory())
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// perLook is how many pages are added between two looks at the totals, which visit every host.
const perLook = 10_000

// resume opens the frontier and works off a part of it.
func (l *lab) resume() error {
	begun, spent := time.Now(), rig.OwnCPU()
	s, err := l.open()
	if err != nil {
		return err
	}
	opened := time.Since(begun)
	now := time.Now()
	lease, _, ok := s.Grant(now)
	if !ok {
		return errors.New("there is nothing to take")
	}
	fmt.Printf("resume   open %.2f s, with the first lease %.2f s, %.2f s of CPU; %s\n", opened.Seconds(), time.Since(begun).Seconds(), (rig.OwnCPU() - spent).Seconds(), memory())
	before, takes := rig.OwnCPU(), 0
	for s.Stats().Hosts < l.hosts*9/10 && takes < 10_000 { // no lease is given back: the rest of the queues is read
		s.Grant(now)
		takes++
	}
	st := s.Stats()
	fmt.Printf("         %d URLs queued; %d hosts in memory after %d takes more, %.2f s of CPU; %s\n", st.Queued, st.Hosts, takes, (rig.OwnCPU() - before).Seconds(), memory())
	took, finished, leases := time.Duration(0), time.Duration(0), 0
	for n := 0; ok && n < l.takes; leases++ {
		n += len(lease.URLs)
		results := make([]urlserver.Result, len(lease.URLs))
		for i, t := range lease.URLs {
			results[i] = urlserver.Result{Doc: t.Doc, Outcome: vocab.Fetched, Status: 200, Fetched: now, Address: vocab.MakeAddress(1, int64(t.Doc), 0), Content: vocab.ContentOf([]byte(t.URL))}
		}
		before := rig.OwnCPU()
		if err := s.Complete(now, results); err != nil {
			return err
		}
		if err := s.Release(now, vocab.HostReport{Lease: lease.ID, AnswerTime: 100 * time.Millisecond, Requests: len(results)}); err != nil {
			return err
		}
		finished += rig.OwnCPU() - before
		before = rig.OwnCPU()
		var wait time.Duration
		if lease, wait, ok = s.Grant(now); !ok {
			now = now.Add(wait)
			lease, _, ok = s.Grant(now)
		}
		took += rig.OwnCPU() - before
	}
	fmt.Printf("take     %d leases of %.1f URLs, %.0f URLs per CPU second; done %.0f per CPU second; %s\n", leases, float64(l.takes)/float64(leases),
		float64(l.takes)/took.Seconds(), float64(l.takes)/finished.Seconds(), memory())
	return s.Close()
}

// A web makes up pages.
type web struct {
	random *rand.Rand
	zipf   *rand.Zipf
	known  []known // the URLs given out last, a ring
	given  int
	found  []urlserver.Found
	sizes  map[uint64]int
}

type known struct {
	host uint64
	n    int
}

func newWeb(hosts int) *web {
	r := rand.New(rand.NewPCG(1, 2))
	return &web{random: r, zipf: rand.NewZipf(r, 1.1, 20, uint64(hosts-1)), sizes: map[uint64]int{}}
}

// sampled is how many of the URLs given out last are linked to again.
const sampled = 40_000

func (w *web) page() ([]urlserver.Found, error) {
	w.found = w.found[:0]
	for i := range 60 {
		var k known
		if i%5 == 0 || len(w.known) == 0 {
			k.host = w.zipf.Uint64()
			w.sizes[k.host]++
			k.n = w.sizes[k.host]
			w.given++
			if len(w.known) < sampled {
				w.known = append(w.known, k)
			} else {
				w.known[w.given%sampled] = k
			}
		} else {
			k = w.known[w.random.IntN(len(w.known))]
		}
		u, err := weburl.Parse(fmt.Sprintf("https://www.site-%d.example%d.test/section-%d/page-%d.html", k.host, k.host, k.n%17, k.n))
		if err != nil {
			return nil, err
		}
		w.found = append(w.found, urlserver.Found{URL: u, Depth: uint16(1 + k.n%5)})
	}
	return w.found, nil
}

// memory is what the process takes of it, and took at most.
func memory() string {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "memory unknown"
	}
	var parts []string
	for line := range strings.Lines(string(b)) {
		name, size, _ := strings.Cut(line, ":")
		var kb int
		if _, err := fmt.Sscanf(size, "%d kB", &kb); err == nil && (name == "VmRSS" || name == "VmHWM") {
			parts = append(parts, fmt.Sprintf("%s %d MB", map[string]string{"VmRSS": "memory", "VmHWM": "peak"}[name], kb>>10))
		}
	}
	return strings.Join(parts, ", ")
}
