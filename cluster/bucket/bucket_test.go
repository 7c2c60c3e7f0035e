package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// conformance is what every kind of bucket does. Each test gets a new bucket.
var conformance = []struct {
	name string
	test func(t *testing.T, b Bucket)
}{
	{"PutAndGet", testPutAndGet},
	{"Ranges", testRanges},
	{"Replace", testReplace},
	{"List", testList},
	{"Pages", testPages},
	{"Names", testNames},
	{"ShortContent", testShortContent},
	{"Context", testContext},
	{"Concurrent", testConcurrent},
}

func testBucket(t *testing.T, open func(t testing.TB) Bucket) {
	for _, c := range conformance {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("Oracle", func(t *testing.T) { testOracle(t, open) })
}

func TestFolder(t *testing.T) {
	testBucket(t, func(t testing.TB) Bucket { return openTemp(t) })
}

func TestServer(t *testing.T) {
	testBucket(t, func(t testing.TB) Bucket { _, b := newFake(t); return b })
}

func TestPrefix(t *testing.T) {
	testBucket(t, func(t testing.TB) Bucket {
		f, _ := newFake(t)
		other := f.bucket(t, "crawl-2")
		putString(t, other, "a", "of another prefix")
		t.Cleanup(func() {
			if got := names(t, other.List(context.Background(), "", "")); !slices.Equal(got, []string{"a"}) {
				t.Errorf("another prefix has %q", got)
			}
		})
		return f.bucket(t, "crawl")
	})
}

// TestVersitygw runs the suite against the S3 server that ANATOMY_VERSITYGW names.
func TestVersitygw(t *testing.T) {
	program := os.Getenv("ANATOMY_VERSITYGW")
	if program == "" {
		t.Skip("ANATOMY_VERSITYGW names no S3 server")
	}
	b, n := startVersitygw(t, program), 0
	testBucket(t, func(t testing.TB) Bucket {
		n++
		part, err := Open(fmt.Sprintf("%s/%d", b, n))
		if err != nil {
			t.Fatal(err)
		}
		return part
	})
	for _, c := range []struct{ variable, value, want string }{
		{"AWS_ACCESS_KEY_ID", "other", "check AWS_ACCESS_KEY_ID"},
		{"AWS_SECRET_ACCESS_KEY", "other", "check AWS_SECRET_ACCESS_KEY"},
		{"AWS_REGION", "mars-1", "AWS_REGION"},
	} {
		t.Run(c.variable, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			wrong, err := Open(b.String())
			if err != nil {
				t.Fatal(err)
			}
			failsWith(t, wrong, c.want)
		})
	}
	t.Run("NoBucket", func(t *testing.T) {
		wrong, err := Open(b.String() + "-2")
		if err != nil {
			t.Fatal(err)
		}
		failsWith(t, wrong, "create it")
	})
}

// startVersitygw starts the server over an empty folder, and sets the environment for its key.
func startVersitygw(t testing.TB, program string) Bucket {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := listener.Addr().String()
	listener.Close()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, fakeBucket), 0o700); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "--access", fakeKey, "--secret", "secret", "--port", host,
		"--quiet", "posix", dir)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	t.Setenv("AWS_ACCESS_KEY_ID", fakeKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b, err := Open("s3+http://" + host + "/" + fakeBucket)
	if err != nil {
		t.Fatal(err)
	}
	// The server is up when a list succeeds, which is tried again for some seconds.
	names(t, b.List(t.Context(), "", ""))
	return b
}

func openTemp(t testing.TB) *folder {
	t.Helper()
	b, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b.(*folder)
}

func putString(t testing.TB, b Bucket, name, content string) {
	t.Helper()
	err := b.Put(context.Background(), name, strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
}

func getString(b Bucket, name string, offset, size int64) (string, error) {
	r, err := b.Get(context.Background(), name, offset, size)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(r)
	return string(content), errors.Join(err, r.Close())
}

func names(t testing.TB, list iter.Seq2[Object, error]) (names []string) {
	t.Helper()
	for o, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Name)
	}
	return names
}

