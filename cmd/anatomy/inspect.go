package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/ranks"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/collection"
	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/internal/plural"
	"anatomy/ranking"
	"anatomy/upkeep"
	"anatomy/weburl"
)

func newStats(s *cli.GlobalFlags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "print the sizes of all structures",
		Long: `Stats prints the number of pages, terms, hits and links, and the size of each structure in bytes per page, beside
Table 1 of the paper.`,
		Example: "  anatomy stats\n  anatomy stats --json",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			i, err := collection.ReadInventory(s.Data)
			if err != nil {
				return err
			}
			if err := i.AddOutcomes(c.Context(), s.Data); err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), i)
			}
			return printInventory(c.OutOrStdout(), i)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as /api/v1/stats does, with the outcomes of fetches")
	return c
}

func printInventory(w io.Writer, i *collection.Inventory) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "searchable pages %d, and %d known only by links; segments %d; links %d\n", i.Pages, i.Uncrawled, i.Segments, i.Links)
	fmt.Fprintf(w, "terms %d, postings %d, hits %d\n\n", i.Words, i.Postings, i.Hits)
	if i.OldTerms > 0 {
		fmt.Fprintf(w, "%s of an earlier version, in which Thai, Lao, Khmer, Burmese, Arabic, Hebrew and Hindi words are found less well. To renew: anatomy index\n\n",
			plural.Count(i.OldTerms, "segment"))
	}
	if text := i.Scripted.String(); text != "" {
		fmt.Fprintf(w, "%s\n\n", text)
	}
	fmt.Fprintln(t, "structure\tMB\tbytes per page\tpaper, bytes per page\t")
	for _, r := range i.Rows {
		paper := ""
		if r.Paper > 0 {
			paper = fmt.Sprintf("%.0f", r.Paper)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.0f\t%s\t\n", r.Name, float64(r.Bytes)/1e6, float64(r.Bytes)/float64(max(1, i.Pages)), paper)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if i.Rank != "" {
		fmt.Fprintf(w, "\nPageRank: %s\n", i.Rank)
	}
	for _, r := range i.Ranks {
		if r.Name != ranking.Default {
			fmt.Fprintf(w, "vector %s: computed %s\n", r.Name, r.Computed.Format("2006-01-02 15:04:05"))
		}
	}
	ranks.Advise(w, i.Ranks)
	var outcomes []string
	for _, name := range slices.Sorted(maps.Keys(i.Outcomes)) {
		outcomes = append(outcomes, fmt.Sprintf("%d %s", i.Outcomes[name], name))
	}
	if len(outcomes) > 0 {
		fmt.Fprintf(w, "fetches: %s\n", strings.Join(outcomes, ", "))
	}
	return nil
}

// shownProblems is the number of problems that check lists.
const shownProblems = 100

// errDamaged is the error of check after it has printed the problems.
var errDamaged = errors.New("the data folder is damaged")

func newCheck(s *cli.GlobalFlags) *cobra.Command {
	var repair bool
	c := &cobra.Command{
		Use:   "check",
		Short: "verify every byte of the data folder, and repair it",
		Long: `Check reads every structure, verifies its checksums, and compares the structures with each other. It prints what is
damaged, and which pages are lost. It writes nothing, and works beside a running crawl.

--repair keeps all readable records of the repository and queues lost pages for the next crawl. A damaged index, link
database or rank vector is rebuilt from the repository. A damaged document index is rebuilt from what can be read of
it, of the repository and of the links, and check prints what is lost. If one index of several shards is damaged,
all are rebuilt.`,
		Example: "  anatomy check\n  anatomy check --repair && anatomy crawl",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			problems, next := 0, "to repair it: "+s.Command("check --repair")
			report := upkeep.CheckReport{
				Checked: func(name, found string) { fmt.Fprintf(c.OutOrStdout(), "%-12s %s\n", name, found) },
				Problem: func(problem error) {
					if errors.Is(problem, datadir.ErrNone) {
						next = hint(s, c, problem) // of a shard
					}
					if problems++; problems == shownProblems+1 {
						fmt.Fprintln(c.ErrOrStderr(), "damaged: more problems are not listed")
					}
					if problems > shownProblems {
						return
					}
					fmt.Fprintf(c.ErrOrStderr(), "damaged: %s\n", cli.ErrorText(problem))
				},
			}
			if repair {
				return record.Calls(s, func(c *cobra.Command, _ []string) error {
					return runRepair(c, s, report)
				})(c, nil)
			}
			err := upkeep.Check(c.Context(), s.Data, report)
			switch {
			case err != nil:
				return err
			case problems > 0:
				return cli.WithHint(fmt.Errorf("%w: %s", errDamaged, plural.Count(problems, "problem")), next)
			}
			fmt.Fprintln(c.OutOrStdout(), "no damage found")
			return nil
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "repair what is damaged")
	return c
}

// shownLost is the number of lost pages that are listed after a repair.
const shownLost = 20

