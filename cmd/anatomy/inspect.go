package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"anatomy/engine"
)

func newStats(s *shared) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "sizes of all structures, beside the paper's Table 1",
		Long: `Stats counts pages, words, hits and links, and measures every structure, in bytes a page beside those of Table 1
of the paper.`,
		Example: "  anatomy stats\n  anatomy stats --json",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			i, err := engine.TakeInventory(s.data)
			if err != nil {
				return err
			}
			if err := i.AddOutcomes(c.Context(), s.data); err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), i)
			}
			return printInventory(c.OutOrStdout(), i)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print what the API answers, /api/v1/stats, and the outcomes of fetches")
	return c
}

func printInventory(w io.Writer, i *engine.Inventory) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "searchable pages %d, and %d known by links alone; segments %d; links %d\n", i.Pages, i.Uncrawled, i.Segments, i.Links)
	fmt.Fprintf(w, "different words %d, postings %d, hits %d\n\n", i.Words, i.Postings, i.Hits)
	fmt.Fprintln(t, "structure\tMB\tbytes a page\tthe paper, bytes a page\t")
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
		if r.Name != engine.DefaultRank {
			fmt.Fprintf(w, "vector %s: computed %s\n", r.Name, r.Computed.Format("2006-01-02 15:04:05"))
		}
	}
	adviseRanks(w, i.Ranks)
	var outcomes []string
	for _, name := range slices.Sorted(maps.Keys(i.Outcomes)) {
		outcomes = append(outcomes, fmt.Sprintf("%d %s", i.Outcomes[name], name))
	}
	if len(outcomes) > 0 {
		fmt.Fprintf(w, "fetches: %s\n", strings.Join(outcomes, ", "))
	}
	return nil
}

// errDamaged is what check returns after it has said what is wrong.
var errDamaged = errors.New("the data folder is damaged")

func newCheck(s *shared) *cobra.Command {
	var repair bool
	c := &cobra.Command{
		Use:   "check",
		Short: "prove every byte of the data folder, and mend what can be mended",
		Long: `Check reads every structure whole, proves its checksums, and compares the structures with one another. It names
what is damaged, and the pages that are lost with it.

With --repair it mends that: what can be read of the repository is kept, pages that are lost are fetched by the next
crawl, and index, links and ranks are made anew from the repository where they are damaged. A document index that is
damaged is made anew from what can be read of it, of the repository and of the links; it says what is lost with it.`,
		Example: "  anatomy check\n  anatomy check --repair && anatomy crawl",
		Args:    exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			problems := 0
			said := engine.CheckReport{
				Checked: func(name, found string) { fmt.Fprintf(c.OutOrStdout(), "%-12s %s\n", name, found) },
				Problem: func(problem error) {
					problems++
					fmt.Fprintf(c.ErrOrStderr(), "damaged: %s\n", message(problem))
				},
			}
			if repair {
				return runRepair(c, s, said)
			}
			err := engine.Check(c.Context(), s.data, said)
			switch {
			case err != nil:
				return err
			case problems > 0:
				return hinted(fmt.Errorf("%w: %d problems", errDamaged, problems), "what can be mended is by: "+s.command("check --repair"))
			}
			fmt.Fprintln(c.OutOrStdout(), "everything is whole")
			return nil
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "mend what is damaged")
	return c
}

// shownLost is how many lost pages are named after a repair.
const shownLost = 20

func runRepair(c *cobra.Command, s *shared, said engine.CheckReport) error {
	o := engine.RepairOptions{Log: s.logger(newConsole(c.ErrOrStderr()), false), PDF: readPDF()}
	r, err := engine.Repair(c.Context(), s.data, o, said)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if r.Problems == 0 {
		fmt.Fprintln(out, "everything is whole")
		return nil
	}
	fmt.Fprintf(out, "%s; %s lost, %s of the repository rewritten; %.1f s\n", counted(r.Problems, "problem"), counted(len(r.Lost), "page"), counted(r.Files, "file"), r.Took.Seconds())
	if r.Rebuilt {
		fmt.Fprintln(out, "index, links and ranks were made anew from the repository")
	}
	if r.Salvaged != nil {
		printSalvage(out, r.Salvaged)
	}
	for _, url := range r.Lost[:min(len(r.Lost), shownLost)] {
		fmt.Fprintf(out, "lost: %s\n", url)
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(out, "what is lost is fetched again by: %s, with the flags of before\n", s.command("crawl"))
	}
	if r.Remain > 0 {
		return hinted(fmt.Errorf("%w: %d problems are beyond repair", errDamaged, r.Remain), "put a backup in its place: "+s.command("restore")+" --help, or crawl into a new folder")
	}
	return nil
}

