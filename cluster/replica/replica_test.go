package replica_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/snapshot"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/upkeep"
	"anatomy/urlserver"
)

var must = testweb.Must

// publisher returns a publisher of a folder into a bucket.
func publisher(t *testing.T, b *buckettest.Memory, dir string) *replica.Publisher {
	t.Helper()
	id, err := replica.Initialize(t.Context(), b)
	must(t, err)
	p, err := replica.NewPublisher(t.Context(), replica.PublisherOptions{
		Bucket: b, Cluster: id.ID, Dir: dir, Epoch: 1, Owner: "0123456789abcdef", Every: 20 * time.Millisecond,
		Snapshot: func(ctx context.Context, use func(*snapshot.Snapshot) error) error {
			return upkeep.Snapshot(ctx, dir, snapshot.Publish, use)
		},
		Changes: func(ctx context.Context) string { return upkeep.Changes(ctx, dir) },
		Fence:   func(context.Context) error { return nil },
	})
	must(t, err)
	return p
}

// follower returns a follower in a new folder until the test ends.
func follower(t *testing.T, b *buckettest.Memory) (*replica.Follower, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: dir, Every: time.Millisecond})
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f, dir
}

// contents returns the files of a data folder by path, without those that belong to the machine. Of
// the document index it has the tables only, because a snapshot writes the rest again.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, path)
		must(t, err)
		top, _, _ := strings.Cut(below, string(filepath.Separator))
		switch {
		case slices.Contains([]string{"LOCK", "LOCK.pid", "MANIFEST.lock", "cluster", "control", "snapshot", "barrels"}, top),
			strings.HasPrefix(top, "audit."), top == "docindex" && filepath.Ext(below) != ".sst":
			return nil
		}
		b, err := os.ReadFile(path)
		files[below] = string(b)
		return err
	}))
	return files
}

func same(t *testing.T, got, want string) {
	t.Helper()
	a, b := contents(t, got), contents(t, want)
	for path := range b {
		if a[path] != b[path] {
			t.Errorf("%s: the copy has %d bytes, the folder %d", path, len(a[path]), len(b[path]))
		}
	}
	for path := range a {
		if _, ok := b[path]; !ok {
			t.Errorf("%s: the copy has it, the folder has not", path)
		}
	}
	testweb.Checked(t, got)
}

// followCrawl runs and closes a crawl. Meanwhile its folder is published, and followed by f into the
// folder copied, which has to be whole after each generation. There have to be two at least.
func followCrawl(
	t *testing.T, crawl interface {
		Run(context.Context) error
		Close() error
	}, p *replica.Publisher, f *replica.Follower, copied string,
) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		publishing, stop := context.WithCancel(context.Background())
		published := make(chan error, 1)
		go func() { published <- p.Run(publishing) }()
		err := errors.Join(crawl.Run(t.Context()), crawl.Close())
		stop()
		done <- errors.Join(err, <-published)
	}()
	generations, last := 0, ""
	for crawling := true; crawling; {
		crawling = len(done) == 0
		if err := f.Follow(t.Context()); err != nil && !errors.Is(err, replica.ErrNoCluster) {
			t.Fatal(err)
		}
		now := f.Status().Generation
		if now == last {
			time.Sleep(time.Millisecond)
			continue
		}
		generations, last = generations+1, now
		testweb.Checked(t, copied)
	}
	must(t, <-done)
	if generations < 2 {
		t.Errorf("the follower saw %d generations of the crawl", generations)
	}
	must(t, f.Follow(t.Context()))
}

