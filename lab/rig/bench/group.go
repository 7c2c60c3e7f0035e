package bench

import (
	"bufio"
	"context"
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

	"anatomy/disk/datadir"
	"anatomy/lab/rig"
	"anatomy/vocab"
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
	copied       = 2 * time.Minute // for all nodes to have the last generation
	rankedWithin = 30 * time.Second
)

// A Group is the nodes of a run, which share a bucket in a folder.
type Group struct {
	*Bench
	authority, bucket, root string
	result                  *Result

	Done   chan struct{}   // closed when an owner has crawled all
	orders chan chan error // to kill the owner

	mu     sync.Mutex
	all    []*member
	owns   map[int]int // node by shard, of a divided collection, as nodes say
	owner  int         // index of the last one that said that it owns the collection
	team   *fleet      // its crawlers
	killed time.Time   // the last owner that was killed; zero when others have taken over
	victim int         // it
}

// ownsAny reports whether a node owns a shard, as far as nodes have said. The caller holds mu.
func (g *Group) ownsAny(node int) bool {
	for _, owner := range g.owns {
		if owner == node {
			return true
		}
	}
	return false
}

// A member is a node or a crawler.
type member struct {
	process *exec.Cmd
	ended   chan struct{} // closed when the process has ended
}

// Share crawls with nodes that share a bucket, kills some if it is to, and restores the collection
// from the bucket into data.
func (b *Bench) Share(data, authority string, r *Result) (err error) {
	g := &Group{Bench: b, authority: authority, result: r, owner: -1, owns: map[int]int{}, Done: make(chan struct{}), orders: make(chan chan error)}
	g.team = &fleet{Bench: b, authority: authority}
	defer g.endTeam()
	if g.root, err = os.MkdirTemp(b.Work, "nodes"); err != nil {
		return err
	}
	defer os.RemoveAll(g.root)
	g.bucket = filepath.Join(g.root, "bucket")
	if err := os.Mkdir(g.bucket, 0o700); err != nil {
		return err
	}
	defer g.end()
	for i := range b.Nodes {
		g.all = append(g.all, nil)
		if err := g.start(i); err != nil {
			return err
		}
	}
	asking := g.ask()
	if g.Divide {
		watching, stop := context.WithCancel(context.Background())
		defer stop()
		go g.waitUntilIdle(watching)
	}
	if err := g.crawl(); err != nil {
		return err
	}
	g.endTeam()
	if err := g.agree(); err != nil {
		return err
	}
	for i := range g.Nodes {
		size, err := datadir.FolderSize(g.Folder(i))
		if err != nil {
			return err
		}
		g.result.Space = append(g.result.Space, size)
	}
	if g.After != nil {
		if err := g.After(g); err != nil {
			return err
		}
	}
	asking()
	g.end()
	out, err := command(b.Anatomy, authority, "cluster", "restore", "--cluster", g.bucket, "--data", data).CombinedOutput()
	if err != nil {
		return fmt.Errorf("restore: %w\n%s", err, out)
	}
	return nil
}

// Owner returns the number of the node that owns the collection; -1 for none yet.
func (g *Group) Owner() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.owner
}

// Folder returns the data folder of a node.
func (g *Group) Folder(i int) string { return filepath.Join(g.root, fmt.Sprint(i)) }

// address returns the address of a node's search page.
func (g *Group) address(i int) string { return fmt.Sprintf("127.0.0.1:%d", firstPort+i) }

// start starts a node, or starts it again.
func (g *Group) start(i int) error {
	flags := []string{"--cluster", g.bucket, "--standby", "--serve", "--listen", g.address(i)}
	if g.Crawlers > 0 {
		flags = append(flags, "--crawlers", fmt.Sprintf("127.0.0.1:%d", firstBusPort+i), "--least-crawlers", fmt.Sprint(g.Crawlers))
	} else {
		flags = append(flags, local...)
	}
	if g.Shards > 0 {
		flags = append(flags, "--shards", fmt.Sprint(g.Shards))
	}
	if g.Divide {
		flags = append(flags, "--divide", "--watch")
	}
	if g.Copies > 0 {
		flags = append(flags, "--peers", "127.0.0.1:0", "--copies", fmt.Sprint(g.Copies))
	}
	c := g.Bench.crawl(g.program(i), g.Folder(i), g.authority, flags...)
	says, err := c.StderrPipe()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(g.Folder(i)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
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
		g.result.Owner += rig.CPU(c.ProcessState)
		g.mu.Unlock()
		close(m.ended)
	}()
	return nil
}

