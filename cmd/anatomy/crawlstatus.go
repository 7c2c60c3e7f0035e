package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"anatomy/engine"
	"anatomy/vocab"
)

// controls are the commands below crawl that speak with the crawl that runs.
func controls(s *shared) []*cobra.Command {
	control := func() *engine.Control { return engine.NewControl(s.data) }
	return []*cobra.Command{
		newCrawlStatus(s),
		{
			Use: "pause", Short: "stop fetching until it is resumed",
			Long:    "Pause has the crawl that runs on the data folder ask nothing of anyone. What is being fetched is broken off, and\nfetched again later. A pause ends with the crawl's process.",
			Example: "  anatomy crawl pause",
			Args:    exactly(0, "no arguments"),
			RunE: func(c *cobra.Command, _ []string) error {
				return said(c, control().Pause(c.Context()), "Paused; anatomy crawl resume goes on.")
			},
		},
		{
			Use: "resume", Short: "go on after a pause", Long: "Resume has a crawl that was paused go on.",
			Example: "  anatomy crawl resume",
			Args:    exactly(0, "no arguments"),
			RunE: func(c *cobra.Command, _ []string) error {
				return said(c, control().Resume(c.Context()), "Crawling.")
			},
		},
		{
			Use: "add URL...", Short: "more URLs to start from, for the crawl that runs",
			Long:              "Add gives the crawl that runs on the data folder more URLs to start from, and says what becomes of each. They\nwiden the crawl as those that it began with.",
			Example:           "  anatomy crawl add https://wiki.example.org/",
			Args:              atLeast(1, "URLs"),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, urls []string) error {
				added, err := control().Add(c.Context(), urls)
				for _, a := range added {
					fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", a.URL, a.State)
				}
				return err
			},
		},
		newCrawlDelay(control),
		{
			Use: "remove PATTERN...", Short: "take hosts or URLs out of the crawl that runs",
			Long: `Remove takes what matches out of the queues, and what is found of it later, until the crawl's process ends: to
keep it out of the next, give that the same pattern with --exclude. A pattern is as of --exclude, or the name of a
host. Pages that were fetched stay.`,
			Example:           "  anatomy crawl remove slow.example.org\n  anatomy crawl remove 'example.org/calendar/*'",
			Args:              atLeast(1, "hosts or patterns"),
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, patterns []string) error {
				for _, p := range patterns {
					left, err := control().Remove(c.Context(), p)
					if err != nil {
						return err
					}
					fmt.Fprintf(c.OutOrStdout(), "%s: %d URLs left the queues\n", p, left)
				}
				return nil
			},
		},
	}
}

func newCrawlDelay(control func() *engine.Control) *cobra.Command {
	return &cobra.Command{
		Use: "delay SITE TIME", Short: "another time between requests to one site, for the crawl that runs",
		Long: `Delay has the crawl that runs wait so long between requests to the site of a host, whatever its robots.txt says,
until the crawl's process ends: --delay-for tells the next. 0s is none, and "usual" is what counts for all.
The site is the registrable domain with all its hosts, unless --delay-for named a host of it.`,
		Example:           "  anatomy crawl delay slow.example.org 10s\n  anatomy crawl delay slow.example.org usual",
		Args:              exactly(2, "a host and a time"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
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
			return said(c, err, fmt.Sprintf("%s: %s between requests.", site, delayText(d)))
		},
	}
}

func delayText(d time.Duration) string {
	switch {
	case d == 0:
		return "the usual time"
	case d < 0:
		return "nothing"
	}
	return d.String()
}

func said(c *cobra.Command, err error, what string) error {
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), what)
	}
	return err
}

