package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
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

// Texts that a node prints.
const (
	ownsText = "This machine owns the collection."
	doneText = "URLs known, "
)

const (
	firstPort    = 8100
	firstBusPort = 4222
	suspended    = 20 * time.Second
	settled      = 2 * time.Minute // for all nodes to have the last generation
)

// A group is the nodes of a run, which share a bucket in a folder.
type group struct {
	*bench
	authority, bucket, root string
	result                  *result

	mu     sync.Mutex
	all    []*member
	owner  int       // index of the last one that said that it owns the collection
	team   *fleet    // its crawlers
	killed time.Time // the last owner that was killed; zero when another one has taken over
	done   chan struct{}
}

// A member is a node.
type member struct {
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// share crawls with nodes that share a bucket, kills some if it is to, and restores the collection
// from the bucket into data.
func (b *bench) share(data, authority string, r *result) (err error) {
	g := &group{bench: b, authority: authority, result: r, owner: -1, done: make(chan struct{})}
	g.team = &fleet{bench: b, authority: authority}
	defer g.endTeam()
	if g.root, err = os.MkdirTemp(b.work, "nodes"); err != nil {
		return err
	}
	defer os.RemoveAll(g.root)
	g.bucket = filepath.Join(g.root, "bucket")
	if err := os.Mkdir(g.bucket, 0o700); err != nil {
		return err
	}
	defer g.end()
	for i := range b.nodes {
		g.all = append(g.all, nil)
		if err := g.start(i); err != nil {
			return err
		}
	}
	asking := g.ask()
	if err := g.crawl(); err != nil {
		return err
	}
	g.endTeam()
	if err := g.agree(); err != nil {
		return err
	}
	asking()
	g.end()
	out, err := b.command(authority, "cluster", "restore", "--cluster", g.bucket, "--data", data).CombinedOutput()
	if err != nil {
		return fmt.Errorf("restore: %w\n%s", err, out)
	}
	return nil
}

func (g *group) folder(i int) string { return filepath.Join(g.root, fmt.Sprint(i)) }

func (g *group) address(i int) string { return fmt.Sprintf("127.0.0.1:%d", firstPort+i) }

// start starts a node, or starts it again.
func (g *group) start(i int) error {
	flags := []string{"--cluster", g.bucket, "--standby", "--serve", "--listen", g.address(i)}
	if g.crawlers > 0 {
		flags = append(flags, "--crawlers", fmt.Sprintf("127.0.0.1:%d", firstBusPort+i), "--least-crawlers", fmt.Sprint(g.crawlers))
	} else {
		flags = append(flags, local...)
	}
	c := g.bench.crawl(g.folder(i), g.authority, flags...)
	says, err := c.StderrPipe()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(g.folder(i)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	m := &member{c, make(chan struct{})}
	g.mu.Lock()
	g.all[i] = m
	g.mu.Unlock()
	go func() {
		defer log.Close()
		for lines := bufio.NewScanner(io.TeeReader(says, log)); lines.Scan(); {
			g.said(i, lines.Text())
		}
		c.Wait()
		g.mu.Lock()
		g.result.owner += rig.CPU(c.ProcessState)
		g.mu.Unlock()
		close(m.ended)
	}()
	return nil
}

// said handles a line that a node prints.
func (g *group) said(i int, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, join, ok := strings.Cut(line, "--join "); ok {
		g.team.line = join
		for len(g.team.all) < g.crawlers {
			if err := g.team.start(); err != nil {
				fmt.Fprintln(os.Stderr, "crawler:", err)
				return
			}
		}
	}
	switch {
	case strings.Contains(line, ownsText):
		g.owner = i
		if !g.killed.IsZero() {
			g.result.takeOver = max(g.result.takeOver, time.Since(g.killed))
			g.killed = time.Time{}
		}
	case strings.Contains(line, doneText) && i == g.owner:
		select {
		case <-g.done:
		default:
			close(g.done)
		}
	}
}

// crawl waits for the end of the crawl, and does harm meanwhile.
func (g *group) crawl() error {
	began := time.Now()
	for {
		var moment <-chan time.Time
		if g.kill != "" && time.Since(began) < g.duration {
			moment = time.After(g.every)
		}
		select {
		case <-g.done:
			return nil
		case <-moment:
			if err := g.harm(); err != nil {
				return err
			}
		case <-g.member(0).ended:
			return g.failure(0)
		}
	}
}

func (g *group) member(i int) *member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all[i]
}

// failure returns an error with what a node said.
func (g *group) failure(i int) error {
	said, _ := os.ReadFile(g.folder(i) + ".log")
	return fmt.Errorf("node %d has ended:\n%s", i, said)
}

// harm does what --kill says once.
func (g *group) harm() error {
	g.mu.Lock()
	owner := g.owner
	g.mu.Unlock()
	if owner < 0 {
		return nil
	}
	g.result.kills++
	victim := owner
	switch g.kill {
	case "bucket":
		away := g.bucket + ".away"
		if err := os.Rename(g.bucket, away); err != nil {
			return err
		}
		time.Sleep(g.every / 2)
		return os.Rename(away, g.bucket)
	case "suspend":
		g.noteKill()
		process := g.member(owner).process.Process
		process.Signal(syscall.SIGSTOP)
		time.Sleep(suspended)
		return process.Signal(syscall.SIGCONT)
	case "searcher":
		victim = (owner + 1 + rand.IntN(g.nodes-1)) % g.nodes
	case "owner":
		g.noteKill()
	}
	if g.kill == "crawler" {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.team.replace()
	}
	m := g.member(victim)
	m.process.Process.Kill()
	<-m.ended
	for began := time.Now(); g.waits(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > settled {
			return errors.New("no other node has taken over")
		}
	}
	return g.start(victim)
}

// waits reports whether an owner was killed that no other node has replaced.
func (g *group) waits() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.killed.IsZero()
}

