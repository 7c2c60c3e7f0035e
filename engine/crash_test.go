package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/searcher"
	"anatomy/storeserver"
	"anatomy/upkeep"
	"anatomy/vocab"
)

// childEnv makes the test binary a crawl to be killed, or to be in the way of another.
const childEnv = "ANATOMY_TEST_CRAWL"

// A childOrder says what a child process is to crawl.
type childOrder struct {
	Dir, Seed, Resolver string
	Port                int
	BatchBytes          int64
	Hold                bool // open the folder, and close it when standard input ends
	Compact             bool // compact the repository instead
	Recrawl             bool // visit all pages again
	Rank                bool // compute ranks instead, again and again
}

func TestMain(m *testing.M) {
	if order := os.Getenv(childEnv); order != "" {
		if err := runChild(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild crawls, and prints a line when it begins, one for every manifest, and one at the end.
func runChild(order string) error {
	var o childOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	if o.Compact {
		fmt.Println("open")
		_, err := upkeep.Compact(context.Background(), o.Dir, engine.CompactOptions{})
		return err
	}
	if o.Rank {
		return rankForEver(o.Dir)
	}
	options := testweb.CrawlOptions(o.Dir, o.Port, o.Resolver, []string{o.Seed})
	if o.Recrawl {
		options = testweb.Recrawling(options)
	}
	options.BatchBytes = o.BatchBytes
	options.Published = func(m datadir.Manifest) { fmt.Println("published", m.Generation) }
	c, err := engine.Open(context.Background(), options)
	if err != nil {
		return err
	}
	if o.BatchBytes > 0 { // everything in small portions, so that a kill has much to hit
		c.SetStore(c.Repository(), storeserver.Options{Age: 30 * time.Millisecond})
	}
	fmt.Println("open")
	if o.Hold {
		io.Copy(io.Discard, os.Stdin)
		return c.Close()
	}
	if err := c.Run(context.Background()); err != nil {
		return err
	}
	fmt.Println("end")
	return c.Close()
}

// A child is a crawl in a process of its own.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string // what it says; closed at its end
	err   chan error
}

func startChild(t testing.TB, o childOrder) *child {
	t.Helper()
	order, err := json.Marshal(o)
	testweb.Must(t, err)
	exe, err := os.Executable()
	testweb.Must(t, err)
	c := &child{t: t, cmd: exec.Command(exe), lines: make(chan string, 1000), err: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(order))
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	testweb.Must(t, err)
	c.stdin, err = c.cmd.StdinPipe()
	testweb.Must(t, err)
	testweb.Must(t, c.cmd.Start())
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			c.lines <- scanner.Text()
		}
		close(c.lines)
		c.err <- c.cmd.Wait()
	}()
	return c
}

// wait reads lines until the child ends; an error but that of being killed fails the test.
func (c *child) wait() (all []string, killed bool) {
	for line := range c.lines {
		all = append(all, line)
	}
	err := <-c.err
	killed = err != nil && c.cmd.ProcessState.ExitCode() == -1
	if err != nil && !killed {
		c.t.Fatalf("child: %v", err)
	}
	return all, killed
}

// await reads lines until one is wanted; false where the child ended before.
func (c *child) await(wanted func(line string) bool) bool {
	for line := range c.lines {
		if wanted(line) {
			return true
		}
	}
	return false
}

func (c *child) kill() { c.cmd.Process.Kill() }

// acknowledged are the requests, host and path, that the document index says are done with.
func acknowledged(t testing.TB, dir string) map[string]docindex.Record {
	t.Helper()
	done := map[string]docindex.Record{}
	for _, r := range testweb.Records(t, dir) {
		if r.Fetch != nil && (r.State == docindex.Finished || r.State == docindex.GivenUp) {
			done[r.URL[len("http://"):]] = r
		}
	}
	return done
}

func crashes(t testing.TB) int {
	if s := os.Getenv("ANATOMY_CRASHES"); s != "" {
		n, err := strconv.Atoi(s)
		testweb.Must(t, err)
		return n
	}
	if testing.Short() {
		return 2
	}
	return 5
}

