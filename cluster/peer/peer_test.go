package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/disk/datadir"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

var must = testweb.Must

// A cluster is a list of nodes, as in a bucket.
type cluster struct {
	mu    sync.Mutex
	nodes []vocab.ClusterNode
	reads atomic.Int32
}

func (c *cluster) list(context.Context) ([]vocab.ClusterNode, error) {
	c.reads.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes), nil
}

func (c *cluster) announce(n vocab.ClusterNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes = append(c.nodes, n)
}

func (c *cluster) leave(machine string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := func(n vocab.ClusterNode) bool { return n.Machine == machine }
	c.nodes = slices.DeleteFunc(c.nodes, is)
}

// expire has a directory read the list at its next use.
func (d *Directory) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began = time.Time{}
}

func identity(t testing.TB) *Identity {
	t.Helper()
	id, err := OpenIdentity(t.TempDir())
	must(t, err)
	return id
}

// serve starts a node that has shards whole, and returns its status and directory. Its server ends
// with the test.
func (c *cluster) serve(
	t testing.TB, machine string, answer Call, whole ...int,
) (vocab.ClusterNode, *Directory) {
	t.Helper()
	id, nodes := identity(t), NewDirectory(c.list)
	s, err := Listen("127.0.0.1:0", id, nodes, slog.New(slog.DiscardHandler))
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return s.Run(ctx, answer) })
	t.Cleanup(func() {
		stop()
		must(t, group.Wait())
	})
	n := vocab.ClusterNode{
		Machine: machine, Address: s.Addr().String(), Certificate: id.Certificate, Whole: whole,
		Heard: time.Now(),
	}
	c.announce(n)
	return n, nodes
}

// client returns the client of a node without a server.
func (c *cluster) client(t testing.TB) *Client {
	t.Helper()
	id := identity(t)
	c.announce(vocab.ClusterNode{Machine: "client", Certificate: id.Certificate, Heard: time.Now()})
	client := NewClient(id, NewDirectory(c.list), slog.New(slog.DiscardHandler))
	t.Cleanup(client.transport.CloseIdleConnections)
	return client
}

// echo replies with the shard and the request.
func echo(_ context.Context, shard int, request []byte) ([]byte, error) {
	return fmt.Appendf(nil, "%d %s", shard, request), nil
}

func fails(err error) Call {
	return func(context.Context, int, []byte) ([]byte, error) { return nil, err }
}

// hang blocks until the call is cancelled, and counts.
func hang(begun, cancelled *atomic.Int32) Call {
	return func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
		begun.Add(1)
		<-ctx.Done()
		cancelled.Add(1)
		return nil, ctx.Err()
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func TestCall(t *testing.T) {
	var c cluster
	c.serve(t, "a", echo, 3)
	b, _ := c.serve(t, "b", echo)
	client := c.client(t)
	c.nodes[1].Owns = []vocab.ShardWork{{Shard: 4}}
	for shard, n := range map[int]int{3: 0, 4: 10 << 10} {
		request := bytes.Repeat([]byte("x"), n)
		reply, err := client.Call(t.Context(), shard, request)
		if want := fmt.Sprintf("%d %s", shard, request); err != nil || string(reply) != want {
			t.Errorf("shard %d: %d bytes, %v; want %d bytes", shard, len(reply), err, len(want))
		}
	}
	if _, err := client.Call(t.Context(), 5, nil); !errors.Is(err, ErrNoKeeper) {
		t.Errorf("a shard that no node has: %v, want %v", err, ErrNoKeeper)
	}
	c.leave("b")
	client.nodes.expire()
	client.nodes.knows(t.Context(), "") // waits for the list
	if _, err := client.Call(t.Context(), 4, nil); !errors.Is(err, ErrNoKeeper) {
		t.Errorf("the keeper left: %v, want %v", err, ErrNoKeeper)
	}
	b.Silent = true
	c.announce(b)
	client.nodes.expire()
	if _, err := client.Call(t.Context(), 4, nil); !errors.Is(err, ErrNoKeeper) {
		t.Errorf("the keeper is silent: %v, want %v", err, ErrNoKeeper)
	}
}

// TestRestarted lists a node at the address of its last process, too.
func TestRestarted(t *testing.T) {
	var c cluster
	n, _ := c.serve(t, "a", echo, 0)
	n.Address, n.Heard = "127.0.0.1:1", n.Heard.Add(-time.Second)
	c.announce(n)
	if _, err := c.client(t).Call(t.Context(), 0, nil); err != nil {
		t.Error(err)
	}
}

// TestUnknown has ends of a connection with certificates that are not announced, or of others.
func TestUnknown(t *testing.T) {
	var c cluster
	var calls atomic.Int32
	count := func(context.Context, int, []byte) ([]byte, error) { calls.Add(1); return nil, nil }
	c.serve(t, "a", count, 0)
	stranger := c.client(t)
	c.leave("client")
	before := c.reads.Load()
	for range 5 {
		if _, err := stranger.Call(t.Context(), 0, nil); err == nil {
			t.Fatal("the server accepts a certificate that no node announced")
		}
	}
	if reads := c.reads.Load() - before; reads > 5 { // one client, one server, for about a second each
		t.Errorf("the list was read %d times", reads)
	}
	client := c.client(t)
	c.mu.Lock()
	c.nodes[0].Certificate = identity(t).Certificate
	c.mu.Unlock()
	if _, err := client.Call(t.Context(), 0, nil); !errors.Is(err, errUnknown) {
		t.Errorf("the server has another certificate than it announced: %v, want %v", err, errUnknown)
	}
	if calls.Load() != 0 {
		t.Errorf("%d calls were answered", calls.Load())
	}
	plain := &tls.Config{InsecureSkipVerify: true}
	conn, err := tls.Dial("tcp", c.nodes[0].Address, plain)
	if err == nil { // the client of TLS 1.3 ends its handshake first
		_, err = conn.Read(make([]byte, 1))
		conn.Close()
	}
	if err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the server accepts a client without a certificate: %v", err)
	}
}