// TestFollow publishes a folder while a crawl writes it, and after it was crawled again, compacted
// and rebuilt. A follower has the same files each time, and a whole folder all the time.
func TestFollow(t *testing.T) {
	web := testweb.Generate(t, 5, 150, time.Millisecond)
	dir, b := filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	options := web.Options(dir, web.Seed)
	crawl, err := engine.Open(t.Context(), options)
	must(t, err)
	p := publisher(t, b, dir)
	f, copied := follower(t, b)
	followCrawl(t, crawl, p, f, copied)
	same(t, copied, dir)
	search := testweb.OpenSearcher(t, copied)
	for _, change := range []func(){
		func() { testweb.Crawl(t, testweb.Recrawling(options)) },
		func() { _, err := upkeep.Compact(t.Context(), dir, engine.CompactOptions{}); must(t, err) },
		func() { _, err := upkeep.Rebuild(t.Context(), dir, upkeep.RebuildOptions{}); must(t, err) },
	} {
		change()
		must(t, p.Publish(t.Context()))
		must(t, f.Follow(t.Context()))
		same(t, copied, dir)
		for _, query := range []string{"unique7", "private", testweb.WordsOf(600)[1]} {
			_, err := search.Refresh()
			must(t, err)
			got, want := testweb.Results(t, search, query), testweb.Results(t, testweb.OpenSearcher(t, dir), query)
			testweb.SameLists(t, query, testweb.URLs(got), testweb.URLs(want))
			for i := range got {
				if got[i].Score != want[i].Score {
					t.Errorf("%s: %s scores %v in the copy, %v in the folder", query, got[i].URL, got[i].Score, want[i].Score)
				}
			}
		}
	}
	calls, bytesPut := b.Calls("put"), p.Status().Bytes
	must(t, p.Publish(t.Context()))
	if n := b.Calls("put") - calls; n > 0 || p.Status().Bytes != bytesPut {
		t.Errorf("a folder that did not change was put by %d calls", n)
	}
	again := publisher(t, b, dir) // as after a restart
	must(t, again.Publish(t.Context()))
	if n := again.Status().Bytes; n > bytesPut/10 {
		t.Errorf("after a restart %d bytes were put again, of %d", n, bytesPut)
	}
}

// TestIdleCrawl checks that an idle crawl publishes nothing new, and that changes through its
// control socket are published.
func TestIdleCrawl(t *testing.T) {
	web := testweb.Generate(t, 5, 20, 0)
	dir, b := filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	options := web.Options(dir, web.Seed)
	options.URLs.Recrawl = urlserver.Recrawl{Mode: urlserver.Watch}
	crawl, err := engine.Open(t.Context(), options)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(crawl.Run(ctx), crawl.Close()) }()
	for upkeep.Changes(t.Context(), dir) == "" || !crawl.Builder().Manifest().Merged {
		select {
		case err := <-ended:
			t.Fatalf("the crawl has ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	p := publisher(t, b, dir)
	publish := func(times int) (more int) {
		before := len(b.Names("generations/"))
		for range times {
			must(t, p.Publish(t.Context()))
		}
		return len(b.Names("generations/")) - before
	}
	for tries := 0; publish(5) > 0; tries++ { // ranks and tables follow the last merge
		if tries == 20 {
			t.Fatal("an idle crawl is published again and again")
		}
		time.Sleep(100 * time.Millisecond)
	}
	_, err = crawl.AddSeeds([]string{"http://another.test/"})
	must(t, err)
	if publish(1) == 0 {
		t.Error("a seed that was added is not published")
	}
	stop()
	must(t, <-ended)
}

// published crawls two generations of a web into a folder, and returns a bucket that has them, and a
// follower that has the first.
func published(t *testing.T) (b *buckettest.Memory, dir string, f *replica.Follower, copied string) {
	t.Helper()
	web := testweb.Generate(t, 6, 60, 0)
	dir, b = filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	options := web.Options(dir, web.Seed)
	options.URLs.MaxPages = 30
	testweb.Crawl(t, options)
	p := publisher(t, b, dir)
	must(t, p.Publish(t.Context()))
	f, copied = follower(t, b)
	must(t, f.Follow(t.Context()))
	options.URLs.MaxPages = 0
	testweb.Crawl(t, options)
	must(t, p.Publish(t.Context()))
	return b, dir, f, copied
}

// TestFirstFailureIsLogged has a follower wait for the first generation, and then lose the bucket. Only the
// loss is logged, once.
func TestFirstFailureIsLogged(t *testing.T) {
	b := &buckettest.Memory{}
	_, err := replica.Initialize(t.Context(), b)
	must(t, err)
	var log bytes.Buffer
	f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{
		Bucket: b, Dir: filepath.Join(t.TempDir(), "copy"), Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	must(t, err)
	for range 2 {
		if err := f.Follow(t.Context()); !errors.Is(err, replica.ErrNoCluster) {
			t.Errorf("%v, want %v", err, replica.ErrNoCluster)
		}
	}
	if log.Len() > 0 {
		t.Errorf("while it waits it logs %s", &log)
	}
	b.Set(func(context.Context, string, string) error { return buckettest.ErrAway })
	for range 2 {
		if err := f.Follow(t.Context()); !errors.Is(err, buckettest.ErrAway) {
			t.Errorf("%v, want %v", err, buckettest.ErrAway)
		}
	}
	if n := strings.Count(log.String(), "cannot update the copy"); n != 1 {
		t.Errorf("%d failures are logged:\n%s", n, &log)
	}
	must(t, f.Close())
}

// TestInterruptedFollower loses the bucket at each call of a copy in turn. The folder is whole, and
// the next copy completes it, in this process or another.
func TestInterruptedFollower(t *testing.T) {
	b, dir, f, copied := published(t)
	must(t, f.Close())
	for n, stopped := 0, true; stopped; n += 3 {
		again := filepath.Join(t.TempDir(), "again")
		must(t, os.CopyFS(again, os.DirFS(copied)))
		must(t, filepath.WalkDir(again, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			below, _ := filepath.Rel(again, path)
			info, err := os.Stat(filepath.Join(copied, below))
			must(t, err)
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		}))
		var calls atomic.Int32
		b.Set(func(context.Context, string, string) error {
			if int(calls.Add(1)) > n {
				return buckettest.ErrAway
			}
			return nil
		})
		f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: again})
		if err == nil {
			err = f.Follow(t.Context())
		}
		if stopped = err != nil; stopped && !errors.Is(err, buckettest.ErrAway) {
			t.Fatal(err)
		}
		testweb.Checked(t, again)
		b.Set(nil)
		if f == nil {
			continue
		}
		must(t, f.Close())
		f, err = replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: again})
		must(t, err)
		must(t, f.Follow(t.Context()))
		must(t, f.Close())
		same(t, again, dir)
	}
}