func seedOf(t testing.TB) uint64 {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("ANATOMY_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		testweb.Must(t, err)
	}
	t.Logf("ANATOMY_SEED=%d", seed)
	return seed
}

// A crashRun kills one crawl again and again.
type crashRun struct {
	t     testing.TB
	web   *testweb.Generated
	r     *rand.Rand
	order childOrder

	known    map[string]docindex.Record // acknowledged at the last kill
	inFlight int                        // pages asked for again so far: they were in flight
	asked    map[string]int
}

// step lets the crawl go on and kills it at a random moment; false where it ended before that.
func (c *crashRun) step(within int) bool {
	t := c.t
	child := startChild(t, c.order)
	requests, limit := make(chan struct{}, 10000), 1+c.r.IntN(within)
	c.web.Listen(func(string) { requests <- struct{}{} })
	defer c.web.Listen(nil)
	if !child.await(func(line string) bool { return line == "open" }) {
		t.Fatal("the child ended before it began")
	}
	how := fmt.Sprintf("after %d requests", limit)
	publications := make(chan struct{}, 1000)
	finished := make(chan bool)
	go func() {
		_, killed := c.collect(child, publications)
		finished <- killed
	}()
	switch c.r.IntN(4) {
	case 0: // while a batch is written or a merge is under way
		n, delay := 1+c.r.IntN(3), time.Duration(c.r.IntN(60))*time.Millisecond
		how = fmt.Sprintf("%v after %d publications", delay, n)
		for range n {
			select {
			case <-publications:
			case killed := <-finished:
				return killed
			}
		}
		<-time.After(delay) // any moment will do
	default:
		for range limit {
			select {
			case <-requests:
			case killed := <-finished:
				return killed
			}
		}
	}
	child.kill()
	killed := <-finished
	if killed {
		t.Logf("killed %s", how)
		c.inspect(how)
	}
	return killed
}

func (c *crashRun) collect(child *child, publications chan<- struct{}) (lines []string, killed bool) {
	for line := range child.lines {
		if line != "end" {
			publications <- struct{}{}
		}
		lines = append(lines, line)
	}
	_, killed = child.wait()
	return lines, killed
}

// inspect looks at the folder between two runs.
func (c *crashRun) inspect(how string) {
	t := c.t
	t.Helper()
	c.web.AwaitRequests(t)
	for key, n := range c.web.Requests() {
		if r, ok := c.known[key]; ok {
			t.Errorf("before the kill %s: %s was asked for again, %d times, though acknowledged: %v", how, key, n, &r)
		}
		if c.asked[key] > 0 {
			c.inFlight++
		}
		if n > 1 {
			t.Errorf("before the kill %s: %s was asked for %d times in one run", how, key, n)
		}
		c.asked[key] += n
	}
	if c.r.IntN(2) == 0 {
		how += c.tear()
	}
	testweb.Checked(t, c.order.Dir)
	known := acknowledged(t, c.order.Dir)
	for key, was := range c.known {
		now, ok := known[key]
		if !ok || now.Doc != was.Doc || now.Fetch.Address != was.Fetch.Address && !exchanged(&was, &now) {
			t.Errorf("the kill %s lost %s: it was %v, is %v", how, key, &was, &now)
		}
	}
	c.known = known
	s, err := searcher.Open(c.order.Dir, searcher.Options{CacheBytes: 1 << 20})
	testweb.Must(t, err)
	testweb.Must(t, s.Close())
}

// exchanged reports whether the election of canonical documents stored a page again, see elect.
func exchanged(was, now *docindex.Record) bool {
	return was.IsDuplicate() != now.IsDuplicate() && was.Fetch.Content == now.Fetch.Content
}