// said handles a line that a node prints.
func (g *Group) said(i int, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, join, ok := strings.Cut(line, "--join "); ok {
		g.team.line = join
		for len(g.team.all) < g.Crawlers {
			if err := g.team.start(); err != nil {
				fmt.Fprintln(os.Stderr, "crawler:", err)
				return
			}
		}
	}
	var shard int
	if n, _ := fmt.Sscanf(line, "This machine owns shard %d.", &shard); n == 1 {
		g.owns[shard], g.owner = i, i
		if !g.killed.IsZero() && !g.ownsAny(g.victim) {
			g.result.TakeOver = max(g.result.TakeOver, time.Since(g.killed))
			g.killed = time.Time{}
		}
	}
	switch {
	case strings.Contains(line, ownsText):
		g.owner = i
		if !g.killed.IsZero() {
			g.result.TakeOver = max(g.result.TakeOver, time.Since(g.killed))
			g.killed = time.Time{}
		}
	case strings.Contains(line, doneText) && i == g.owner && !g.Divide:
		select {
		case <-g.Done:
		default:
			close(g.Done)
		}
	}
}

// crawl waits for the end of the crawl and of During, and does harm meanwhile.
func (g *Group) crawl() error {
	var during chan error
	if g.During != nil {
		during = make(chan error, 1)
		go func() { during <- g.During(g) }()
	}
	last := time.Now().Add(g.Duration)
	next := time.Now().Add(g.Every)
	for {
		var moment <-chan time.Time
		if g.Kill != "" && next.Before(last) {
			moment = time.After(time.Until(next))
		}
		ended := g.Done
		if moment != nil && g.Kill != "crawler" {
			ended = nil // nodes go on answering, and are harmed, after the crawl
		}
		select {
		case <-ended:
			if during == nil {
				return nil
			}
			return <-during
		case err := <-during:
			if err != nil {
				return err
			}
			during = nil
		case <-moment:
			if err := g.harm(g.Kill); err != nil {
				return err
			}
			next = time.Now().Add(g.Every)
		case reply := <-g.orders:
			reply <- g.harm("owner")
		case <-time.After(time.Second):
			if err := g.ended(); err != nil {
				return err
			}
		}
	}
}

// KillOwner kills the owner of the collection and starts it again when another node has taken over.
// During may call it. If there are crawlers, it first waits until the owner has found all other nodes,
// because crawlers move only to nodes that they know.
func (g *Group) KillOwner() error {
	for began := time.Now(); !g.knowsAll(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			return errors.New("the owner has not found the other nodes")
		}
	}
	reply := make(chan error, 1)
	select {
	case g.orders <- reply:
		return <-reply
	case <-g.Done:
		return errors.New("the crawl ended before its owner was killed")
	}
}

// knowsAll reports whether the last join line names all nodes. It is true without crawlers.
func (g *Group) knowsAll() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Crawlers == 0 || strings.Count(g.team.line, ",") == len(g.all)-1
}

func (g *Group) member(i int) *member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all[i]
}