// TestNewNode has a server read the list again for a node that it does not know yet.
func TestNewNode(t *testing.T) {
	var c cluster
	_, nodes := c.serve(t, "a", echo, 0)
	nodes.knows(t.Context(), "")
	nodes.mu.Lock()
	nodes.began = nodes.began.Add(-rereadAfter)
	nodes.mu.Unlock()
	if _, err := c.client(t).Call(t.Context(), 0, nil); err != nil {
		t.Error(err)
	}
}

// TestOldList has two users of a list that was not used for long: both wait until it is read again.
func TestOldList(t *testing.T) {
	reading, end := make(chan struct{}), make(chan struct{})
	var first sync.Once
	d := NewDirectory(func(context.Context) ([]vocab.ClusterNode, error) {
		first.Do(func() { close(reading) })
		<-end
		return []vocab.ClusterNode{{Certificate: "new"}}, nil
	})
	d.live = map[string]vocab.ClusterNode{"old": {}}
	var group errgroup.Group
	use := func() error {
		d.find(t.Context(), func(live map[string]vocab.ClusterNode) bool {
			if _, ok := live["new"]; !ok {
				t.Error("the old list is used")
			}
			return true
		})
		return nil
	}
	group.Go(use)
	<-reading
	group.Go(func() error {
		time.Sleep(50 * time.Millisecond)
		close(end)
		return nil
	})
	use()
	must(t, group.Wait())
}

// TestLeft refuses a node on a connection from before it left.
func TestLeft(t *testing.T) {
	var c cluster
	_, nodes := c.serve(t, "a", echo, 0)
	client := c.client(t)
	_, err := client.Call(t.Context(), 0, nil)
	must(t, err)
	c.leave("client")
	nodes.expire()
	nodes.knows(t.Context(), "")
	if _, err := client.Call(t.Context(), 0, nil); !errors.Is(err, errUnknown) {
		t.Errorf("%v, want %v", err, errUnknown)
	}
}

func TestErrors(t *testing.T) {
	for _, want := range []error{ErrGone, ErrNotKept, ErrRequest} {
		var c cluster
		c.serve(t, "a", fails(fmt.Errorf("detail: %w", want)), 0)
		_, err := c.client(t).Call(t.Context(), 0, nil)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "detail") {
			t.Errorf("%v, want %v", err, want)
		}
	}
	var c cluster
	c.serve(t, "a", fails(errors.New(strings.Repeat("long", maxError))), 0)
	_, err := c.client(t).Call(t.Context(), 0, nil)
	if err == nil || !strings.Contains(err.Error(), "500") || len(err.Error()) > 2*maxError {
		t.Errorf("%v", err)
	}
}

