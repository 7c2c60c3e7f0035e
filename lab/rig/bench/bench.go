// Package bench crawls the web that docsweb serves, by one process or by several, harms them, and reads
// what they found. Ports 80, 443, 4222 and 5353 on loopback must be free, and with nodes those after
// 4222 and 8100.
package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"anatomy/lab/rig"
)

// A Bench is what a run is made of.
type Bench struct {
	Docsweb, Pages, Anatomy, Work string
	Crawlers, Nodes               int
	Shards                        int           // of the nodes' collection; 0 for a data folder
	Divide                        bool          // each node owns some of the shards
	Copies                        int           // nodes that have a shard whole, with Divide; 0 for all
	Kill                          string        // what is harmed: see Kinds; "" for nothing
	Every, Duration               time.Duration // of kills
	Flags                         []string      // of every crawl
	UpgradeFrom                   string        // commit; see program

	older string // the program of UpgradeFrom

	During func(*Group) error // called once while nodes crawl; may be nil
	After  func(*Group) error // called when all nodes have the same state; may be nil
}

// Kinds returns what can be harmed.
func (b *Bench) Kinds() []string {
	if b.Nodes > 0 {
		return []string{"owner", "searcher", "suspend", "bucket", "crawler"}
	}
	return []string{"crawler", "owner", "bus"}
}

// A Result is what a crawl found and cost.
type Result struct {
	Pages           rig.Pages
	Graph           *rig.Graph // read if nodes divide shards
	Requests        int        // that docsweb answered
	Repeated        []string   // of these, lines of its log
	Robots          int        // of these
	Lookups         int        // DNS queries that docsweb answered
	Audit           string     // docsweb's
	Failed          error      // of the audit
	Owner, Crawlers float64    // CPU seconds
	Space           []int64    // bytes of the data folder by node
	UntilIdle       float64    // of Owner, until the nodes of a divided collection had nothing left to do
	Kills           int

	TakeOver            time.Duration // the longest
	Answers, Unanswered int           // questions to nodes
}

// Prepare makes the folder Work, and builds Anatomy if it is not there. The caller calls end, which
// removes the folder.
func (b *Bench) Prepare() (end func(), err error) {
	if b.Work, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	end = func() { os.RemoveAll(b.Work) }
	if b.Anatomy == "" {
		if b.Anatomy, err = rig.Build(b.Work); err != nil {
			end()
			return nil, err
		}
	}
	if b.UpgradeFrom != "" {
		if b.older, err = rig.BuildAt(b.Work, b.UpgradeFrom); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// program returns the program of the nth process of a kind. If there is an older program, it is that
// of every other one, from the first.
func (b *Bench) program(n int) string {
	if b.older != "" && n%2 == 0 {
		return b.older
	}
	return b.Anatomy
}

// Complete fails unless a crawl has the pages of another one, all questions were answered, and the
// audit is clean.
func (r *Result) Complete(one *Result) error {
	if len(one.Pages) == 0 {
		return errors.New("no page was crawled")
	}
	if err := r.Pages.Same(one.Pages); err != nil {
		return err
	}
	if r.Unanswered > 0 {
		return fmt.Errorf("no node answered %d questions", r.Unanswered)
	}
	if r.Failed != nil {
		return fmt.Errorf("audit: %w\n%s", r.Failed, r.Audit)
	}
	return nil
}

// Measure serves the web, crawls it into a new folder and reads what is there.
func (b *Bench) Measure(crawl func(data, authority string, r *Result) error) (*Result, error) {
	data, access := filepath.Join(b.Work, "data"), filepath.Join(b.Work, "access.log")
	authority := filepath.Join(b.Work, "ca.pem")
	if err := os.RemoveAll(data); err != nil {
		return nil, err
	}
	web := exec.Command(b.Docsweb, "serve", "-root", b.Pages, "-log", access, "-ca", authority)
	said := &bytes.Buffer{}
	web.Stdout = said
	stop, err := rig.Start(web, "127.0.0.1:80")
	if err != nil {
		return nil, err
	}
	defer stop()
	r := &Result{}
	if err := crawl(data, authority, r); err != nil {
		return nil, err
	}
	stop()
	if r.Lookups, err = lookups(said.String()); err != nil {
		return nil, err
	}
	if r.Pages, err = rig.ReadPages(data); err != nil {
		return nil, err
	}
	if b.Divide {
		if r.Graph, err = rig.ReadGraph(data); err != nil {
			return nil, err
		}
	}
	if err := r.readLog(access); err != nil {
		return nil, err
	}
	out, err := exec.Command(b.Docsweb, "audit", "-root", b.Pages, access).CombinedOutput()
	r.Audit, r.Failed = string(out), err
	if out, err := exec.Command(b.Anatomy, "check", "--data", data).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("check: %w\n%s", err, out)
	}
	return r, nil
}

// lookups returns the number of DNS queries that docsweb says at its end.
func lookups(said string) (n int, err error) {
	for line := range strings.Lines(said) {
		if number, ok := strings.CutSuffix(strings.TrimSpace(line), " DNS queries answered"); ok {
			return strconv.Atoi(number)
		}
	}
	return 0, fmt.Errorf("docsweb does not say how many DNS queries it answered: %q", said)
}

// readLog counts requests in docsweb's access log: time, port or number, host, path, …, by tabs.
func (r *Result) readLog(name string) error {
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
		r.Requests++
		url := fields[2] + fields[3]
		switch {
		case fields[3] == "/robots.txt":
			r.Robots++
		case seen[url] && fields[4] == "200":
			r.Repeated = append(r.Repeated, strings.TrimSpace(line))
		}
		seen[url] = true
	}
	return nil
}

// crawl returns the command with which a program crawls with more flags.
func (b *Bench) crawl(program, data, authority string, flags ...string) *exec.Cmd {
	args := []string{"crawl", "--data", data, "--scope", "any", "--contact", "lab@example.org"}
	if !slices.Contains(b.Flags, "--delay") {
		args = append(args, "--delay", "0")
	}
	args = append(append(args, b.Flags...), flags...)
	return command(program, authority, append(args, "http://www.docs.test/")...)
}

func command(program, authority string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "SSL_CERT_FILE="+authority)
	return c
}

// local are the flags by which a process reaches the web on loopback.
var local = []string{"--allow-private", "--resolver", "127.0.0.1:5353"}

func (b *Bench) Alone(data, authority string, r *Result) error {
	c := b.crawl(b.Anatomy, data, authority, append(local, "--quiet")...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("crawl: %w", err)
	}
	r.Owner = rig.CPU(c.ProcessState)
	return nil
}
