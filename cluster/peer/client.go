package peer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"anatomy/vocab"
)

const (
	dialTimeout    = 5 * time.Second // with the handshake
	maxConnections = 32              // to one node; further calls wait, and may be hedged

	leastHedge  = 20 * time.Millisecond // see Client
	hedgeFactor = 3
	maxHedges   = 2
	avoidFor    = 5 * time.Second // after a failure

	maxSamples  = 16
	sampleAge   = 30 * time.Second
	leastSample = time.Millisecond // counts as the latency of a node without samples
)

// ErrNoKeeper is the error of a call about a shard that no other live node has whole.
var ErrNoKeeper = errors.New("no other node that can be reached has the shard whole")

// A Client calls the keepers of shards.
//
// It asks the keeper with the lowest product of median latency and calls in progress first; the
// owner of the shard goes first among equals. If the reply is late, by three times the median of
// that keeper and at least 20 ms, it also asks the next one (a hedged request: Dean and Barroso,
// The Tail at Scale, 2013), at most twice, and cancels all but the first with a reply. After an
// error it asks the next one at once. Keepers that failed in the last seconds, or did not have the
// shard, are asked last.
//
// Latencies are forgotten after half a minute. A keeper without any counts as fast, so that it is
// measured again.
type Client struct {
	id        *Identity
	nodes     *Directory
	log       *slog.Logger
	transport *http.Transport // the host of a URL is the certificate of a node

	mu      sync.Mutex         // guards what follows
	records map[string]*record // by certificate
}

// A record is the experience with one node.
type record struct {
	samples  []sample // the last ones, oldest first
	inFlight int
	failed   time.Time         // of the last failure; zero after a reply
	lacks    map[int]time.Time // when it last replied that it does not have a shard
}

// A sample is the latency of a call.
type sample struct {
	at   time.Time
	took time.Duration
}

// NewClient returns a client that calls the live nodes of a directory, except itself.
func NewClient(id *Identity, nodes *Directory, log *slog.Logger) *Client {
	c := &Client{id: id, nodes: nodes, log: log, records: map[string]*record{}}
	c.transport = &http.Transport{
		DialTLSContext: c.dial, Protocols: protocols(), DisableCompression: true,
		MaxConnsPerHost: maxConnections, MaxIdleConnsPerHost: maxConnections,
		IdleConnTimeout: idleTimeout / 2, MaxResponseHeaderBytes: 4 << 10,
	}
	return c
}

// dial connects to the node whose certificate is the host of an address.
func (c *Client) dial(ctx context.Context, _, address string) (net.Conn, error) {
	certificate, _, _ := strings.Cut(address, ":")
	live, _, _ := c.nodes.look(readEvery)
	d := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: dialTimeout},
		Config:    c.id.config(func(got string) bool { return got == certificate }),
	}
	return d.DialContext(ctx, "tcp", live[certificate].Address)
}

// Call sends a request about a shard to its keepers and returns the first reply. The request must
// not be changed later: a slow keeper may still read it. The error wraps [ErrNoKeeper] if there is
// no keeper, and otherwise the errors of all keepers that were asked; [ErrRequest] ends the call.
func (c *Client) Call(ctx context.Context, shard int, request []byte) ([]byte, error) {
	if n := len(request); n > maxRequest {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are sent", ErrRequest, n, maxRequest)
	}
	keepers := c.keepers(ctx, shard)
	if len(keepers) == 0 {
		return nil, fmt.Errorf("shard %d: %w", shard, ErrNoKeeper)
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	type result struct {
		reply []byte
		err   error
	}
	results := make(chan result, len(keepers))
	late := time.NewTimer(0)
	defer late.Stop()
	asked, pending, hedges := 0, 0, 0
	ask := func() {
		k := &keepers[asked]
		asked, pending = asked+1, pending+1
		late.Reset(k.hedge)
		go func() {
			reply, err := c.ask(ctx, k, shard, request)
			results <- result{reply, err}
		}()
	}
	ask()
	var failed []error
	for {
		select {
		case r := <-results:
			if r.err == nil || errors.Is(r.err, ErrRequest) {
				return r.reply, r.err
			}
			failed, pending = append(failed, r.err), pending-1
			if asked < len(keepers) {
				ask()
			} else if pending == 0 {
				return nil, errors.Join(failed...)
			}
		case <-late.C:
			if asked < len(keepers) && hedges < maxHedges {
				hedges++
				ask()
			}
		case <-ctx.Done():
			return nil, errors.Join(append(failed, ctx.Err())...)
		}
	}
}

// A keeper is a node that has a shard whole.
type keeper struct {
	vocab.ClusterNode
	cost  time.Duration // determines the order
	hedge time.Duration // delay until another one is asked
}

// keepers returns the keepers of a shard, in the order in which they are asked.
func (c *Client) keepers(ctx context.Context, shard int) (all []keeper) {
	c.nodes.find(ctx, func(live map[string]vocab.ClusterNode) bool {
		all = c.keepersOf(live, shard)
		return len(all) > 0
	})
	slices.SortFunc(all, func(a, b keeper) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.Certificate, b.Certificate))
	})
	return all
}