// TestNextKeeper asks the next keeper after each kind of error, and the failed one last afterwards.
func TestNextKeeper(t *testing.T) {
	for _, failure := range []error{ErrGone, ErrNotKept, errors.New("broken"), nil} {
		var c cluster
		var calls atomic.Int32
		n, _ := c.serve(t, "bad", func(context.Context, int, []byte) ([]byte, error) {
			calls.Add(1)
			return nil, failure
		})
		c.nodes[0].Owns = []vocab.ShardWork{{Shard: 0}} // first
		if failure == nil {
			c.nodes[0].Address = "127.0.0.1:1" // refuses connections
		}
		good, _ := c.serve(t, "good", echo, 0)
		client := c.client(t)
		for _, node := range []string{n.Certificate, good.Certificate} { // slow ones, so that no call is hedged
			slow := []sample{{time.Now(), 10 * time.Second}}
			client.records[node] = &record{samples: slow, lacks: map[int]time.Time{}}
		}
		for range 3 {
			reply, err := client.Call(t.Context(), 0, []byte("x"))
			if err != nil || string(reply) != "0 x" {
				t.Errorf("after %v: %q, %v", failure, reply, err)
			}
		}
		r := client.records[n.Certificate]
		failed, lacks := r.failed != time.Time{}, len(r.lacks) > 0
		if isAvoided := failed || lacks; isAvoided != (failure != ErrGone) || lacks != (failure == ErrNotKept) {
			t.Errorf("after %v: avoided %t, for this shard only %t", failure, isAvoided, lacks)
		}
		if (failed || lacks) && failure != nil && calls.Load() != 1 {
			t.Errorf("after %v the keeper was called %d times, want once", failure, calls.Load())
		}
	}
}

// TestMalformed asks no other keeper.
func TestMalformed(t *testing.T) {
	var c cluster
	var calls atomic.Int32
	for range 2 {
		c.serve(t, "a", func(context.Context, int, []byte) ([]byte, error) {
			calls.Add(1)
			return nil, ErrRequest
		}, 0)
	}
	_, err := c.client(t).Call(t.Context(), 0, nil)
	if !errors.Is(err, ErrRequest) || calls.Load() != 1 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}

