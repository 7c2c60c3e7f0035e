// Command cluster compares a crawl by several processes with a crawl of one process, over a web that
// docsweb serves: by crawlers that fetch for one owner, or by nodes that share a bucket.
//
//	go run ./lab/cluster --docsweb PROGRAM --pages DIR --crawlers N [--runs 3] [-- more flags of crawl]
//	go run ./lab/cluster --docsweb PROGRAM --pages DIR --crawlers N --kill crawler --every 5s
//	go run ./lab/cluster --docsweb PROGRAM --pages DIR --nodes N [--crawlers N] [--kill owner --every 60s --for 20m]
//
// PROGRAM is a built docsweb, DIR the folder that its fetch filled. Ports 80, 443, 4222 and 5353 on
// loopback must be free. The two crawls take turns. Each has to have the same URLs with the same pages,
// no URL may be requested twice, and robots.txt no more often than by one process; docsweb's audit must
// be clean. It prints CPU seconds of the owner, and of the owner with its crawlers, as ratios to one
// process, and DNS queries a page.
//
// --kill crawler kills a crawler with SIGKILL at that interval and starts another; --kill owner kills
// the owner and runs the same command again. It does so for the time --for. Repeated requests are
// printed then, and no fault.
//
// With --nodes the bucket is a folder. With --crawlers as well, these fetch for whichever node is the
// owner, and --kill crawler kills them. All nodes are asked questions meanwhile; where one does not
// answer, the next one is asked. In the end all nodes have to give the same answers with the same
// scores, and the collection is restored from the bucket and has to have the pages of one process.
// --kill owner kills the node that owns the collection, and starts it again when another one owns it;
// --kill searcher kills one that does not own it, and starts it again; --kill suspend stops the owner
// for 20 s; --kill bucket takes the bucket away for half of the interval. The longest time until another node owned the collection is printed.
//
// It exits with status 1 at a difference.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"anatomy/lab/rig"
)

const address = "127.0.0.1:4222" // of the owner

// A bench is what a run is made of.
type bench struct {
	docsweb, pages, anatomy, work string
	crawlers, nodes               int
	kill                          string        // what is harmed; "" for nothing
	every, duration               time.Duration // of kills
	flags                         []string      // of every crawl
}