// failsWith fails the test unless all calls fail with an error that has the bucket's address and
// the text.
func failsWith(t *testing.T, b Bucket, text string) {
	t.Helper()
	_, errGet := getString(b, "a", 0, -1)
	calls := map[string]error{
		"put":    b.Put(t.Context(), "a", strings.NewReader("content"), 7),
		"get":    errGet,
		"delete": b.Delete(t.Context(), "a"),
	}
	for _, err := range b.List(t.Context(), "", "") {
		calls["list"] = err
	}
	for call, err := range calls {
		if err == nil || errors.Is(err, ErrNotExist) || !strings.Contains(err.Error(), text) ||
			!strings.Contains(err.Error(), b.String()) {
			t.Errorf("%s: %v, want an error with %q", call, err, text)
		}
	}
	if len(calls) != 4 {
		t.Errorf("list: no error, want one with %q", text)
	}
}

func testPutAndGet(t *testing.T, b Bucket) {
	if _, err := getString(b, "seg/one", 0, -1); !errors.Is(err, ErrNotExist) {
		t.Errorf("an object before it was put: %v", err)
	}
	if err := b.Delete(t.Context(), "seg/one"); err != nil {
		t.Errorf("an object is deleted that does not exist: %v", err)
	}
	large := make([]byte, 5<<20+1)
	rand.NewChaCha8([32]byte{}).Read(large)
	for name, content := range map[string]string{
		"empty": "", "seg/one": "content", "seg/large.Data_1-2": string(large),
		"deep/er/and/deeper": "x", strings.Repeat("n", 200): "long name",
	} {
		putString(t, b, name, content)
		if got, err := getString(b, name, 0, -1); err != nil || got != content {
			t.Errorf("%.30s: %d bytes and %v, want %d bytes", name, len(got), err, len(content))
		}
	}
	for _, absent := range []string{"seg", "seg/one/two", "seg/on"} {
		if _, err := getString(b, absent, 0, -1); !errors.Is(err, ErrNotExist) {
			t.Errorf("%s: %v, want ErrNotExist", absent, err)
		}
		if err := b.Delete(t.Context(), absent); err != nil {
			t.Errorf("delete %s: %v", absent, err)
		}
	}
	if err := b.Delete(t.Context(), "seg/one"); err != nil {
		t.Error(err)
	}
	if _, err := getString(b, "seg/one", 0, -1); !errors.Is(err, ErrNotExist) {
		t.Errorf("an object after it was deleted: %v", err)
	}
}

func testRanges(t *testing.T, b Bucket) {
	const content = "0123456789"
	putString(t, b, "digits", content)
	putString(t, b, "empty", "")
	for offset := int64(0); offset <= 11; offset++ {
		for size := int64(-1); size <= 11; size++ {
			got, err := getString(b, "digits", offset, size)
			end := offset + size
			if size < 0 {
				end = max(offset, 10)
			}
			if end > 10 {
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%d bytes from %d: %q, %v", size, offset, got, err)
				}
			} else if err != nil || got != content[offset:end] {
				t.Errorf("%d bytes from %d: %q, %v", size, offset, got, err)
			}
		}
	}
	for size := int64(-1); size <= 0; size++ {
		if got, err := getString(b, "empty", 0, size); err != nil || got != "" {
			t.Errorf("nothing: %q, %v", got, err)
		}
		if _, err := getString(b, "none", 0, size); !errors.Is(err, ErrNotExist) {
			t.Errorf("nothing of nothing: %v", err)
		}
	}
	for _, c := range [][2]int64{{-1, 1}, {1 << 62, 1 << 62}} {
		if _, err := getString(b, "digits", c[0], c[1]); err == nil {
			t.Errorf("range %v was accepted", c)
		}
	}
}

func testReplace(t *testing.T, b Bucket) {
	start := time.Now().Add(-time.Hour)
	for _, content := range []string{"the first one", "second", ""} {
		putString(t, b, "a/b", content)
		if got, err := getString(b, "a/b", 0, -1); err != nil || got != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
		for o, err := range b.List(t.Context(), "", "") {
			if err != nil || o.Name != "a/b" || o.Size != int64(len(content)) || o.Changed.Before(start) {
				t.Errorf("%v, %v", o, err)
			}
		}
	}
}