// printSalvage says what a document index that was made anew knows, and what is to be done about the rest.
func printSalvage(w io.Writer, r *engine.Salvage) {
	fmt.Fprintf(w, "document index made anew: %d documents as they were, %d from the repository, %d known by their URL alone, of %d even that is lost; the damaged one is docindex.damaged\n", r.Kept, r.Pages, r.Named, r.Lost)
	if r.Seeds == 0 {
		fmt.Fprintln(w, "lost: where the crawl began; give anatomy crawl its URLs again")
	}
	if r.Stale && r.Pages > 0 {
		fmt.Fprintln(w, "pages that were gone when they were visited last are back until they are visited again: anatomy crawl --recrawl --max-age 0s")
	}
	if r.NoBans {
		fmt.Fprintln(w, "lost: what anatomy remove keeps out; give it its targets again before the next crawl")
	}
}

func newTrace(s *shared) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "trace URL",
		Short: "why a page is or is not in the index",
		Long: `Trace tells how a URL was found, what came of fetching it, where it is stored, what it leads to or is the same as,
whether it can be found, and how it ranks. The page /page of a running server tells the same.`,
		Example:           "  anatomy trace https://docs.example.org/links.html\n  anatomy trace --json docs.example.org",
		Args:              exactly(1, "one URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			u, err := engine.ParseSeed(args[0])
			if err != nil {
				return usageError{error: err}
			}
			t, err := engine.OpenTrace(c.Context(), s.data, u)
			switch {
			case errors.Is(err, engine.ErrUnknownURL):
				return hinted(err, "to add it: "+s.command("crawl "+quoted(args[0])))
			case err != nil:
				return err
			case asJSON:
				return printJSON(c.OutOrStdout(), t)
			}
			engine.PrintTrace(c.OutOrStdout(), t)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print what the API answers, /api/v1/trace")
	return c
}

func newDump(s *shared) *cobra.Command {
	c := &cobra.Command{
		Use:   "dump",
		Short: "look into any file of the data folder",
		Long:  "Dump prints what a structure holds, as text.",
		Example: `  anatomy dump repository
  anatomy dump page https://docs.example.org/
  anatomy dump segment anchor`,
	}
	for _, d := range []struct {
		use, short, wants, example string
		args                       int
		dump                       func(w io.Writer, dir string, args []string) error
	}{
		{"docindex", "every key of the document index", "no arguments", "", 0, engine.DumpDocuments},
		{"repository", "every record: place, kind, docID, URL, time, length", "no arguments", "", 0, engine.DumpRepository},
		{"page URL", "a page as it was fetched", "one URL", " https://docs.example.org/", 1, engine.DumpPage},
		{"links", "names, aliases, links, anchor texts", "no arguments", "", 0, engine.DumpLinks},
		{"segment WORD", "the lists of a word in every segment", "one word", " anchor", 1, engine.DumpWord},
		{"rank", "every docID with its rank", "no arguments", "", 0, engine.DumpRanks},
	} {
		name, _, _ := strings.Cut(d.use, " ")
		c.AddCommand(&cobra.Command{
			Use: d.use, Short: d.short, Args: exactly(d.args, d.wants), Example: "  anatomy dump " + name + d.example,
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, args []string) error {
				w := bufio.NewWriter(interruptible{c.Context(), c.OutOrStdout()})
				return cmp.Or(d.dump(w, s.data, args), w.Flush())
			},
		})
	}
	return c
}

// An interruptible writer ends with its context, and with it whoever writes.
type interruptible struct {
	ctx context.Context
	w   io.Writer
}

func (w interruptible) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}