// ended fails with what a node has said if one has ended.
func (g *Group) ended() error {
	for i := range g.all {
		select {
		case <-g.member(i).ended:
			said, _ := os.ReadFile(g.Folder(i) + ".log")
			return fmt.Errorf("node %d (%s) has ended:\n%s", i, g.program(i), said)
		default:
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.team.ended()
}

// harm does harm of a kind once, see Bench.Kill.
func (g *Group) harm(kind string) error {
	owner := g.Owner()
	if owner < 0 {
		return nil
	}
	g.result.Kills++
	victim := owner
	switch kind {
	case "bucket":
		away := g.bucket + ".away"
		if err := os.Rename(g.bucket, away); err != nil {
			return err
		}
		time.Sleep(g.Every / 2)
		return os.Rename(away, g.bucket)
	case "suspend":
		g.noteKill(owner)
		process := g.member(owner).process.Process
		process.Signal(syscall.SIGSTOP)
		time.Sleep(suspended)
		return process.Signal(syscall.SIGCONT)
	case "searcher":
		victim = (owner + 1 + rand.IntN(g.Nodes-1)) % g.Nodes
	case "owner":
		g.noteKill(owner)
	}
	if kind == "crawler" {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.team.replace()
	}
	m := g.member(victim)
	m.process.Process.Kill()
	<-m.ended
	for began := time.Now(); g.waits(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > copied {
			return errors.New("no other node has taken over")
		}
	}
	return g.start(victim)
}

// waits reports whether an owner was killed that no other node has replaced.
func (g *Group) waits() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.killed.IsZero()
}

func (g *Group) noteKill(victim int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed, g.victim = time.Now(), victim
}

// idleTimes is the number of consecutive checks in which the nodes of a divided collection must
// report that nothing is left to do.
const idleTimes = 3

// waitUntilIdle closes Done when the owners of all shards have nothing left to do.
func (g *Group) waitUntilIdle(ctx context.Context) {
	var last time.Time // when a node said so last
	cpu := 0.0         // when all said so first
	for times := 0; times < idleTimes; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		oldest, idle := g.status()
		switch {
		case !idle:
			times, last = 0, time.Now()
		case oldest.After(last):
			if times, last = times+1, time.Now(); times == 1 {
				cpu = g.cpu()
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result.UntilIdle = cpu
	close(g.Done)
}

// cpu returns the CPU seconds of all nodes so far.
func (g *Group) cpu() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	sum := g.result.Owner // of nodes that have ended
	for _, m := range g.all {
		if cpu, err := rig.RunningCPU(m.process.Process.Pid); err == nil {
			sum += cpu
		}
	}
	return sum
}

// status reports whether the owners of all shards have nothing left to do, and when the first of them
// said so.
func (g *Group) status() (oldest time.Time, idle bool) {
	out, err := exec.Command(g.Anatomy, "cluster", "status", "--json", "--cluster", g.bucket).Output()
	var st vocab.ClusterStatus
	if err != nil || json.Unmarshal(out, &st) != nil || len(st.Divided) == 0 {
		return oldest, false
	}
	for _, shard := range st.Divided {
		if shard.Work == nil || !shard.Work.Complete {
			return oldest, false
		}
	}
	for _, node := range st.Nodes {
		if !node.Silent && (oldest.IsZero() || node.Heard.Before(oldest)) {
			oldest = node.Heard
		}
	}
	return oldest, true
}

// Questions are what nodes are asked. They have answers on docsweb.
var Questions = []string{
	"sqlite", "vacuum", "erlang module", "index", "how to open a file", `"return value"`, "glib list", "license",
}

// Get returns what a node's server answers.
func (g *Group) Get(i int, path string) ([]byte, error) {
	client := http.Client{Timeout: 10 * time.Second}
	r, err := client.Get("http://" + g.address(i) + path)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", r.Status)
	}
	return io.ReadAll(r.Body)
}

// Answer returns results of a node as URLs with scores.
func (g *Group) Answer(i int, question string, num int) ([]Hit, error) {
	content, err := g.Get(i, fmt.Sprintf("/api/v1/search?num=%d&explain=1&q=%s", num, url.QueryEscape(question)))
	if err != nil {
		return nil, err
	}
	var got struct{ Results []Hit }
	err = json.Unmarshal(content, &got)
	return got.Results, err
}

// A Hit is a result of a node.
type Hit struct {
	URL   string  `json:"url"`
	Score float64 `json:"score"`
}

// ask asks the nodes in turn, and the next one where one does not answer, until stop is called. It
// counts the questions that no node answered, from the first answer on.
func (g *Group) ask() (stop func()) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			case <-time.After(g.between()):
			}
			answered := slices.ContainsFunc(make([]struct{}, g.Nodes), func(struct{}) bool {
				_, err := g.Answer(n%g.Nodes, Questions[n%len(Questions)], 20)
				if err != nil {
					n++
				}
				return err == nil
			})
			if answered {
				g.result.Answers++
			} else if g.result.Answers > 0 {
				g.result.Unanswered++
			}
		}
	}()
	return sync.OnceFunc(func() { close(ended); <-stopped })
}

// between returns the time between two questions: they show whether any goes without an answer while
// harm is done, and cost little else.
func (g *Group) between() time.Duration {
	if g.Kill == "" {
		return 2 * time.Second
	}
	return 100 * time.Millisecond
}

// agree waits until all nodes give the same answers, with the same scores. Ranks of a divided collection
// come some seconds after the crawl has ended.
func (g *Group) agree() error {
	if g.Divide {
		time.Sleep(rankedWithin)
	}
	began := time.Now()
	for {
		err := g.compareAnswers()
		if err == nil || time.Since(began) > copied {
			return err
		}
		if err := g.ended(); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
}

func (g *Group) compareAnswers() error {
	found := 0
	for _, question := range Questions {
		want, err := g.Answer(0, question, 20)
		if err != nil {
			return err
		}
		found += len(want)
		for i := 1; i < g.Nodes; i++ {
			got, err := g.Answer(i, question, 20)
			if err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("node %d answers %q with\n%v\nnode 0 with\n%v", i, question, got, want)
			}
		}
	}
	if found == 0 {
		return errors.New("no question has an answer")
	}
	return nil
}

// endTeam ends all crawlers.
func (g *Group) endTeam() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.team.end()
	g.result.Crawlers = g.team.cpu
}

// end ends all nodes.
func (g *Group) end() {
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