// sorted are names whose order is not that of the walk of a file tree.
var sorted = []string{"A/x", "a-/z", "a-b", "a.b/c", "a/a", "a/b/c", "a/b0", "a0", "b"}

func testList(t *testing.T, b Bucket) {
	if got := names(t, b.List(t.Context(), "", "")); got != nil {
		t.Errorf("an empty bucket has %q", got)
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(sorted)) {
		putString(t, b, sorted[i], "content")
	}
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/b/", "a-", "b", "c", "a/b/c/d"} {
		for _, after := range append([]string{"", "a", "a/", "a/b/d", "zz", "a/b/c/d"}, sorted...) {
			var want []string
			for _, name := range sorted {
				if strings.HasPrefix(name, prefix) && name > after {
					want = append(want, name)
				}
			}
			if got := names(t, b.List(t.Context(), prefix, after)); !slices.Equal(got, want) {
				t.Errorf("prefix %q after %q: %q, want %q", prefix, after, got, want)
			}
		}
	}
	for o := range b.List(t.Context(), "", "") { // a list may be left
		if o.Name != sorted[0] {
			t.Errorf("first is %s", o.Name)
		}
		break
	}
}

func testPages(t *testing.T, b Bucket) {
	n := 2*pageLen + 100
	if testing.Short() {
		n = pageLen + 100
	}
	if _, ok := b.(*folder); ok {
		n = 100 // a folder has no pages
	}
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf("pages/%d/%04d", i/500, i)
	}
	var tasks sync.WaitGroup
	for part := range slices.Chunk(want, n/8+1) {
		tasks.Go(func() {
			for _, name := range part {
				if err := b.Put(t.Context(), name, strings.NewReader("x"), 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	tasks.Wait()
	if got := names(t, b.List(t.Context(), "", "")); !slices.Equal(got, want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	if got := names(t, b.List(t.Context(), "pages/", want[n-2])); !slices.Equal(got, want[n-1:]) {
		t.Errorf("the last object is listed as %q", got)
	}
}

func testNames(t *testing.T, b Bucket) {
	for _, name := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/./b", "a b", "a\x00b", "ä", "a\\b",
		"a.tmp", "a.tmp/b", "a%2fb", "a?b", "a#b", "a*", strings.Repeat("n", 201),
	} {
		calls := map[string]error{
			"put":    b.Put(t.Context(), name, strings.NewReader("x"), 1),
			"delete": b.Delete(t.Context(), name),
		}
		_, calls["get"] = b.Get(t.Context(), name, 0, -1)
		for call, err := range calls {
			if err == nil || errors.Is(err, ErrNotExist) {
				t.Errorf("%s %q: %v", call, name, err)
			}
		}
	}
	if got := names(t, b.List(t.Context(), "", "")); got != nil {
		t.Errorf("the bucket has %q", got)
	}
}

func testShortContent(t *testing.T, b Bucket) {
	putString(t, b, "a", "old")
	err := b.Put(t.Context(), "a", strings.NewReader("short"), 6)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("content is shorter than its size: %v", err)
	}
	if err := b.Put(t.Context(), "a", failing{}, 6); !errors.Is(err, errFailing) {
		t.Errorf("content cannot be read: %v", err)
	}
	if got, err := getString(b, "a", 0, -1); err != nil || got != "old" {
		t.Errorf("%q, %v, want the old content", got, err)
	}
	if err := b.Put(t.Context(), "a", strings.NewReader("longer"), 4); err != nil {
		t.Error(err)
	}
	if got, err := getString(b, "a", 0, -1); err != nil || got != "long" {
		t.Errorf("%q, %v, want the first four bytes", got, err)
	}
}

type failing struct{}

var errFailing = errors.New("the disk fails")

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errFailing }

func testContext(t *testing.T, b Bucket) {
	putString(t, b, "a", "content")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := b.Get(ctx, "a", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	calls := map[string]error{
		"put":    b.Put(ctx, "b", strings.NewReader("x"), 1),
		"delete": b.Delete(ctx, "a"),
	}
	for _, err := range b.List(ctx, "", "") {
		calls["list"] = err
	}
	_, calls["get"] = getContext(ctx, b)
	for call, err := range calls {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", call, err)
		}
	}
	got := names(t, b.List(t.Context(), "", ""))
	if !slices.Equal(got, []string{"a"}) || len(calls) != 4 {
		t.Errorf("the bucket has %q after %d calls", got, len(calls))
	}
}

func getContext(ctx context.Context, b Bucket) ([]byte, error) {
	r, err := b.Get(ctx, "a", 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Of puts of one name at the same time one wins, whole, and readers see the one or the other.
func testConcurrent(t *testing.T, b Bucket) {
	contents := make([]string, 4)
	for i := range contents {
		contents[i] = strings.Repeat(fmt.Sprint(i), 100_000+i)
	}
	putString(t, b, "dir/same", contents[0])
	var tasks sync.WaitGroup
	for i, content := range contents {
		tasks.Go(func() {
			for n := range 5 {
				name := fmt.Sprintf("dir/%d/%d", n, i)
				for _, name := range []string{"dir/same", name} {
					err := b.Put(t.Context(), name, strings.NewReader(content), int64(len(content)))
					if err != nil {
						t.Error(err)
					}
				}
				got, err := getString(b, "dir/same", 0, -1)
				if !slices.Contains(contents, got) && !errors.Is(err, errReplaced) {
					t.Errorf("%d bytes and %v of no content", len(got), err)
				}
				for o, err := range b.List(t.Context(), "dir/", "") {
					if err != nil || !strings.HasPrefix(o.Name, "dir/") {
						t.Errorf("%v, %v", o, err)
					}
				}
				if err := b.Delete(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	tasks.Wait()
	if got := names(t, b.List(t.Context(), "", "")); !slices.Equal(got, []string{"dir/same"}) {
		t.Errorf("the bucket has %q", got)
	}
}

// testOracle holds a bucket against a map.
func testOracle(t *testing.T, open func(t testing.TB) Bucket) {
	rapid.Check(t, func(r *rapid.T) {
		b, oracle := open(t), map[string][]byte{}
		name := rapid.SampledFrom(sorted)
		steps := rapid.IntRange(1, 12).Draw(r, "steps")
		for range steps {
			name := name.Draw(r, "name")
			want, ok := oracle[name]
			switch rapid.SampledFrom([]string{"put", "put", "get", "list", "delete"}).Draw(r, "op") {
			case "put":
				content := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(r, "content")
				if err := b.Put(t.Context(), name, bytes.NewReader(content), int64(len(content))); err != nil {
					r.Fatal(err)
				}
				oracle[name] = content
			case "get":
				offset := rapid.Int64Range(0, 42).Draw(r, "offset")
				size := rapid.Int64Range(-1, 42).Draw(r, "size")
				got, err := getString(b, name, offset, size)
				end := offset + size
				if size < 0 {
					end = max(offset, int64(len(want)))
				}
				switch {
				case !ok && !errors.Is(err, ErrNotExist),
					ok && end > int64(len(want)) && !errors.Is(err, io.ErrUnexpectedEOF),
					ok && end <= int64(len(want)) && (err != nil || got != string(want[offset:end])):
					r.Fatalf("get %s %d %d: %q, %v of %q", name, offset, size, got, err, want)
				}
			case "delete":
				if err := b.Delete(t.Context(), name); err != nil {
					r.Fatal(err)
				}
				delete(oracle, name)
			case "list":
				var want []string
				prefix := name[:rapid.IntRange(0, len(name)).Draw(r, "prefix")]
				for _, other := range slices.Sorted(maps.Keys(oracle)) {
					if strings.HasPrefix(other, prefix) && other > name[:1] {
						want = append(want, fmt.Sprint(other, len(oracle[other])))
					}
				}
				var got []string
				for o, err := range b.List(t.Context(), prefix, name[:1]) {
					if err != nil {
						r.Fatal(err)
					}
					got = append(got, fmt.Sprint(o.Name, o.Size))
				}
				if !slices.Equal(got, want) {
					r.Fatalf("list %s: %q, want %q", prefix, got, want)
				}
			}
		}
	})
}
