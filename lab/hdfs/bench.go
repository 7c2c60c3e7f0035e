package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/replica"
	"anatomy/disk/snapshot"
	"anatomy/lab/rig"
	"anatomy/searcher"
	"anatomy/upkeep"
)

// within bounds every wait for another process.
const within = time.Minute

// A bench has a site, a bucket in a folder, and the data folders of several machines, which are
// processes here.
type bench struct {
	ctx           context.Context
	program, work string
	site          *site
	server        *http.Server
	address       string // of the site
	bucket        bucket.Bucket
	nodes         []*member // all that were started

	copied *replica.Follower // of the folder "copy"
	had    map[string]bool   // the objects that it needed first
	first  string            // the generation of the first crawl
	said   string            // answers of the last state that steps agreed on

	a, b *member // owner and standby, for heartbeats and the steps after them

	divided *divided // nil until balancing
}

// firstPages is how many pages the first crawl fetches.
const firstPages = 40

// begin crawls some pages into the folder "owner" and the bucket.
func begin(ctx context.Context, program, work string) (*bench, error) {
	b := &bench{ctx: ctx, program: program, work: work, site: newSite()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.address = "http://" + listener.Addr().String() + "/0"
	b.server = &http.Server{Handler: b.site}
	go b.server.Serve(listener) // ends with Close; an error before shows in the crawl
	err = os.Mkdir(b.path("bucket"), 0o700)
	if err == nil {
		b.bucket, err = bucket.Open(b.path("bucket"))
	}
	if err == nil {
		b.site.allow(sitePages)
		_, err = b.anatomy(b.crawl("owner", "--cluster", b.path("bucket"), "--max-pages", fmt.Sprint(firstPages))...)
	}
	if err == nil {
		b.site.allow(0)
		b.said, err = b.answers("owner")
	}
	if err == nil {
		b.first, _, err = b.newest()
	}
	if err != nil {
		b.end()
		return nil, err
	}
	fmt.Printf("The folder %s is the bucket. A crawl of %d pages is its first collection.\n", b.path("bucket"), firstPages)
	return b, nil
}

// end ends all processes.
func (b *bench) end() {
	b.site.allow(sitePages)
	b.server.Close()
	if b.divided != nil {
		b.divided.allow(sitePages)
		b.divided.server.Close()
	}
	for _, m := range b.nodes {
		m.kill()
	}
	if b.copied != nil {
		b.copied.Close()
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.work, name) }

// crawl returns the arguments of a crawl of the site.
func (b *bench) crawl(folder string, more ...string) []string {
	return append([]string{
		"crawl", "--data", b.path(folder), "--allow-private", "--delay", "0", "--max-pages", "0", b.address,
	}, more...)
}

// anatomy runs the program to its end and returns what it printed.
func (b *bench) anatomy(args ...string) (string, error) {
	out, err := exec.CommandContext(b.ctx, b.program, args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("anatomy %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// cluster runs a subcommand of cluster.
func (b *bench) cluster(args ...string) (string, error) {
	return b.anatomy(slices.Concat([]string{"cluster"}, args, []string{"--cluster", b.path("bucket")})...)
}

// queries find pages of the sites.
var queries = []string{"common", "rare9", "word42 word43", `"block 12"`, "page -word5"}

// answers returns the answers of a data folder to some queries, with scores.
func (b *bench) answers(folder string) (string, error) {
	s, err := searcher.Open(b.path(folder), searcher.Options{})
	if err != nil {
		return "", err
	}
	defer s.Close()
	var text strings.Builder
	for _, query := range queries {
		r, err := s.Search(b.ctx, searcher.Request{Query: query, Limit: searcher.MaxLimit, Ungrouped: true, Within: within})
		if err != nil {
			return "", err
		}
		if len(r.Results) == 0 {
			return "", fmt.Errorf("%s finds nothing for %q", folder, query)
		}
		for _, one := range r.Results {
			fmt.Fprintln(&text, one.URL, one.Score)
		}
	}
	return text.String(), nil
}

// compare fails unless a folder gives certain answers.
func (b *bench) compare(folder, want string) error {
	got, err := b.answers(folder)
	if err == nil && got != want {
		err = fmt.Errorf("%s answers\n%s\nand not\n%s", folder, got, want)
	}
	return err
}

// newest returns the newest generation of the bucket.
func (b *bench) newest() (name string, g *replica.Generation, err error) {
	n, g, err := replica.Latest(b.ctx, b.bucket)
	if err == nil && g == nil {
		err = errors.New("the bucket has no generation")
	}
	return n.String(), g, err
}

// follow makes a folder a copy of the newest generation.
func (b *bench) follow(folder string, from bucket.Bucket) (*replica.Follower, error) {
	f, err := replica.NewFollower(b.ctx, replica.FollowerOptions{Bucket: from, Dir: b.path(folder)})
	if err != nil {
		return nil, err
	}
	if err := f.Follow(b.ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// publisher returns a publisher that goes on for the last owner of a folder.
func (b *bench) publisher(folder string) (*replica.Publisher, error) {
	id, err := replica.Identify(b.ctx, b.bucket)
	if err != nil {
		return nil, err
	}
	last, err := replica.Newest(b.ctx, b.bucket)
	if err != nil {
		return nil, err
	}
	dir := b.path(folder)
	return replica.NewPublisher(b.ctx, replica.PublisherOptions{
		Bucket: b.bucket, Cluster: id.ID, Dir: dir, Epoch: last.Epoch, Owner: last.Owner,
		Snapshot: func(ctx context.Context, use func(*snapshot.Snapshot) error) error {
			return upkeep.Snapshot(ctx, dir, snapshot.Publish, use)
		},
		Fence: func(context.Context) error { return nil },
	})
}

// needs returns the names of the objects of a generation.
func needs(g *replica.Generation) map[string]bool {
	names := map[string]bool{}
	for _, f := range g.Files {
		for _, p := range f.Parts {
			sum := p.Sum.String()
			names["objects/"+sum[:2]+"/"+sum] = true
		}
	}
	return names
}

// objects returns the objects of the bucket by name.
func (b *bench) objects(prefix string) (map[string]bucket.Object, error) {
	all := map[string]bucket.Object{}
	for o, err := range b.bucket.List(b.ctx, prefix, "") {
		if err != nil {
			return nil, err
		}
		all[o.Name] = o
	}
	return all, nil
}

// change replaces the content of an object, which is a file of the bucket, by what change returns,
// and returns a function that restores it.
func (b *bench) change(name string, change func([]byte) []byte) (restore func() error, err error) {
	path := filepath.Join(b.path("bucket"), filepath.FromSlash(name))
	before, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	restore = func() error { return os.WriteFile(path, before, 0o600) }
	if after := change(slices.Clone(before)); after != nil {
		return restore, os.WriteFile(path, after, 0o600)
	}
	return restore, os.Remove(path)
}

// flip changes one bit in the middle of a content.
func flip(content []byte) []byte {
	content[len(content)/2] ^= 4
	return content
}

// verify fails unless each object has the SHA-256 that it is named by.
func (b *bench) verify(objects map[string]bucket.Object) error {
	for name := range objects {
		content, err := os.ReadFile(filepath.Join(b.path("bucket"), filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if filepath.Base(name) != fmt.Sprintf("%x", sha256.Sum256(content)) {
			return fmt.Errorf("%s has another SHA-256", name)
		}
	}
	return nil
}

// age makes everything in the bucket older.
func (b *bench) age(by time.Duration) error {
	return filepath.WalkDir(b.path("bucket"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		then := info.ModTime().Add(-by)
		return os.Chtimes(path, then, then)
	})
}

// until waits until a condition holds.
func (b *bench) until(what string, holds func() (bool, error)) error {
	for began := time.Now(); ; {
		ok, err := holds()
		if ok || err != nil {
			return err
		}
		if time.Since(began) > within {
			return fmt.Errorf("%s: not within %v", what, within)
		}
		select {
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// pages returns how many pages a folder has that no crawl writes to.
func (b *bench) pages(folder string) (int, error) {
	all, err := rig.ReadPages(b.path(folder))
	return len(all), err
}

// What nodes print.
const (
	ownsText   = "This machine owns the collection."
	standsText = "This machine keeps a copy and stands by."
	lostText   = "another machine has taken the collection over"
)

// A member is a process that crawls, as a node of the cluster or alone.
type member struct {
	folder  string
	process *exec.Cmd
	ended   chan struct{} // closed when it has ended

	mu   sync.Mutex
	said []string // lines that it printed
}

// start starts a node on a folder.
func (b *bench) start(folder string) (*member, error) {
	return b.startCrawl(folder, "--cluster", b.path("bucket"), "--standby")
}

func (b *bench) startCrawl(folder string, more ...string) (*member, error) {
	return b.startProcess(folder, b.crawl(folder, more...))
}

func (b *bench) startProcess(folder string, args []string) (*member, error) {
	c := exec.Command(b.program, args...)
	says, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	m := &member{folder: folder, process: c, ended: make(chan struct{})}
	b.nodes = append(b.nodes, m)
	go func() {
		defer close(m.ended)
		for lines := bufio.NewScanner(says); lines.Scan(); {
			m.mu.Lock()
			m.said = append(m.said, lines.Text())
			m.mu.Unlock()
		}
		c.Wait()
	}()
	return m, nil
}

// says returns how many lines with a text a member printed.
func (m *member) says(text string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.said {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// searchPage returns the address of a member's search page; "" until it has said that.
func (m *member) searchPage() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.said {
		if _, address, ok := strings.Cut(line, "Search at "); ok {
			address, _, _ = strings.Cut(address, " ")
			return address
		}
	}
	return ""
}

// hear waits until a member has printed a text n times.
func (b *bench) hear(m *member, text string, n int) error {
	return b.until(fmt.Sprintf("%s prints %q", m.folder, text), func() (bool, error) {
		select {
		case <-m.ended:
			return m.says(text) >= n, m.failure()
		default:
			return m.says(text) >= n, nil
		}
	})
}

// failure returns an error with what a member that has ended printed.
func (m *member) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Errorf("the process of %s has ended:\n%s", m.folder, strings.Join(m.said, "\n"))
}

// kill kills a member at once.
func (m *member) kill() {
	m.process.Process.Kill()
	<-m.ended
}

// stop ends a member as the operator does.
func (m *member) stop() {
	m.process.Process.Signal(syscall.SIGTERM)
	<-m.ended
}