// TestFirstCopy stops a first copy before its MANIFEST is current. Then it does not count as a data folder. The
// next attempt completes it.
func TestFirstCopy(t *testing.T) {
	b, dir, f, _ := published(t)
	must(t, f.Close())
	first := filepath.Join(t.TempDir(), "first")
	blocked := filepath.Join(first, datadir.ManifestName, "blocked")
	for _, isBlocked := range []bool{true, false} {
		f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: first})
		must(t, err)
		if isBlocked {
			must(t, os.MkdirAll(blocked, 0o700))
		} else {
			must(t, os.RemoveAll(filepath.Dir(blocked)))
		}
		if err := f.Follow(t.Context()); (err != nil) != isBlocked {
			t.Fatalf("the MANIFEST cannot be replaced: %v, got %v", isBlocked, err)
		}
		if err := datadir.CheckVersion(first); errors.Is(err, datadir.ErrNone) != isBlocked {
			t.Errorf("the MANIFEST cannot be replaced: %v, and the version %v", isBlocked, err)
		}
		must(t, f.Close())
	}
	same(t, first, dir)
}

// TestDamagedObjects flips, cuts, deletes and exchanges objects. A follower names the damaged
// object, keeps its last generation, and continues when the object is restored.
func TestDamagedObjects(t *testing.T) {
	b, dir, f, copied := published(t)
	before := contents(t, copied)
	names := slices.Concat(b.Names("objects/"), b.Names("generations/")[1:])
	r := rand.New(rand.NewPCG(1, 2))
	needed := 0
	for i, name := range names {
		var kept []byte
		other := names[(i+1)%len(names)]
		var content []byte
		b.Change(other, func(o []byte) []byte { content = o; return o })
		b.Change(name, func(o []byte) []byte {
			kept = slices.Clone(o)
			switch r.IntN(4) {
			case 0:
				o[r.IntN(len(o))] ^= 1 << r.IntN(8)
				return o
			case 1:
				return o[:r.IntN(len(o))]
			case 2:
				return nil
			}
			return content
		})
		err := f.Follow(t.Context())
		b.Change(name, func([]byte) []byte { return kept })
		if err == nil {
			must(t, f.Close())
			f, copied = follower(t, b) // it needed nothing of the object; one that begins needs all
			must(t, f.Follow(t.Context()))
			same(t, copied, dir)
			return
		}
		damage := new(replica.DamageError)
		if !errors.As(err, &damage) || damage.Object != name {
			if errors.As(err, &damage) || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s was damaged: %v", name, err)
			}
		}
		needed++
		if now := contents(t, copied); now["MANIFEST"] != before["MANIFEST"] {
			t.Fatalf("%s was damaged, and the copy has another MANIFEST", name)
		}
		testweb.Checked(t, copied)
	}
	if needed < 3 {
		t.Errorf("only %d damaged objects were needed", needed)
	}
}

// TestOtherFolder refuses folders that are no copies.
func TestOtherFolder(t *testing.T) {
	b, _, _, copied := published(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o600))
	if _, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: dir}); !errors.Is(err, replica.ErrOther) {
		t.Errorf("a folder with other files: %v", err)
	}
	if err := replica.Belongs(t.Context(), b, copied); err != nil {
		t.Error(err)
	}
	other := &buckettest.Memory{}
	if _, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: other, Dir: copied}); !errors.Is(err, replica.ErrNoCluster) {
		t.Errorf("an empty bucket: %v", err)
	}
	must(t, other.Put(t.Context(), "holiday.jpg", bytes.NewReader(nil), 0))
	if _, err := replica.Initialize(t.Context(), other); err == nil || !strings.Contains(err.Error(), "holiday.jpg") {
		t.Errorf("a bucket with other objects: %v", err)
	}
}

