package dnsclient

import (
	"cmp"
	"errors"
	"time"
)

// The errors of Lookup, wrapped with the host's name.
var (
	ErrNoName  = errors.New("no such name")          // the name does not exist or has no address
	ErrTimeout = errors.New("no answer in time")     // from any server
	ErrServer  = errors.New("name servers failed")   // SERVFAIL, REFUSED or the like, from all servers
	ErrClosed  = errors.New("DNS client is stopped") // Run has returned
)

// Options of a Client. The zero value reads /etc/resolv.conf and has the paper's numbers.
type Options struct {
	Servers []string // "address" or "address:port"; default those of /etc/resolv.conf, else 127.0.0.1

	Names       int           // names in the cache; default 50,000
	MinTTL      time.Duration // least time to live; default 1,800 s, negative for none
	MaxTTL      time.Duration // most time to live; default 24 h
	NegativeTTL time.Duration // time to live of a name that does not exist; default 5 min
	FailureTTL  time.Duration // time to live of a failure (RFC 9520 §3.2); default 5 s
	Stale       time.Duration // how long an expired answer is used; default 24 h, negative for never

	Queue     int           // names that wait for the sender; default 1,024
	InFlight  int           // names in flight; default 4,096, at most 8,192
	PerServer int           // of these at one name server; default 1,024
	Ports     int           // UDP source ports per name server at a time; default 32, at most 64
	Timeout   time.Duration // for one name, all retries included; default 10 s
	MinRetry  time.Duration // least retransmission time; default 100 ms

	Now func() time.Time // for the age of answers; default the monotonic clock, to a second
}

func (o Options) withDefaults() Options {
	o.Names = cmp.Or(o.Names, 50_000)
	o.MinTTL = max(cmp.Or(o.MinTTL, 1800*time.Second), 0)
	o.MaxTTL = cmp.Or(o.MaxTTL, 24*time.Hour)
	o.NegativeTTL = cmp.Or(o.NegativeTTL, 5*time.Minute)
	o.FailureTTL = cmp.Or(o.FailureTTL, 5*time.Second)
	o.Stale = max(cmp.Or(o.Stale, 24*time.Hour), 0)
	o.Queue = cmp.Or(o.Queue, 1024)
	o.InFlight = min(cmp.Or(o.InFlight, 4096), 8192)
	o.PerServer = cmp.Or(o.PerServer, 1024)
	o.Ports = min(cmp.Or(o.Ports, 32), 64)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.MinRetry = cmp.Or(o.MinRetry, 100*time.Millisecond)
	return o
}
