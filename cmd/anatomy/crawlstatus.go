package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/history"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/control"
	"anatomy/disk/damage"
	"anatomy/internal/plural"
	"anatomy/vocab"
	"anatomy/weburl"
)

// newCrawlControls returns the subcommands of crawl: history, and the controls of a running crawl.
func newCrawlControls(s *cli.GlobalFlags) []*cobra.Command {
	control := func() *control.Client { return control.NewForFolder(s.Data) }
	return []*cobra.Command{
		newCrawlStatus(s),
		history.New(s),
		{
			Use: "pause", Short: "pause the running crawl",
			Long:    "Pause stops the running crawl from fetching. Fetches under way are cancelled and repeated later. A pause ends\nwith the crawl's process.",
			Example: "  anatomy crawl pause",
			Args:    cli.ExactArgs(0, "no arguments"),
			RunE: record.Calls(s, func(c *cobra.Command, _ []string) error {
				return printIfOK(c, control().Pause(c.Context()), "Paused. To continue: anatomy crawl resume")
			}),
		},
		{
			Use: "resume", Short: "continue after a pause", Long: "Resume continues a paused crawl.",
			Example: "  anatomy crawl resume",
			Args:    cli.ExactArgs(0, "no arguments"),
			RunE: record.Calls(s, func(c *cobra.Command, _ []string) error {
				return printIfOK(c, control().Resume(c.Context()), "Crawling.")
			}),
		},
		{
			Use: "add URL...", Short: "add start URLs to the running crawl",
			Long:              "Add adds start URLs to the running crawl and prints the state of each. They extend the scope of the crawl.",
			Example:           "  anatomy crawl add https://wiki.example.org/",
			Args:              cli.MinArgs(1, "URLs"),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: record.Calls(s, func(c *cobra.Command, urls []string) error {
				for _, u := range urls {
					if _, err := weburl.ParseTyped(u); err != nil {
						return cli.UsageError{Err: err}
					}
				}
				added, err := control().Add(c.Context(), urls)
				for _, a := range added {
					fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", a.URL, a.State)
				}
				return err
			}),
		},
		newCrawlDelay(s, control),
		{
			Use: "remove PATTERN...", Short: "remove hosts or URLs from the running crawl",
			Long: `Remove removes matching URLs from the queues, and keeps out those found later, until the crawl's process ends. For
later crawls use --exclude. A pattern is the name of a host, or a pattern as in --exclude. Fetched pages stay;
"anatomy remove" removes them.`,
			Example:           "  anatomy crawl remove slow.example.org\n  anatomy crawl remove 'example.org/calendar/*'",
			Args:              cli.MinArgs(1, "hosts or patterns"),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: record.Calls(s, func(c *cobra.Command, patterns []string) error {
				for _, p := range patterns {
					left, err := control().Remove(c.Context(), p)
					if err != nil {
						return err
					}
					fmt.Fprintf(c.OutOrStdout(), "%s: %d URLs removed from the queues\n", p, left)
				}
				return nil
			}),
		},
	}
}

func newCrawlDelay(s *cli.GlobalFlags, control func() *control.Client) *cobra.Command {
	return &cobra.Command{
		Use: "delay SITE TIME", Short: "set the delay of a site in the running crawl",
		Long: `Delay sets the time between requests to the site of a host until the crawl's process ends. It overrides robots.txt.
0s is no delay, and "usual" returns to the crawl's default. For later crawls use --delay-for.
The site is the registrable domain with all its hosts, unless --delay-for named a host of it.`,
		Example:           "  anatomy crawl delay slow.example.org 10s\n  anatomy crawl delay slow.example.org usual",
		Args:              cli.ExactArgs(2, "a host and a time"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: record.Calls(s, func(c *cobra.Command, args []string) error {
			host, err := parseSite(args[0])
			if err != nil {
				return err
			}
			var d time.Duration
			if args[1] != "usual" {
				if d, err = parseDelay(args[1]); err != nil {
					return err
				}
			}
			site, err := control().SetDelay(c.Context(), host, d)
			return printIfOK(c, err, fmt.Sprintf("%s: %s between requests.", site, delayText(d)))
		}),
	}
}

func delayText(d time.Duration) string {
	switch {
	case d == 0:
		return "the default delay"
	case d < 0:
		return "no delay"
	}
	return plural.Duration(d)
}

// printIfOK prints text if err is nil, and returns err.
func printIfOK(c *cobra.Command, err error, text string) error {
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), text)
	}
	return err
}