func newCrawlStatus(s *shared) *cobra.Command {
	var asJSON bool
	var every time.Duration
	c := &cobra.Command{
		Use: "status", Short: "what the crawl that runs does, and why it waits",
		Long: `Status asks the crawl that runs on the data folder: pages a second, and how many the delays of all sites together
allow; the queue of each host and why it waits; errors by kind; how often the caches were right. The page /crawl of
"anatomy serve" shows the same.`,
		Example: "  anatomy crawl status\n  anatomy crawl status --every 5s\n  anatomy crawl status --json",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if every < 0 {
				return usagef("--every %s is negative", every)
			}
			return repeat(c.Context(), every, func() error {
				st, err := engine.NewControl(s.data).Status(c.Context())
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(c.OutOrStdout(), st)
				}
				return printCrawlStatus(c.OutOrStdout(), st)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, the same as /crawl/status")
	c.Flags().DurationVar(&every, "every", 0, "print again after each `TIME`, until the crawl ends")
	return c
}

// repeat does something once or, where a time is given, until a crawl that was there is no more.
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

// shownHosts is how many hosts the text names; --json names vocab.MaxHostStatus.
const shownHosts = 20

func printCrawlStatus(w io.Writer, st *vocab.CrawlStatus) error {
	fmt.Fprintf(w, "%s, process %d, for %s\n", st.State, st.Process, st.At.Sub(st.Began).Round(time.Second))
	fmt.Fprintf(w, "%s of %s known; %d queued, %d in flight; %s searchable\n", counted(st.Pages, "page"), counted(st.Known, "URL"), st.Queued, st.InFlight, counted(st.Searchable, "document"))
	fmt.Fprintf(w, "%.1f pages/s; %s\n", st.Rate, boundText(st))
	fmt.Fprintf(w, "caches: DNS %s, URLs %s; %d requests, %.1f MB\n", share(st.DNSHits, st.DNSMisses), share(st.URLHits, st.URLMisses), st.Requests, float64(st.Bytes)/1e6)
	if st.Scrubbed > 0 {
		fmt.Fprintf(w, "%.1f MB of the repository were read again, %d times all of it\n", float64(st.Scrubbed)/1e6, st.Scrubs)
	}
	if st.Damaged > 0 {
		fmt.Fprintf(w, "the repository is damaged in %d places: end the crawl, and anatomy check --repair\n", st.Damaged)
	}
	if len(st.Errors) > 0 {
		fmt.Fprintln(w, "\nfetches without a page, of this run:")
		for _, kind := range byCount(st.Errors) {
			fmt.Fprintf(w, "%8d  %s\n", st.Errors[kind], kind)
		}
	}
	for _, pattern := range st.Removed {
		fmt.Fprintf(w, "\nremoved from this run: %s\n", pattern)
	}
	if st.HostCount == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%d hosts have URLs to fetch\n", st.HostCount)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "host\tqueued\tpages\tdelay\tanswer\twhy it waits")
	for _, h := range st.Hosts[:min(len(st.Hosts), shownHosts)] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s%s\n", h.Host, h.Queued, h.Pages, span(h.Delay), span(h.Answer), h.Why, until(&h, st.At))
	}
	return t.Flush()
}

// boundText says what politeness allows.
func boundText(st *vocab.CrawlStatus) string {
	switch {
	case st.Bounded == 0 && st.Unbound == 0:
		return "no site has anything queued"
	case st.Unbound > 0:
		return fmt.Sprintf("politeness sets no bound: %d sites have no delay, %d allow %.1f pages/s", st.Unbound, st.Bounded, st.Bound)
	}
	return fmt.Sprintf("the delays of %d sites allow %.1f", st.Bounded, st.Bound)
}

func share(hits, misses int64) string {
	if hits+misses == 0 {
		return "not asked"
	}
	return fmt.Sprintf("%.1f %% hits", 100*float64(hits)/float64(hits+misses))
}

func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func until(h *vocab.HostStatus, now time.Time) string {
	if left := h.Until.Sub(now); left > 0 {
		return ", " + span(left) + " more"
	}
	return ""
}

func byCount(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}
