// Package history records the crawls of a data folder, and has the command that shows them.
package history

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/crawllog"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/urlserver"
)

// A Run is a crawl in progress.
type Run struct {
	dir    string
	by     string
	how    string
	began  time.Time
	before engine.CrawlStats
}

// Begin returns a crawl that begins now. by is a constant of crawllog: the trigger of the crawl.
func Begin(o *engine.Options, by string, before engine.CrawlStats) *Run {
	how := "crawl"
	switch o.URLs.Recrawl.Mode {
	case urlserver.RecrawlDue:
		how = "recrawl"
	case urlserver.Watch:
		how = "watch"
	}
	return &Run{dir: o.Dir, by: by, how: how, began: time.Now(), before: before}
}

// End records the end of the crawl with err; nil means that its queues are empty. errors are its fetches
// without a page, by kind. The caller holds the lock of the folder.
func (r *Run) End(stats engine.CrawlStats, errors map[string]int64, stopped bool, err error) error {
	c := crawllog.Crawl{
		Began: r.began, Ended: time.Now(), How: r.how, By: r.by, Result: crawllog.Done,
		New: max(0, stats.Pages-r.before.Pages), Visited: stats.Revisits.Visited, Changed: stats.Revisits.Changed,
		Left: stats.Revisits.Left, Failed: max(0, stats.Errors()-r.before.Errors()), Pages: stats.Pages,
		Errors: errors,
	}
	switch {
	case err != nil && !cli.IsInterrupted(err):
		c.Result, c.Reason = crawllog.Failed, cli.ErrorText(err)
	case stopped:
		c.Result = crawllog.Stopped
	}
	return crawllog.Append(r.dir, c)
}

// New returns the command crawl history.
func New(s *cli.GlobalFlags) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "history",
		Short: "show the last crawls of the data folder",
		Long: fmt.Sprintf(`History prints the last crawls that ended, the newest first: when each began, how long it took, what began it, and how
many pages were new, were visited again, had changed, left the results, or could not be fetched. The data folder keeps
%d crawls. One that was killed is not among them.`, crawllog.MaxCrawls),
		Example: "  anatomy crawl history\n  anatomy crawl history --json",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := shards.Check(s.Data); err != nil {
				return err
			}
			all, err := crawllog.Read(s.Data)
			switch {
			case err != nil:
				return cli.WithHint(err, "correct the line, or delete the file")
			case asJSON:
				return cli.PrintJSON(c.OutOrStdout(), all)
			case len(all) == 0:
				_, err := fmt.Fprintf(c.OutOrStdout(), "No crawl of %s has ended yet.\n", s.Data)
				return err
			}
			return show(c, all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// show prints crawls as a table, in local time.
func show(c *cobra.Command, all []crawllog.Crawl) error {
	t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "began\ttook\tcrawl\tby\tnew\trevisited\tchanged\tleft\tfailed\tpages\tresult")
	for _, r := range all {
		result := r.Result
		if r.Reason != "" {
			result += ": " + r.Reason
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n",
			r.Began.Local().Format("2006-01-02 15:04"), r.Ended.Sub(r.Began), cli.OneLine(r.How), cli.OneLine(r.By),
			r.New, r.Visited, r.Changed, r.Left, r.Failed, r.Pages, cli.OneLine(result))
	}
	if len(all[0].Errors) > 0 {
		fmt.Fprintf(t, "fetches without a page in the newest: %s\n", cli.OneLine(cli.Tally(all[0].Errors)))
	}
	return t.Flush()
}