// TestCollect deletes what no kept generation names, a day later, and nothing before.
func TestCollect(t *testing.T) {
	b, dir, f, copied := published(t)
	all := len(b.Names("objects/"))
	must(t, publisher(t, b, dir).Collect(t.Context()))
	if n := len(b.Names("objects/")); n != all {
		t.Fatalf("%d of %d objects are left at once", n, all)
	}
	b.Age(25 * time.Hour)
	testweb.Checked(t, dir)
	must(t, os.WriteFile(filepath.Join(dir, "anatomy.toml"), []byte("# changed\n"), 0o600))
	p := publisher(t, b, dir)
	must(t, p.Publish(t.Context()))
	must(t, p.Collect(t.Context()))
	if n := len(b.Names("objects/")); n >= all {
		t.Errorf("%d of %d objects are left after a day", n, all)
	}
	if n := len(b.Names("generations/")); n != 1 {
		t.Errorf("%d generations are left, want the newest", n)
	}
	must(t, f.Follow(t.Context()))
	same(t, copied, dir)
}

// TestSpread publishes a folder that is spread over two disks. Its copy is not, and has the same pages;
// the folder itself cannot become a copy.
func TestSpread(t *testing.T) {
	web := testweb.Generate(t, 13, 60, 0)
	dir, disk, b := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "disk"), &buckettest.Memory{}
	must(t, datadir.AddDisks(dir, []string{disk}))
	crawl := web.Options(dir, web.Seed)
	crawl.Free = func(path string) (int64, error) {
		if strings.HasPrefix(path, disk) {
			return 1 << 40, nil
		}
		return 1 << 39, nil
	}
	testweb.Crawl(t, crawl)
	files, err := filepath.Glob(filepath.Join(disk, "repository", "*.repo"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files on the disk: %v, %v", files, err)
	}
	p := publisher(t, b, dir)
	must(t, p.Publish(t.Context()))
	f, copied := follower(t, b)
	must(t, f.Follow(t.Context()))
	testweb.Checked(t, copied)
	before := p.Status().Generation
	must(t, p.Publish(t.Context()))
	if p.Status().Generation != before {
		t.Error("a folder that did not change was published again")
	}
	testweb.Crawl(t, testweb.Recrawling(crawl))
	must(t, os.Chtimes(files[len(files)-1], time.Now(), time.Now()))
	must(t, p.Publish(t.Context()))
	if p.Status().Generation == before {
		t.Error("a folder that changed was not published")
	}
	must(t, f.Follow(t.Context()))
	must(t, f.Close())
	testweb.Checked(t, copied)
	testweb.SameMaps(t, "pages", testweb.Fates(t, copied), testweb.Fates(t, dir))
	_, err = replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: b, Dir: dir})
	if !errors.Is(err, replica.ErrSpread) {
		t.Errorf("a follower in a folder with disks: %v", err)
	}
}

// TestGrownFile publishes a file of more than one part that has grown. Its first part is neither put nor
// copied again.
func TestGrownFile(t *testing.T) {
	b, dir, f, copied := published(t)
	const large, grown = 17 << 20, 18 << 20
	content := make([]byte, grown)
	for i, r := 0, rand.NewPCG(1, 2); i < len(content); i += 8 {
		binary.LittleEndian.PutUint64(content[i:], r.Uint64())
	}
	p := publisher(t, b, dir)
	const name = "anatomy.toml" // a file that is replaced as a whole
	must(t, os.WriteFile(filepath.Join(dir, name), content[:large], 0o600))
	must(t, p.Publish(t.Context()))
	must(t, f.Follow(t.Context()))
	put, got := p.Status().Bytes, f.Status().Bytes
	must(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	must(t, p.Publish(t.Context()))
	must(t, f.Follow(t.Context()))
	if now, err := os.ReadFile(filepath.Join(copied, name)); err != nil || !bytes.Equal(now, content) {
		t.Errorf("the copy has %d other bytes, %v", len(now), err)
	}
	put, got = p.Status().Bytes-put, f.Status().Bytes-got
	if most := int64(4 << 20); put > most || got > most {
		t.Errorf("%d bytes were put and %d copied", put, got)
	}
}