// tear cuts off some bytes of the repository behind what was acknowledged, as a power cut may.
func (c *crashRun) tear() (how string) {
	last, all := vocab.Address(0), testweb.Records(c.t, c.order.Dir)
	for _, r := range all {
		if r.Fetch != nil {
			last = max(last, r.Fetch.Address)
		}
	}
	reader, err := repository.OpenReader(datadir.Repository(c.order.Dir))
	testweb.Must(c.t, err)
	defer reader.Close()
	from := vocab.Address(0) // the first block that was not acknowledged
	testweb.Must(c.t, reader.Scan(0, func(place vocab.Address, _ *repository.Record) error {
		if from == 0 && place > last && (place.File() != last.File() || place.Offset() != last.Offset()) {
			from = place
		}
		return nil
	}))
	if from == 0 {
		return ""
	}
	path := filepath.Join(datadir.Repository(c.order.Dir), fmt.Sprintf("%06d.repo", from.File()))
	info, err := os.Stat(path)
	testweb.Must(c.t, err)
	size := from.Offset() + c.r.Int64N(info.Size()-from.Offset()+1)
	testweb.Must(c.t, os.Truncate(path, size))
	how = fmt.Sprintf(", %d bytes torn off", info.Size()-size)
	c.t.Log(how)
	return how
}

// TestCrashes: a crawl that is killed at random moments and begun again comes to the same pages, the
// same index and the same ranks as one that was left alone, and asks for no acknowledged page again.
func TestCrashes(t *testing.T) {
	seed := seedOf(t)
	n := 300
	if testing.Short() {
		n = 100
	}
	web := testweb.Generate(t, seed, n, 12*time.Millisecond)
	order := childOrder{Seed: web.Seed, Resolver: web.Resolver, Port: web.Port, BatchBytes: 100 << 10}

	calm := order
	calm.Dir = filepath.Join(t.TempDir(), "calm")
	if _, killed := startChild(t, calm).wait(); killed {
		t.Fatal("nobody killed it")
	}
	if bad := web.Forbidden(); len(bad) > 0 {
		t.Errorf("asked for against robots.txt or before it: %v", bad)
	}
	total := 0
	for key, n := range web.Requests() {
		if total += n; n > 1 {
			t.Errorf("%s was asked for %d times", key, n)
		}
	}
	testweb.Checked(t, calm.Dir)
	wantFates, wantIndex, wantRanks := testweb.Fates(t, calm.Dir), testweb.Searchable(t, calm.Dir), testweb.Ranks(t, calm.Dir)
	if len(wantIndex) < n/2 {
		t.Fatalf("only %d documents can be found", len(wantIndex))
	}

	r := rand.New(rand.NewPCG(seed, 3))
	kills, again := 0, 0
	for round := 0; kills < crashes(t); round++ {
		run := &crashRun{t: t, web: web, r: r, order: order, asked: map[string]int{}}
		run.order.Dir = filepath.Join(t.TempDir(), "data")
		for kills < crashes(t) && run.step(max(10, 2*total/min(crashes(t), 10))) {
			kills++
		}
		if _, killed := startChild(t, run.order).wait(); killed {
			t.Fatal("nobody killed it")
		}
		run.inspect("at the end")
		again += run.inFlight
		testweb.SameMaps(t, "pages", testweb.Fates(t, run.order.Dir), wantFates)
		testweb.SameLists(t, "index", testweb.Searchable(t, run.order.Dir), wantIndex)
		testweb.SameMaps(t, "ranks", testweb.Ranks(t, run.order.Dir), wantRanks)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills; %d requests without, %d pages in flight at a kill were asked for again", kills, total, again)
}

// TestRecrawlCrashes: recrawls of a web that changes, killed at random moments, leave a folder that is whole, in which
// everything that was acknowledged can be read; the last ones, left alone, come to what a crawl of the web as it is
// now comes to.
func TestRecrawlCrashes(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 7))
	w := newMovingWeb(t, seed, 40)
	o := w.folder("data")
	testweb.Crawl(t, o)
	order := childOrder{Dir: o.Dir, Seed: o.Seeds[0], Resolver: w.Resolver, Port: w.Port, BatchBytes: 20 << 10, Recrawl: true}
	killed := 0
	for tries := 0; killed < crashes(t) && tries < 10*crashes(t); tries++ {
		w.move()
		child := startChild(t, order)
		requests, limit := make(chan struct{}, 10000), 1+r.IntN(50)
		w.Listen(func(string) { requests <- struct{}{} })
		go func() {
			for range limit {
				<-requests
			}
			child.kill()
		}()
		if _, was := child.wait(); was {
			killed++
		}
		for range limit { // of a child that ended before
			select {
			case requests <- struct{}{}:
			default:
			}
		}
		w.Listen(nil)
		testweb.Checked(t, o.Dir)
		all := testweb.Records(t, o.Dir)
		pages := testweb.Bodies(t, o.Dir, all)
		for doc, r := range all {
			if _, there := pages[doc]; r.IsPage() && !there {
				t.Errorf("%s is acknowledged and cannot be read: %v", r.URL, &r)
			}
		}
	}
	if killed == 0 {
		t.Fatal("no kill hit it")
	}
	for range 3 { // what is gone is confirmed
		testweb.Crawl(t, testweb.Recrawling(o))
	}
	w.same(o.Dir)
	t.Logf("%d kills", killed)
}