func newCrawlStatus(s *cli.GlobalFlags) *cobra.Command {
	var asJSON bool
	var every time.Duration
	c := &cobra.Command{
		Use: "status", Short: "show the state of the running crawl and why it waits",
		Long: `Status shows the running crawl: pages per second and how many the delays of the sites allow; the queue of each host
and why it waits; errors by kind; hit ratios of the caches. The page /crawl of "anatomy serve" shows the same.`,
		Example: "  anatomy crawl status\n  anatomy crawl status --every 5s\n  anatomy crawl status --json",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if every < 0 {
				return cli.UsageErrorf("--every %s is negative", every)
			}
			return repeat(c.Context(), every, func() error {
				st, err := control.NewForFolder(s.Data).Status(c.Context())
				switch {
				case err != nil:
					return err
				case asJSON:
					return cli.PrintJSON(c.OutOrStdout(), st)
				}
				return printCrawlStatus(c.OutOrStdout(), st)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as /crawl/status does")
	cli.DurationVar(c.Flags(), &every, "every", 0, "print again every `TIME` until the crawl ends")
	return c
}

// repeat calls do once if every is 0, and otherwise at that interval until the crawl has ended.
func repeat(ctx context.Context, every time.Duration, do func() error) error {
	for times := 0; ; times++ {
		err := do()
		switch {
		case times > 0 && errors.Is(err, vocab.ErrNoCrawl):
			return nil
		case err != nil || every == 0:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

// perPage returns the requests that a new page takes: ", 1.31 requests for each new page".
func perPage(st *vocab.CrawlStatus) string {
	if st.RequestsPerPage == 0 {
		return ""
	}
	return fmt.Sprintf(", %.2f requests for each new page", st.RequestsPerPage)
}

// shownHosts is the number of hosts that the text lists; --json lists up to vocab.MaxHostStatus.
const shownHosts = 20

// printCrawlers lists the crawlers of other machines.
func printCrawlers(w io.Writer, st *vocab.CrawlStatus) {
	if len(st.Crawlers) == 0 {
		return
	}
	fmt.Fprintln(w, "\ncrawlers:")
	for _, c := range st.Crawlers {
		fmt.Fprintf(w, "  %-20s %10s %10s %8.1f MB  heard %s ago  %s\n", c.Name, plural.Count(c.Leases, "lease"), plural.Count(c.Pages, "page"), float64(c.Bytes)/1e6, plural.Duration(max(0, st.At.Sub(c.Heard)).Round(time.Second)), c.Version)
	}
}

func printCrawlStatus(w io.Writer, st *vocab.CrawlStatus) error {
	fmt.Fprintf(w, "%s, process %d, for %s\n", st.State, st.Process, plural.Duration(st.At.Sub(st.Began).Round(time.Second)))
	fmt.Fprintf(w, "%s of %s known; %d queued, %d in flight; %d searchable\n", plural.Count(st.Pages, "page"), plural.Count(st.Known, "URL"), st.Queued, st.InFlight, st.Searchable)
	fmt.Fprintf(w, "%.1f pages/s; %s%s\n", st.Rate, boundText(st), limitText(st))
	if st.Harvest != nil {
		fmt.Fprintln(w, st.Harvest)
	}
	if st.Phase.Name != "" {
		fmt.Fprintln(w, st.Phase)
	}
	fmt.Fprintf(w, "caches: DNS %s, URLs %s; %d requests, %.1f MB%s\n", cli.FormatHitRatio(st.DNSHits, st.DNSMisses), cli.FormatHitRatio(st.URLHits, st.URLMisses), st.Requests, float64(st.Bytes)/1e6, perPage(st))
	if st.Scrubbed > 0 {
		fmt.Fprintf(w, "%.1f MB of the repository verified, complete passes: %d\n", float64(st.Scrubbed)/1e6, st.Scrubs)
	}
	if st.Damaged > 0 {
		fmt.Fprintf(w, "the data folder is damaged (problems: %d); end the crawl and run: %s\n", st.Damaged, damage.Repair)
	}
	printCrawlers(w, st)
	if len(st.Errors) > 0 {
		fmt.Fprintln(w, "\nfailed fetches of this run:")
		for _, kind := range vocab.KeysByCount(st.Errors) {
			fmt.Fprintf(w, "%8d  %s\n", st.Errors[kind], kind)
			if example := st.ErrorExamples[kind]; example != "" {
				fmt.Fprintf(w, "          such as %s\n", cli.OneLine(example))
			}
		}
	}
	for _, pattern := range st.Removed {
		fmt.Fprintf(w, "\nremoved from this run: %s\n", pattern)
	}
	if st.HostCount == 0 {
		return nil
	}
	have := "have"
	if st.HostCount == 1 {
		have = "has"
	}
	fmt.Fprintf(w, "\n%s %s URLs to fetch\n", plural.Count(st.HostCount, "host"), have)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "host\tqueued\tpages\tdelay\tanswer\twhy it waits")
	for _, h := range st.Hosts[:min(len(st.Hosts), shownHosts)] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s%s\n", h.Host, h.Queued, h.Pages, cli.FormatDuration(h.Delay), cli.FormatDuration(h.Answer), h.Why, until(&h, st.At))
	}
	return t.Flush()
}

// boundText returns the rate that the delays of the sites allow.
func boundText(st *vocab.CrawlStatus) string {
	none := st.Bounded == 0 && st.Unbound == 0
	switch {
	case none && st.Queued > 0 && !st.NextRetry.IsZero():
		wait := max(0, st.NextRetry.Sub(st.At)).Round(time.Second)
		return fmt.Sprintf("%s wait for another attempt, the first for %s", plural.Count(int(st.Queued), "URL"), plural.Duration(wait))
	case none && st.Queued > 0:
		return "no queued URL is due"
	case none:
		return "all queues are empty"
	case st.Unbound > 0:
		return fmt.Sprintf("without a delay: %s; the delays of %s allow %.1f pages/s", plural.Count(st.Unbound, "site"), plural.Count(st.Bounded, "site"), st.Bound)
	}
	return fmt.Sprintf("the delays of %s allow %.1f pages/s", plural.Count(st.Bounded, "site"), st.Bound)
}

// limitText returns the limit that the operator set, as the end of a line.
func limitText(st *vocab.CrawlStatus) string {
	switch {
	case st.RateLimit == 0:
		return ""
	case len(st.Crawlers) > 0:
		return fmt.Sprintf("; each crawler receives at most %.4g MB/s", float64(st.RateLimit)/1e6)
	}
	return fmt.Sprintf("; at most %.4g MB/s are received", float64(st.RateLimit)/1e6)
}

// until returns how much longer a host waits, as the end of a line.
func until(h *vocab.HostStatus, now time.Time) string {
	if left := h.Until.Sub(now); left > 0 {
		return ", " + plural.Duration(left.Round(time.Second)) + " more"
	}
	return ""
}