func (g *group) noteKill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed = time.Now()
}

// questions are what nodes are asked. They have answers on docsweb.
var questions = []string{
	"sqlite", "vacuum", "erlang module", "index", "how to open a file", `"return value"`, "glib list", "license",
}

// answer returns results of a node as URLs with scores.
func (g *group) answer(i int, question string) (string, error) {
	client := http.Client{Timeout: 10 * time.Second}
	r, err := client.Get("http://" + g.address(i) + "/api/v1/search?num=20&explain=1&q=" + url.QueryEscape(question))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %s", r.Status)
	}
	var got struct {
		Results []struct {
			URL   string  `json:"url"`
			Score float64 `json:"score"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, one := range got.Results {
		fmt.Fprintln(&text, one.URL, one.Score)
	}
	return text.String(), nil
}

// ask asks the nodes in turn, and the next one where one does not answer, until stop is called. It
// counts the questions that no node answered, from the first answer on.
func (g *group) ask() (stop func()) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
			answered := slices.ContainsFunc(make([]struct{}, g.nodes), func(struct{}) bool {
				_, err := g.answer(n%g.nodes, questions[n%len(questions)])
				if err != nil {
					n++
				}
				return err == nil
			})
			if answered {
				g.result.answers++
			} else if g.result.answers > 0 {
				g.result.unanswered++
			}
		}
	}()
	return sync.OnceFunc(func() { close(ended); <-stopped })
}

// agree waits until all nodes give the same answers, with the same scores.
func (g *group) agree() error {
	began := time.Now()
	for {
		err := g.compareAnswers()
		if err == nil || time.Since(began) > settled {
			return err
		}
		time.Sleep(time.Second)
	}
}

func (g *group) compareAnswers() error {
	found := 0
	for _, question := range questions {
		want, err := g.answer(0, question)
		if err != nil {
			return err
		}
		found += len(want)
		for i := 1; i < g.nodes; i++ {
			got, err := g.answer(i, question)
			if err != nil {
				return err
			}
			if got != want {
				return fmt.Errorf("node %d answers %q with\n%snode 0 with\n%s", i, question, got, want)
			}
		}
	}
	if found == 0 {
		return errors.New("no question has an answer")
	}
	return nil
}

// endTeam ends all crawlers.
func (g *group) endTeam() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.team.end()
	g.result.crawlers = g.team.cpu
}

// end ends all nodes.
func (g *group) end() {
	for i := range g.all {
		if m := g.member(i); m != nil {
			m.process.Process.Signal(syscall.SIGTERM)
		}
	}
	for i := range g.all {
		if m := g.member(i); m != nil {
			<-m.ended
		}
	}
}