// keepersOf returns the keepers of a shard among live nodes.
func (c *Client) keepersOf(live map[string]vocab.ClusterNode, shard int) (all []keeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for certificate, n := range live {
		owns := slices.ContainsFunc(n.Owns, func(w vocab.ShardWork) bool { return w.Shard == shard })
		isKeeper := owns || slices.Contains(n.Whole, shard)
		if !isKeeper || n.Address == "" || certificate == c.id.Certificate {
			continue
		}
		r := c.records[certificate]
		if r == nil {
			r = &record{lacks: map[int]time.Time{}}
			c.records[certificate] = r
		}
		median := r.median(now)
		k := keeper{ClusterNode: n, hedge: max(leastHedge, hedgeFactor*median)}
		k.cost = max(leastSample, median) * time.Duration(1+r.inFlight)
		if !owns {
			k.cost++
		}
		if now.Sub(r.failed) < avoidFor || now.Sub(r.lacks[shard]) < avoidFor {
			k.cost += time.Hour
		}
		all = append(all, k)
	}
	return all
}

// median returns the median of the recent latencies, or 0 if there are none.
func (r *record) median(now time.Time) time.Duration {
	r.samples = slices.DeleteFunc(r.samples, func(s sample) bool { return now.Sub(s.at) > sampleAge })
	if len(r.samples) == 0 {
		return 0
	}
	took := make([]time.Duration, 0, maxSamples) // on the stack
	for _, s := range r.samples {
		took = append(took, s.took)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// ask calls a keeper, and records the outcome.
func (c *Client) ask(ctx context.Context, k *keeper, shard int, request []byte) ([]byte, error) {
	c.mu.Lock()
	r := c.records[k.Certificate]
	r.inFlight++
	c.mu.Unlock()
	began := time.Now()
	reply, err := c.send(ctx, k, shard, request)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	took := now.Sub(began)
	r.inFlight--
	switch {
	case err == nil:
		r.failed = time.Time{}
	case errors.Is(err, ErrRequest), errors.Is(err, ErrGone):
		return nil, err
	case errors.Is(err, ErrNotKept): // of this shard only: its copy became light since it was announced
		r.lacks[shard] = now
		return nil, err
	case ctx.Err() == nil:
		if r.failed.IsZero() {
			c.log.Warn("a call to another node failed; it is asked last for some seconds", "error", err)
		}
		r.failed = now
		return nil, err
	case took <= r.median(now): // it was cancelled, and would have taken longer
		return nil, err
	}
	if len(r.samples) == maxSamples {
		r.samples = slices.Delete(r.samples, 0, 1)
	}
	r.samples = append(r.samples, sample{now, took})
	return reply, err
}

// send calls a node.
func (c *Client) send(ctx context.Context, k *keeper, shard int, request []byte) ([]byte, error) {
	url := fmt.Sprintf("https://%s/shards/%d/calls", k.Certificate, shard)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline() // of Call, if not of its caller
	r.Header.Set(timeoutHeader, strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()), 10))
	r.Header["X-Idempotency-Key"] = nil // it may be sent again if a kept connection is closed
	answer, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("call %s at %s: %w", k.Machine, k.Address, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxError))
		return nil, &remoteError{
			fmt.Errorf("%s at %s: %s: %s", k.Machine, k.Address, answer.Status, bytes.TrimSpace(text)),
			answer.StatusCode,
		}
	}
	reply, err := readBody(answer.Body, answer.ContentLength, maxReply)
	if err != nil {
		return nil, fmt.Errorf("reply of %s at %s: %w", k.Machine, k.Address, err)
	}
	return reply, nil
}

// A remoteError is an error that a server returned.
type remoteError struct {
	error
	status int
}

// Is makes a status equal to the errors that have it.
func (e *remoteError) Is(target error) bool {
	return slices.Contains(statuses, errorStatus{target, e.status})
}