// TestCrashWhileSettling: kills after the last page was fetched, while segments are merged into one
// and ranks computed, cost no request and lose nothing.
func TestCrashWhileSettling(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 4))
	web := testweb.Generate(t, seed, 120, 0)
	unmerged := filepath.Join(t.TempDir(), "unmerged")
	options := web.Options(unmerged, web.Seed)
	options.NoIndex, options.BatchBytes = true, 150<<10
	testweb.Crawl(t, options)
	c, err := engine.Open(t.Context(), options)
	testweb.Must(t, err)
	testweb.Must(t, c.RecoverPages(t.Context()))
	testweb.Must(t, c.Close())
	m, err := datadir.ReadManifest(unmerged)
	testweb.Must(t, err)
	if len(m.Segments) < 3 || m.Merged {
		t.Fatalf("nothing to merge: %+v", m)
	}
	merge := func(from string) (childOrder, time.Duration) {
		order := childOrder{Seed: web.Seed, Resolver: web.Resolver, Port: web.Port, Dir: filepath.Join(t.TempDir(), "data")}
		testweb.Must(t, control.Remove(from)) // a socket cannot be copied
		testweb.Must(t, os.CopyFS(order.Dir, os.DirFS(from)))
		began := time.Now()
		if _, killed := startChild(t, order).wait(); killed {
			t.Fatal("nobody killed it")
		}
		return order, time.Since(began)
	}
	web.Requests()
	order, took := merge(unmerged)
	want := testweb.Searchable(t, order.Dir)
	unsettledDocs := len(testweb.Searchable(t, unmerged))
	killed := 0
	for tries := 0; killed < crashes(t) && tries < 100; tries++ {
		order.Dir = filepath.Join(t.TempDir(), "killed")
		testweb.Must(t, os.CopyFS(order.Dir, os.DirFS(unmerged)))
		child := startChild(t, order)
		<-time.After(time.Duration(r.Int64N(int64(took)))) // any moment will do
		child.kill()
		if _, was := child.wait(); !was {
			took = took * 3 / 4 // it was quicker this time
			continue
		}
		killed++
		testweb.Checked(t, order.Dir)
		if n := len(testweb.Searchable(t, order.Dir)); n < unsettledDocs {
			t.Errorf("%d documents can be found after a kill, %d could before", n, unsettledDocs)
		}
		resumed, _ := merge(order.Dir)
		testweb.Checked(t, resumed.Dir)
		testweb.SameLists(t, "index", testweb.Searchable(t, resumed.Dir), want)
		if m, err := datadir.ReadManifest(resumed.Dir); err != nil || len(m.Segments) != 1 || !m.Merged {
			t.Errorf("not merged: %+v, %v", m, err)
		}
	}
	if asked := web.Requests(); len(asked) > 0 {
		t.Errorf("asked for again: %v", asked)
	}
	if killed == 0 {
		t.Error("no kill hit it")
	}
	t.Logf("%d segments and %d link runs; %d kills", len(m.Segments), len(m.Links), killed)
}