func runRepair(c *cobra.Command, s *cli.GlobalFlags, report upkeep.CheckReport) error {
	o := upkeep.RepairOptions{Log: s.Logger(cli.NewConsole(c.ErrOrStderr()), false), PDF: readPDF()}
	r, err := upkeep.Repair(c.Context(), s.Data, o, report)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if r.Problems == 0 {
		fmt.Fprintln(out, "no damage found")
		return nil
	}
	fmt.Fprintf(out, "%s; %s lost, %s of the repository rewritten; %.1f s\n", plural.Count(r.Problems, "problem"), plural.Count(len(r.Lost), "page"), plural.Count(r.Files, "file"), r.Took.Seconds())
	if r.Rebuilt {
		fmt.Fprintln(out, "index, links and ranks were rebuilt from the repository")
	}
	if r.Salvaged != nil {
		printSalvage(out, r.Salvaged)
	}
	for _, url := range r.Lost[:min(len(r.Lost), shownLost)] {
		fmt.Fprintf(out, "lost: %s\n", url)
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(out, "to fetch lost pages again: %s, with the flags of the crawl\n", s.Command("crawl"))
	}
	if r.Remain > 0 {
		return cli.WithHint(fmt.Errorf("%w: %s could not be repaired", errDamaged, plural.Count(r.Remain, "problem")), "restore a backup: "+s.Command("restore")+" --help, or crawl into a new folder")
	}
	return nil
}

// printSalvage prints the contents of a rebuilt document index, and the steps for the lost rest.
func printSalvage(w io.Writer, r *upkeep.Salvage) {
	fmt.Fprintf(w, "document index rebuilt: %d documents unchanged, %d from the repository, %d by URL only, %d lost; the damaged index is kept as docindex.damaged\n", r.Kept, r.Pages, r.Named, r.Lost)
	if r.Seeds == 0 {
		fmt.Fprintln(w, "lost: the start URLs; give them to anatomy crawl again")
	}
	if r.Stale && r.Pages > 0 {
		fmt.Fprintln(w, "pages that no longer existed may be results again; to visit all pages: anatomy crawl --recrawl --max-age 0s")
	}
	if r.NoBlocks {
		fmt.Fprintln(w, "lost: the list of removed pages; repeat anatomy remove before the next crawl")
	}
}

func newTrace(s *cli.GlobalFlags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "trace URL",
		Short: "show why a page is or is not in the index",
		Long: `Trace shows how a URL was found, the outcome of its fetches, where it is stored, its redirect or canonical document,
whether it is searchable, its rank, and its next visit. The page /page of "anatomy serve" shows the same.`,
		Example:           "  anatomy trace https://docs.example.org/links.html\n  anatomy trace --json docs.example.org",
		Args:              cli.ExactArgs(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			u, err := weburl.ParseTyped(args[0])
			if err != nil {
				return cli.UsageError{Err: err}
			}
			t, err := collection.OpenTrace(c.Context(), s.Data, u)
			switch {
			case errors.Is(err, control.ErrUnknownURL):
				return cli.WithHint(err, "to add it: "+s.Command("crawl "+cli.ShellQuote(args[0])))
			case err != nil:
				return err
			case asJSON:
				return cli.PrintJSON(c.OutOrStdout(), t)
			}
			collection.PrintTrace(c.OutOrStdout(), t)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, as /api/v1/trace does")
	return c
}

func newDump(s *cli.GlobalFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "dump",
		Short: "print the contents of a file of the data folder",
		Long:  "Dump prints the contents of a structure as text.",
		Example: `  anatomy dump repository
  anatomy dump page https://docs.example.org/
  anatomy dump segment anchor`,
	}
	for _, d := range []struct {
		use, short, example string
		args                cobra.PositionalArgs
		dump                func(w io.Writer, dir string, args []string) error
	}{
		{"docindex", "print every key of the document index", "", cli.ExactArgs(0, "no arguments"), collection.DumpDocuments},
		{"repository", "print every record: address, kind, docID, URL, time, length", "", cli.ExactArgs(0, "no arguments"), collection.DumpRepository},
		{"page URL", "print a page as it was fetched", " https://docs.example.org/", cli.ExactArgs(1, "one URL"), collection.DumpPage},
		{"links", "print names, aliases, links and anchor texts", "", cli.ExactArgs(0, "no arguments"), collection.DumpLinks},
		{"segment TERM", "print the posting lists of a term in every segment", " anchor", cli.ExactArgs(1, "one term"), collection.DumpWord},
		{"barrels FILE", "print documents, terms and hits of a file of barrels, which a crawl has in its folder barrels until it has sorted them", " anatomy-data/barrels/000012.barrel", cli.ExactArgs(1, "one file"), collection.DumpBarrels},
		{"rank [VECTOR]", "print every docID with its rank in a vector, by default in that of searches", " pages", cli.MaxArgs(1, "at most one vector"), collection.DumpRanks},
	} {
		name, _, _ := strings.Cut(d.use, " ")
		c.AddCommand(&cobra.Command{
			Use: d.use, Short: d.short, Args: d.args, Example: "  anatomy dump " + name + d.example,
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, args []string) error {
				w := bufio.NewWriter(cli.ContextWriter{Context: c.Context(), W: c.OutOrStdout()})
				if err := d.dump(w, s.Data, args); err != nil {
					return err
				}
				return w.Flush()
			},
		})
	}
	return c
}
