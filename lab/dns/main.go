// Command dns measures the crawler's DNS client on a stream of names like that of a crawl: Zipf over
// some thousands of names, and a name server that is slow and loses packets.
//
//	go run ./lab/dns [--server ADDRESS] [--unbound /usr/sbin/unbound]
//
// First the client resolves the stream; then one socket with a map, unbound, and net.Resolver as much
// of it as a short period allows. Then
// come figures 6 to 8 of CY09: names resolved over time by a blocking resolver, with a cache, with
// asynchrony, with both.
//
// Without --server the name server is in this program, and its processor time is included. Another one
// must resolve every name under many.test, as docsweb does:
//
//	docsweb serve -root DIR -dns 127.0.0.1:5454 -http :8401 -https '' -dns-latency 20ms -dns-loss 0.01
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// options are the flags.
type options struct {
	server  string
	lookups int
	names   int
	skew    float64
	atOnce  int
	threads int
	period  time.Duration
	seed    uint64
	unbound string
	only    string
	svg     string
}

func main() {
	var o options
	flag.StringVar(&o.server, "server", "", "name server to measure with, address:port; default one in this program")
	flag.IntVar(&o.lookups, "lookups", 200_000, "length of the stream")
	flag.IntVar(&o.names, "names", 30_000, "different names that the stream draws from")
	flag.Float64Var(&o.skew, "skew", 1.1, "exponent of the Zipf distribution, over 1")
	flag.IntVar(&o.atOnce, "at-once", 1024, "lookups at once")
	flag.IntVar(&o.threads, "threads", 64, "threads that the blocking resolvers have in the figures")
	flag.DurationVar(&o.period, "period", 10*time.Second, "length of each row of the figures, and of net.Resolver's turn")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the stream")
	flag.StringVar(&o.only, "only", "", "stream or figures; default both")
	flag.StringVar(&o.svg, "svg", "", "draw the figures to `FILE`")
	flag.StringVar(&o.unbound, "unbound", "", "the program unbound, to compare with; default none")
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "dns:", err)
		os.Exit(2)
	}
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "dns:", err)
		os.Exit(1)
	}
}

func (o *options) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q is no flag", flag.Arg(0))
	case o.lookups < 1 || o.names < 1 || o.atOnce < 1 || o.threads < 1 || o.period <= 0 || o.skew <= 1:
		return fmt.Errorf("--lookups, --names, --at-once, --threads and --period are over 0, --skew is over 1")
	case o.svg != "" && o.only == "stream":
		return fmt.Errorf("--svg draws the figures, and --only stream leaves them out")
	case o.only != "" && o.only != "stream" && o.only != "figures":
		return fmt.Errorf("--only is stream or figures")
	}
	return nil
}

func run(ctx context.Context, o options) error {
	addr := o.server
	if addr == "" {
		s, err := startServer()
		if err != nil {
			return err
		}
		defer s.close()
		addr = s.addr()
	}
	fmt.Printf("seed %d, Zipf %.2f over %d names, name server %s\n", o.seed, o.skew, o.names, described(o.server))
	if o.only != "figures" {
		if err := measureStream(ctx, o, addr); err != nil {
			return err
		}
	}
	if o.only != "stream" {
		return drawFigures(ctx, o, addr)
	}
	return nil
}

func described(server string) string {
	if server == "" {
		return "in this program: 20 ms, one name in twenty 200 ms, 1 % of packets lost"
	}
	return server
}

// stream is n names in the order of a crawl.
func (o *options) stream(n int) []string {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(o.seed, 0)), o.skew, 1, uint64(o.names-1))
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("h%d.many.test", zipf.Uint64())
	}
	return names
}