func main() {
	var b bench
	flag.StringVar(&b.docsweb, "docsweb", "", "the docsweb program")
	flag.StringVar(&b.pages, "pages", "", "folder of pages that docsweb serves")
	flag.StringVar(&b.anatomy, "anatomy", "", "a built anatomy; default: built from here")
	flag.IntVar(&b.crawlers, "crawlers", 0, "crawler processes; default: 2, or none with --nodes")
	flag.IntVar(&b.nodes, "nodes", 0, "processes that share a bucket")
	flag.StringVar(&b.kill, "kill", "", "harm `WHAT`: crawler or owner; with --nodes also searcher, suspend or bucket")
	flag.DurationVar(&b.every, "every", 5*time.Second, "time between kills")
	flag.DurationVar(&b.duration, "for", time.Minute, "kill for so long; the crawl then ends by itself")
	runs := flag.Int("runs", 1, "pairs of crawls")
	flag.Parse()
	b.flags = flag.Args()
	kinds := []string{"", "crawler", "owner"}
	if b.nodes > 0 {
		kinds = append(kinds, "searcher", "suspend", "bucket")
	} else if b.crawlers == 0 {
		b.crawlers = 2
	}
	if b.docsweb == "" || b.pages == "" || b.crawlers < 0 || b.nodes == 1 || b.nodes > 0 && b.crawlers == 0 && b.kill == "crawler" || *runs < 1 || !slices.Contains(kinds, b.kill) {
		fmt.Fprintln(os.Stderr, "usage: cluster --docsweb PROGRAM --pages DIR --crawlers N|--nodes N [--kill WHAT --every 5s --for 1m]")
		os.Exit(2)
	}
	if err := b.run(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func (b *bench) run(runs int) (err error) {
	if b.work, err = os.MkdirTemp("", "cluster"); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	if b.anatomy == "" {
		if b.anatomy, err = rig.Build(b.work); err != nil {
			return err
		}
	}
	var owner, together []float64
	for range runs {
		one, err := b.measure(b.alone)
		if err != nil {
			return err
		}
		one.print("one process")
		several, who := b.spread, fmt.Sprintf("%d crawlers", b.crawlers)
		if b.nodes > 0 {
			several, who = b.share, fmt.Sprintf("%d nodes, %d crawlers", b.nodes, b.crawlers)
		}
		many, err := b.measure(several)
		if err != nil {
			return err
		}
		many.print(who)
		if err := b.compare(one, many); err != nil {
			return err
		}
		owner = append(owner, many.owner/one.owner)
		together = append(together, (many.owner+many.crawlers)/one.owner)
	}
	fmt.Printf("CPU to one process, median of %d: owner %.2f, all together %.2f\n", runs, median(owner), median(together))
	return nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// A result is what a crawl found and cost.
type result struct {
	pages           rig.Pages
	repeats, robots int // requests
	audit           string
	failed          error   // of the audit
	owner, crawlers float64 // CPU seconds
	stats           struct {
		Pages    int64 `json:"pages"`
		Requests int64 `json:"requests"`
		Queries  int64 `json:"dns_queries"`
	}
	kills int

	takeOver            time.Duration // the longest
	answers, unanswered int           // questions to nodes
}

func (r *result) print(who string) {
	n := float64(max(r.stats.Pages, 1))
	fmt.Printf("%-12s %d URLs with a page, %d requests, %d repeated, %d for robots.txt, %.3f DNS queries a page, CPU %.2f s + %.2f s, %d kills\n",
		who, len(r.pages), r.stats.Requests, r.repeats, r.robots, float64(r.stats.Queries)/n, r.owner, r.crawlers, r.kills)
	if r.answers > 0 {
		fmt.Printf("             %d questions answered, %d not; the longest time without an owner %.1f s\n",
			r.answers, r.unanswered, r.takeOver.Seconds())
	}
	for line := range strings.Lines(r.audit) {
		if strings.HasPrefix(line, "gap") {
			fmt.Print("             ", line)
		}
	}
}

// compare fails if the crawls differ in what they must not.
func (b *bench) compare(one, many *result) error {
	if len(one.pages) == 0 {
		return errors.New("no page was crawled")
	}
	if err := many.pages.Same(one.pages); err != nil {
		return err
	}
	switch {
	case b.kill == "" && many.repeats > 0:
		return fmt.Errorf("%d requests were repeated", many.repeats)
	case b.kill == "" && many.robots > one.robots:
		return fmt.Errorf("%d requests for robots.txt, one process %d", many.robots, one.robots)
	case many.unanswered > 0:
		return fmt.Errorf("no node answered %d questions", many.unanswered)
	case many.failed != nil:
		return fmt.Errorf("audit: %w\n%s", many.failed, many.audit)
	}
	return nil
}

// measure serves the web, crawls it into a new folder and reads what is there.
func (b *bench) measure(crawl func(data, authority string, r *result) error) (*result, error) {
	data, access := filepath.Join(b.work, "data"), filepath.Join(b.work, "access.log")
	authority := filepath.Join(b.work, "ca.pem")
	if err := os.RemoveAll(data); err != nil {
		return nil, err
	}
	stop, err := rig.Start(exec.Command(b.docsweb, "serve", "-root", b.pages, "-log", access, "-ca", authority), "127.0.0.1:80")
	if err != nil {
		return nil, err
	}
	defer stop()
	r := &result{}
	if err := crawl(data, authority, r); err != nil {
		return nil, err
	}
	stop()
	if r.pages, err = rig.ReadPages(data); err != nil {
		return nil, err
	}
	if err := r.readLog(access); err != nil {
		return nil, err
	}
	out, err := exec.Command(b.docsweb, "audit", "-root", b.pages, access).CombinedOutput()
	r.audit, r.failed = string(out), err
	stats, err := os.ReadFile(filepath.Join(b.work, "stats.json")) // of the last process that crawled
	if err != nil {
		return nil, err
	}
	if out, err := exec.Command(b.anatomy, "check", "--data", data).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("check: %w\n%s", err, out)
	}
	return r, json.Unmarshal(stats, &r.stats)
}

// readLog counts requests in docsweb's access log: time, port or number, host, path, …, by tabs.
func (r *result) readLog(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		fields := strings.Split(line, "\t")
		if len(fields) < 4 {
			return fmt.Errorf("%s: %q is no line of an access log", name, line)
		}
		url := fields[2] + fields[3]
		switch {
		case fields[3] == "/robots.txt":
			r.robots++
		case seen[url] && fields[4] == "200":
			r.repeats++
		}
		seen[url] = true
	}
	return nil
}

// crawl returns the command that crawls with more flags.
func (b *bench) crawl(data, authority string, flags ...string) *exec.Cmd {
	args := []string{"crawl", "--data", data, "--scope", "any", "--contact", "lab@example.org", "--stats", filepath.Join(b.work, "stats.json")}
	if !slices.Contains(b.flags, "--delay") {
		args = append(args, "--delay", "0")
	}
	args = append(append(args, b.flags...), flags...)
	return b.command(authority, append(args, "http://www.docs.test/")...)
}

func (b *bench) command(authority string, args ...string) *exec.Cmd {
	c := exec.Command(b.anatomy, args...)
	c.Env = append(os.Environ(), "SSL_CERT_FILE="+authority)
	return c
}

// local are the flags by which a process reaches the web on loopback.
var local = []string{"--allow-private", "--resolver", "127.0.0.1:5353"}

func (b *bench) alone(data, authority string, r *result) error {
	c := b.crawl(data, authority, append(local, "--quiet")...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("crawl: %w", err)
	}
	r.owner = rig.CPU(c.ProcessState)
	return nil
}

// spread crawls with crawlers of other processes, and kills some if it is to.
func (b *bench) spread(data, authority string, r *result) error {
	fleet := &fleet{bench: b, authority: authority, began: time.Now()}
	defer fleet.end()
	for {
		killed, err := b.own(data, authority, fleet, r)
		if err != nil || !killed {
			fleet.end()
			r.crawlers = fleet.cpu
			return err
		}
	}
}

// own runs the owner once. It reports whether it was killed.
func (b *bench) own(data, authority string, team *fleet, r *result) (killed bool, err error) {
	owner := b.crawl(data, authority, "--crawlers", address, "--least-crawlers", fmt.Sprint(b.crawlers))
	says, err := owner.StderrPipe()
	if err != nil {
		return false, err
	}
	if err := owner.Start(); err != nil {
		return false, err
	}
	text := &bytes.Buffer{}
	lines := bufio.NewScanner(io.TeeReader(says, text))
	for team.line == "" && lines.Scan() {
		if _, line, ok := strings.Cut(lines.Text(), "--join "); ok {
			team.line = line
		}
	}
	for len(team.all) < b.crawlers {
		if err := team.start(); err != nil {
			return false, err
		}
	}
	ended := make(chan error, 1)
	go func() {
		for lines.Scan() {
		}
		ended <- owner.Wait()
	}()
	for {
		var moment <-chan time.Time
		if b.kill != "" && time.Since(team.began) < b.duration {
			moment = time.After(b.every)
		}
		select {
		case err = <-ended:
			r.owner += rig.CPU(owner.ProcessState)
			if killed && owner.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
				return true, nil
			}
			if err != nil {
				err = fmt.Errorf("crawl: %w\n%s", err, text)
			}
			return false, err
		case <-moment:
			r.kills++
			if b.kill == "owner" {
				killed = true
				owner.Process.Kill()
			} else if err := team.replace(); err != nil {
				return false, err
			}
		}
	}
}

// A fleet is the crawlers of a run.
type fleet struct {
	*bench
	authority, line string
	all             []*exec.Cmd
	cpu             float64 // of those that have ended
	began           time.Time
	ending          sync.Once
}

func (f *fleet) start() error {
	c := f.command(f.authority, append([]string{"crawler", "--quiet"}, local...)...)
	c.Env = append(c.Env, "ANATOMY_JOIN="+f.line)
	c.Stderr = os.Stderr
	f.all = append(f.all, c)
	return c.Start()
}

// replace kills a crawler and starts another.
func (f *fleet) replace() error {
	i := rand.IntN(len(f.all))
	c := f.all[i]
	f.all = slices.Delete(f.all, i, i+1)
	c.Process.Kill()
	c.Wait()
	f.cpu += rig.CPU(c.ProcessState)
	return f.start()
}

// end ends all crawlers.
func (f *fleet) end() {
	f.ending.Do(func() {
		for _, c := range f.all {
			c.Process.Signal(syscall.SIGTERM)
		}
		for _, c := range f.all {
			c.Wait()
			f.cpu += rig.CPU(c.ProcessState)
		}
	})
}
