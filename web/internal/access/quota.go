package access

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"anatomy/web/internal/respond"
)

// DefaultRate is the default number of searches that a client may send in a minute.
const DefaultRate = 1200

// rateWindow is the time in which searches are counted.
const rateWindow = time.Minute

// maxSpenders bounds the clients that are counted at a time, some 100 bytes each. Further ones are
// counted as one.
const maxSpenders = 100_000

// A Quota counts the searches of clients, each from its first search on for rateWindow.
type Quota struct {
	most  int  // in a window
	local bool // clients on this machine count, too
	now   func() time.Time

	mu       sync.Mutex
	spenders map[string]*spender // by client
	swept    time.Time           // when expired spenders were removed
}

type spender struct {
	until time.Time // end of the window
	spent int
}

// NewQuota returns a quota of rate searches a minute, or nil if rate is negative. By default, for 0,
// it is DefaultRate, for clients on other machines.
func NewQuota(rate int, now func() time.Time) *Quota {
	if rate < 0 {
		return nil
	}
	q := &Quota{most: rate, local: rate > 0, now: now, spenders: map[string]*spender{}}
	if rate == 0 {
		q.most = DefaultRate
	}
	return q
}

// spend counts n searches of a client if its window has room for all of them.
func (q *Quota) spend(client string, n int) (left int, reset time.Duration, ok bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.spenders[client]
	if s == nil {
		s = q.add(client, now)
	}
	if !now.Before(s.until) {
		*s = spender{until: now.Add(rateWindow)}
	}
	if ok = s.spent+n <= q.most; ok {
		s.spent += n
	}
	return q.most - s.spent, s.until.Sub(now), ok
}

// add adds a client, after removing those whose windows have ended if there are many.
func (q *Quota) add(client string, now time.Time) *spender {
	if len(q.spenders) >= maxSpenders && now.Sub(q.swept) >= rateWindow {
		q.swept = now
		for name, s := range q.spenders {
			if !now.Before(s.until) {
				delete(q.spenders, name)
			}
		}
	}
	if len(q.spenders) >= maxSpenders {
		client = ""
		if s := q.spenders[client]; s != nil {
			return s
		}
	}
	s := &spender{}
	q.spenders[client] = s
	return s
}

// A Client is who sent a request, as far as limits go: an address, or for IPv6 a network of 64 bits,
// which one machine may have. It is nil for a call that is no request.
type Client struct {
	name  string
	quota *Quota // nil if the client is not limited
}

// NewClient returns the client at an address.
func NewClient(addr string, quota *Quota) *Client {
	c := &Client{addr, quota}
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return c
	}
	if quota != nil && ip.IsLoopback() && !quota.local {
		c.quota = nil
	}
	if ip.Is6() {
		prefix, _ := ip.WithZone("").Prefix(64) // in range
		c.name = prefix.String()
	}
	return c
}

// Name returns the name under which the client is counted.
func (c *Client) Name() string {
	if c == nil {
		return ""
	}
	return c.name
}

// Spend counts n searches of the client and sets the header fields of what is left (IETF draft
// httpapi-ratelimit-headers). If the client may not send as many, it sets Retry-After and returns a
// problem.
func (c *Client) Spend(h http.Header, n int) error {
	if c == nil || c.quota == nil {
		return nil
	}
	left, reset, ok := c.quota.spend(c.name, n)
	seconds := int((reset + time.Second - 1) / time.Second)
	h.Set("RateLimit-Policy", fmt.Sprintf(`"searches";q=%d;w=%d`, c.quota.most, int(rateWindow.Seconds())))
	h.Set("RateLimit", fmt.Sprintf(`"searches";r=%d;t=%d`, left, seconds))
	if ok {
		return nil
	}
	h.Set("Retry-After", fmt.Sprint(seconds))
	return respond.NewProblem(http.StatusTooManyRequests, "rate_limited", "Too many searches", fmt.Sprintf(
		"A client may send %d searches a minute. Try again in %d s.", c.quota.most, seconds))
}

type clientKey struct{}

// WithClient returns a context of a client.
func WithClient(ctx context.Context, c *Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the client of a context, nil if it has none.
func ClientOf(ctx context.Context) *Client {
	c, _ := ctx.Value(clientKey{}).(*Client)
	return c
}
