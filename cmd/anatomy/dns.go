package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/idna"

	"anatomy/crawler/dnsclient"
)

func newDNS() *cobra.Command {
	var o dnsclient.Options
	var stats bool
	c := &cobra.Command{
		Use:   "dns NAME...",
		Short: "resolve host names as a crawl does",
		Long: `Dns resolves names one after the other with the crawler's own client and prints the addresses of each, the time
it took, how long the answer is kept, and the server that gave it. A name given twice comes from the cache.

What a zone allows to be kept for less than half an hour a crawl keeps for half an hour: --min-ttl changes that
here.`,
		Example: `  anatomy dns www.example.org example.com
  anatomy dns --resolver 9.9.9.9 --resolver 149.112.112.112 --stats example.org`,
		Args:              atLeast(1, "names to resolve"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, names []string) error { return runDNS(c, o, stats, names) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&o.Servers, "resolver", nil, "ask the DNS server at `ADDR` (may be repeated; default: the system's)")
	flags.DurationVar(&o.Timeout, "timeout", 10*time.Second, "longest `TIME` for one name")
	flags.DurationVar(&o.MinTTL, "min-ttl", 30*time.Minute, "least `TIME` that an answer is kept; 0 for what the zone says")
	flags.BoolVar(&stats, "stats", false, "the client's counters at the end")
	return c
}

// runDNS resolves names and fails at the end where any of them could not be.
func runDNS(c *cobra.Command, o dnsclient.Options, stats bool, names []string) (err error) {
	if o.Timeout <= 0 || o.MinTTL < 0 {
		return usagef("--timeout is over 0, --min-ttl is not negative")
	}
	if o.MinTTL == 0 {
		o.MinTTL = -1 // there 0 means the default
	}
	client, err := dnsclient.New(o)
	if err != nil {
		return usageError{error: err}
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(c.Context()) }()
	defer func() { err = errors.Join(err, client.Close(), <-ended) }()

	failed := 0
	for _, name := range names {
		begun := time.Now()
		answer, err := client.Resolve(c.Context(), ascii(name))
		if c.Context().Err() != nil {
			return c.Context().Err()
		}
		if err != nil {
			failed++
		}
		if _, err := fmt.Fprintln(c.OutOrStdout(), answerLine(name, answer, err, time.Since(begun))); err != nil {
			return err
		}
	}
	if stats {
		if err := printDNSStats(c.OutOrStdout(), client.Stats()); err != nil {
			return err
		}
	}
	if failed > 0 {
		return hinted(fmt.Errorf("dns: %d of %d names not resolved", failed, len(names)), "another server may know them: --resolver ADDR")
	}
	return nil
}

// ascii is a name as DNS writes it. One that is no international name is the client's to judge.
func ascii(name string) string {
	if to, err := idna.Lookup.ToASCII(name); err == nil {
		return to
	}
	return name
}

// answerLine is "www.example.org  192.0.2.1 2001:db8::1  12.3 ms  kept 30m0s  by 9.9.9.9:53".
func answerLine(name string, a dnsclient.Answer, err error, took time.Duration) string {
	parts := []string{name, spaced(a.Addrs), fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)}
	if err != nil {
		parts[1] = "- (" + reason(err) + ")"
	}
	if a.TTL > 0 {
		parts = append(parts, "kept "+a.TTL.Round(time.Second).String())
	}
	return strings.Join(append(parts, source(a)...), "  ")
}

func spaced(addrs []netip.Addr) string { return strings.Trim(fmt.Sprint(addrs), "[]") }

// reason is the last part of an error of the client, which names it and the host before.
func reason(err error) string {
	for _, known := range []error{dnsclient.ErrNoName, dnsclient.ErrTimeout, dnsclient.ErrServer} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

func source(a dnsclient.Answer) []string {
	from := ""
	if a.Server.IsValid() {
		from = " by " + a.Server.String()
	}
	switch a.Source {
	case dnsclient.FromLiteral:
		return []string{"no query needed"}
	case dnsclient.FromCache:
		return []string{"cache, answered" + from}
	case dnsclient.FromStale:
		return []string{"cache, expired, answered" + from}
	}
	if from == "" {
		return nil
	}
	return []string{"answered" + from}
}

func printDNSStats(w io.Writer, st dnsclient.Stats) error {
	if _, err := fmt.Fprintf(w, "\n%d from cache, %d asked, %d packets sent (%d again), %d answers, %d over TCP, %d strays, %d malformed\n",
		st.Hits+st.Stale, st.Misses, st.Queries, st.Retries, st.Answers, st.Truncated, st.Strays, st.Malformed); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "server\tqueries\ttimed out\tround trip\tsent again after\t")
	for _, s := range st.Servers {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f ms\t%d ms\t\n", s.Addr, s.Queries, s.Timeouts, float64(s.RTT.Microseconds())/1000, s.Retry.Milliseconds())
	}
	return t.Flush()
}
