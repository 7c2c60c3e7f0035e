// Package resolve has the command dns.
package resolve

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

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/crawler/dnsclient"
	"anatomy/internal/plural"
)

// New returns the command dns.
func New() *cobra.Command {
	var o dnsclient.Options
	var stats bool
	c := &cobra.Command{
		Use:   "dns NAME...",
		Short: "resolve host names as a crawl does",
		Long: `Dns resolves names with the crawler's DNS client, one after the other, and prints addresses, time, how long the
answer is cached, and the server that sent it. The second look-up of a name is answered from the cache.

A crawl caches answers for at least half an hour, even if their TTL is shorter. --min-ttl changes that here.`,
		Example: `  anatomy dns www.example.org example.com
  anatomy dns --resolver 9.9.9.9 --resolver 149.112.112.112 --stats example.org`,
		Args:              cli.MinArgs(1, "names to resolve"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, names []string) error { return runDNS(c, o, stats, names) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&o.Servers, "resolver", nil, "use the DNS server at `ADDR` (repeatable; default: the system's)")
	cli.DurationVar(flags, &o.Timeout, "timeout", 10*time.Second, "maximum `TIME` for one name")
	cli.DurationVar(flags, &o.MinTTL, "min-ttl", 30*time.Minute, "cache answers for at least `TIME`; 0 for their TTL")
	flags.BoolVar(&stats, "stats", false, "print the client's counters at the end")
	return c
}

// runDNS resolves all names, and then fails if one of them did not resolve.
func runDNS(c *cobra.Command, o dnsclient.Options, stats bool, names []string) (err error) {
	if o.Timeout <= 0 || o.MinTTL < 0 {
		return cli.UsageErrorf("--timeout must be above 0, --min-ttl at least 0")
	}
	if o.MinTTL == 0 {
		o.MinTTL = -1 // 0 means the default there
	}
	client, err := dnsclient.New(o)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Run(c.Context()) }()
	defer func() { client.Close(); err = errors.Join(err, <-ended) }()

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
		return cli.WithHint(fmt.Errorf("dns: %d of %d names not resolved", failed, len(names)), "try another server: --resolver ADDR")
	}
	return nil
}

// ascii returns a name in the ASCII form of DNS, or unchanged if it is not a valid international name.
func ascii(name string) string {
	if to, err := idna.Lookup.ToASCII(name); err == nil {
		return to
	}
	return name
}

// answerLine returns a line such as "www.example.org  192.0.2.1 2001:db8::1  12.3 ms  kept 30 minutes  by 9.9.9.9:53".
func answerLine(name string, a dnsclient.Answer, err error, took time.Duration) string {
	parts := []string{name, spaced(a.Addrs), fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)}
	if err != nil {
		parts[1] = "- (" + reason(err) + ")"
	}
	if a.TTL > 0 {
		parts = append(parts, "kept "+plural.Duration(a.TTL.Round(time.Second)))
	}
	return strings.Join(append(parts, source(a)...), "  ")
}

func spaced(addrs []netip.Addr) string { return strings.Trim(fmt.Sprint(addrs), "[]") }

// reason returns an error of the client without the client's and the host's names.
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
	if _, err := fmt.Fprintf(w, "\n%d from cache, %d not, %d packets sent, %d of them retries, %d answers, %d over TCP, %d unsolicited, %d malformed, %d in another letter case\n",
		st.Hits+st.Stale, st.Misses, st.Queries, st.Retries, st.Answers, st.OverTCP, st.Strays, st.Malformed, st.Recased); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "server\tqueries\ttimed out\tround trip\tretry after\t")
	for _, s := range st.Servers {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f ms\t%d ms\t\n", s.Addr, s.Queries, s.Timeouts, float64(s.RTT.Microseconds())/1000, s.Retry.Milliseconds())
	}
	return t.Flush()
}