// TestTornRepository: bytes of a block that was never acknowledged are cut off, and nothing is lost.
func TestTornRepository(t *testing.T) {
	web := testweb.Generate(t, 5, 60, 0)
	dir := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(dir, web.Seed))
	want, wantIndex := testweb.Fates(t, dir), testweb.Searchable(t, dir)
	files, err := filepath.Glob(filepath.Join(datadir.Repository(dir), "*.repo"))
	testweb.Must(t, err)
	last := files[len(files)-1]
	whole, err := os.ReadFile(last)
	testweb.Must(t, err)
	header := whole[16 : 16+28] // of the first block: a block that was begun
	testweb.Must(t, os.WriteFile(last, slices.Concat(whole, header, whole[44:60]), 0o644))
	testweb.Checked(t, dir)
	web.Requests()
	testweb.Crawl(t, web.Options(dir, web.Seed))
	if asked := web.Requests(); len(asked) > 0 {
		t.Errorf("asked for again: %v", asked)
	}
	testweb.SameMaps(t, "pages", testweb.Fates(t, dir), want)
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), wantIndex)
	testweb.Checked(t, dir)
}

// TestLostTail: where the disk lost acknowledged bytes of the repository, as no crash can but a bad
// disk may, Check names the pages.
func TestLostTail(t *testing.T) {
	web := testweb.Generate(t, 5, 60, 0)
	dir := filepath.Join(t.TempDir(), "data")
	testweb.Crawl(t, web.Options(dir, web.Seed))
	files, err := filepath.Glob(filepath.Join(datadir.Repository(dir), "*.repo"))
	testweb.Must(t, err)
	last := files[len(files)-1]
	info, err := os.Stat(last)
	testweb.Must(t, err)
	testweb.Must(t, os.Truncate(last, info.Size()-40))
	var problems []string
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(err error) { problems = append(problems, err.Error()) }}))
	if len(problems) < 2 || !strings.Contains(problems[0], filepath.Base(last)) || !strings.Contains(problems[1], "http://") {
		t.Errorf("Check finds %q", problems)
	}
}

// TestCheckBeforeManifest: what a crash leaves before the first manifest is no damage; a manifest that
// is gone is.
func TestCheckBeforeManifest(t *testing.T) {
	web := testweb.Generate(t, 5, 20, 0)
	dir := filepath.Join(t.TempDir(), "data")
	o := web.Options(dir, web.Seed)
	o.NoIndex = true
	testweb.Crawl(t, o)
	for _, left := range []string{"000001", "000002.tmp"} {
		testweb.Must(t, os.Mkdir(datadir.Segment(dir, left), 0o755))
		testweb.Checked(t, dir)
	}
	testweb.Crawl(t, web.Options(dir, web.Seed))
	testweb.Checked(t, dir)
	want := testweb.Searchable(t, dir)
	testweb.Must(t, os.Remove(filepath.Join(dir, "MANIFEST")))
	var problems []string
	testweb.Must(t, upkeep.Check(t.Context(), dir, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(err error) { problems = append(problems, err.Error()) }}))
	if len(problems) != 1 || !strings.Contains(problems[0], "the MANIFEST is missing") {
		t.Errorf("without its manifest: %q", problems)
	}
	if _, err := engine.Open(t.Context(), web.Options(dir, web.Seed)); !errors.As(err, new(*datadir.MismatchError)) {
		t.Errorf("a crawl without the manifest: %v", err)
	}
	_, err := upkeep.Repair(t.Context(), dir, upkeep.RepairOptions{}, upkeep.CheckReport{Checked: func(string, string) {}, Problem: func(error) {}})
	testweb.Must(t, err)
	testweb.Crawl(t, web.Options(dir, web.Seed))
	testweb.Checked(t, dir)
	testweb.SameLists(t, "index", testweb.Searchable(t, dir), want)
}