// TestHedge has the first keeper hang: the second one is asked, and the first call is cancelled.
// Then the second one goes first.
func TestHedge(t *testing.T) {
	var c cluster
	var begun, cancelled, answered atomic.Int32
	c.serve(t, "hangs", hang(&begun, &cancelled))
	c.nodes[0].Owns = []vocab.ShardWork{{Shard: 0}}
	c.serve(t, "answers", func(ctx context.Context, shard int, request []byte) ([]byte, error) {
		answered.Add(1)
		return echo(ctx, shard, request)
	}, 0)
	client := c.client(t)
	const calls = 10
	for range calls {
		if _, err := client.Call(t.Context(), 0, nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the call is cancelled", func() bool { return cancelled.Load() == begun.Load() })
	}
	if begun.Load() == 0 || begun.Load() == calls || answered.Load() != calls {
		t.Errorf("of %d calls one keeper got %d and the other %d", calls, begun.Load(), answered.Load())
	}
}

// TestHedges has all keepers hang until the deadline, which all of them know: three are asked.
func TestHedges(t *testing.T) {
	var c cluster
	var begun, deadlines atomic.Int32
	for i := range 5 {
		c.serve(t, fmt.Sprint(i), func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
			begun.Add(1)
			if at, ok := ctx.Deadline(); ok && time.Until(at) < longest/2 {
				deadlines.Add(1)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}, 0)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := c.client(t).Call(ctx, 0, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
	if begun.Load() > 1+maxHedges || begun.Load() == 0 || deadlines.Load() != begun.Load() {
		t.Errorf("%d keepers were asked, %d with the deadline", begun.Load(), deadlines.Load())
	}
}

func TestSizes(t *testing.T) {
	var c cluster
	var calls atomic.Int32
	c.serve(t, "a", func(_ context.Context, _ int, request []byte) ([]byte, error) {
		calls.Add(1)
		return make([]byte, maxReply+int(request[0])), nil
	}, 0)
	client := c.client(t)
	reply, err := client.Call(t.Context(), 0, make([]byte, maxRequest))
	if err != nil || len(reply) != maxReply {
		t.Errorf("%d bytes, %v", len(reply), err)
	}
	if _, err := client.Call(t.Context(), 0, []byte{1}); err == nil || calls.Load() != 2 {
		t.Errorf("the reply is too large: %v", err)
	}
	if _, err := client.Call(t.Context(), 0, make([]byte, maxRequest+1)); !errors.Is(err, ErrRequest) {
		t.Errorf("the request is too large: %v", err)
	}
	url := "https://" + c.nodes[0].Certificate + "/shards/0/calls"
	for name, body := range map[string]io.Reader{
		"too large":      bytes.NewReader(make([]byte, maxRequest+1)),
		"unknown length": io.MultiReader(strings.NewReader("x")),
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
		must(t, err)
		answer, err := client.transport.RoundTrip(r)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %s", name, answer.Status)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls, want 2", calls.Load())
	}
}

// TestConcurrent has more calls than the server answers at a time: each gets its own reply.
func TestConcurrent(t *testing.T) {
	var c cluster
	var inside, most atomic.Int32
	c.serve(t, "a", func(ctx context.Context, shard int, request []byte) ([]byte, error) {
		n := inside.Add(1)
		defer inside.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(time.Millisecond)
		return echo(ctx, shard, request)
	}, 0)
	client := c.client(t)
	var group errgroup.Group
	for i := range 100 {
		group.Go(func() error {
			for j := range 5 {
				request := fmt.Sprint(i, " ", j)
				reply, err := client.Call(t.Context(), 0, []byte(request))
				if err != nil || string(reply) != "0 "+request {
					return fmt.Errorf("%q for %q, %w", reply, request, err)
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
	if limit := int32(callsPerProcessor * runtime.GOMAXPROCS(0)); most.Load() > limit {
		t.Errorf("%d calls at a time, at most %d may be", most.Load(), limit)
	}
}

// TestBusy has a call that never begins, as other calls have all slots.
func TestBusy(t *testing.T) {
	var c cluster
	id, nodes := identity(t), NewDirectory(c.list)
	s, err := Listen("127.0.0.1:0", id, nodes, slog.New(slog.DiscardHandler))
	must(t, err)
	s.slots = make(chan struct{}, 1)
	s.slots <- struct{}{}
	var group errgroup.Group
	ctx, stop := context.WithCancel(t.Context())
	group.Go(func() error { return s.Run(ctx, echo) })
	n := vocab.ClusterNode{Address: s.Addr().String(), Certificate: id.Certificate, Whole: []int{0}}
	c.announce(n)
	client := c.client(t)
	url := "https://" + id.Certificate + "/shards/0/calls"
	client.nodes.knows(t.Context(), id.Certificate)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("x"))
	must(t, err)
	r.Header.Set(timeoutHeader, "1")
	answer, err := client.transport.RoundTrip(r)
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %s", answer.Status)
	}
	<-s.slots
	stop()
	must(t, group.Wait())
}

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenIdentity(dir)
	must(t, err)
	again, err := OpenIdentity(dir)
	if err != nil || again.Certificate != first.Certificate || len(first.Certificate) != 64 {
		t.Errorf("%s, then %s, %v", first.Certificate, again.Certificate, err)
	}
	path := filepath.Join(datadir.Cluster(dir), "peer.pem")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for name, change := range map[string]func() error{
		"damaged":            func() error { return os.WriteFile(path, []byte("damaged"), 0o600) },
		"of another machine": func() error { return makeIdentity(path, "other", time.Now()) },
	} {
		must(t, change())
		id, err := OpenIdentity(dir)
		must(t, err)
		host, err := os.Hostname()
		must(t, err)
		if got := id.pair.Leaf.Subject.CommonName; id.Certificate == first.Certificate || got != host {
			t.Errorf("the file is %s: the same certificate, or one of %s", name, got)
		}
	}
}

// FuzzCall sends any shard and timeout to a server: a call is answered for the shard, or malformed,
// or it is late.
func FuzzCall(f *testing.F) {
	for shard, timeout := range map[string]string{
		"0": "", "7": "99999999999999999999", "-1": "10", "2147483648": "0", "x": "-1", "+1": "1e3",
	} {
		f.Add(shard, timeout)
	}
	known := []byte("known")
	nodes := NewDirectory(func(context.Context) ([]vocab.ClusterNode, error) {
		return []vocab.ClusterNode{{Certificate: sum(known)}}, nil
	})
	s := &Server{nodes: nodes, answer: echo, slots: make(chan struct{}, 1)}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: known}}}
	f.Fuzz(func(t *testing.T, shard, timeout string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x"))
		r.SetPathValue("shard", shard)
		r.Header.Set(timeoutHeader, timeout)
		r.TLS = state
		reply, err := s.call(r)
		number, isBad := strconv.Atoi(shard)
		switch {
		case err == nil && (isBad != nil || string(reply) != fmt.Sprint(number, " x")):
			t.Errorf("shard %q: %q", shard, reply)
		case err != nil && !errors.Is(err, ErrRequest) && !errors.Is(err, errBusy):
			t.Error(err)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	var c cluster
	reply := make([]byte, 10<<10)
	c.serve(b, "a", func(context.Context, int, []byte) ([]byte, error) { return reply, nil }, 0)
	client, request := c.client(b), make([]byte, 2<<10)
	call := func() {
		if _, err := client.Call(b.Context(), 0, request); err != nil {
			b.Fatal(err)
		}
	}
	call() // connects
	before := processorTime(b)
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// processorTime returns the processor time of this process, client and server.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
