package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"anatomy/engine"
)

func newIndex(s *shared) *cobra.Command {
	var o engine.RebuildOptions
	var megabytes int64
	c := &cobra.Command{
		Use:   "index",
		Short: "rebuild the index from the repository",
		Long: `Index makes the inverted index, the link database and the ranks anew from the pages in the repository. Searches go
on in the old index until the new one replaces it in one step.`,
		Args: exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			o.BatchBytes, o.Log = megabytes<<20, s.logger(c.ErrOrStderr())
			r, err := engine.Rebuild(c.Context(), s.data, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%d pages and %d links indexed in %.1f s\n", r.Pages, r.Links, r.Took.Seconds())
			return nil
		},
	}
	c.Flags().IntVar(&o.Workers, "workers", 0, "parsers at a time (default: one a core)")
	c.Flags().Int64Var(&megabytes, "memory", 48, "megabytes of a batch before it is sorted")
	return c
}

func newStats(s *shared) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "sizes of all structures, beside the paper's Table 1",
		Args:  exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			i, err := engine.TakeInventory(s.data)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), i)
			}
			return printInventory(c.OutOrStdout(), i)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func printInventory(w io.Writer, i *engine.Inventory) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d pages, %d documents known by links alone, %d segments, %d links\n\n", i.Pages, i.Uncrawled, i.Segments, i.Links)
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
	if len(i.Outcomes) > 0 {
		b, err := json.Marshal(i.Outcomes)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "fetches: %s\n", b)
	}
	return nil
}

// errDamaged is what check returns after it has said what is wrong.
var errDamaged = errors.New("the data folder is damaged")

func newCheck(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "prove every byte of the data folder",
		Long:  "Check reads every structure whole, proves its checksums, and compares the structures with one another.",
		Args:  exactly(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			problems := 0
			err := engine.Check(c.Context(), s.data, engine.CheckReport{
				Checked: func(name, found string) { fmt.Fprintf(c.OutOrStdout(), "%-12s %s\n", name, found) },
				Problem: func(problem error) { problems++; fmt.Fprintf(c.ErrOrStderr(), "damaged: %v\n", problem) },
			})
			switch {
			case err != nil:
				return err
			case problems > 0:
				return hinted(fmt.Errorf("%w in %d places", errDamaged, problems), "index, links and ranks are made anew from the repository by: anatomy index")
			}
			fmt.Fprintln(c.OutOrStdout(), "everything is whole")
			return nil
		},
	}
}

func newTrace(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:     "trace URL",
		Short:   "why a page is or is not in the index",
		Example: "  anatomy trace https://docs.example.org/links.html",
		Args:    exactly(1, "one URL"),
		RunE: func(c *cobra.Command, args []string) error {
			u, err := engine.ParseSeed(args[0])
			if err != nil {
				return usageError{err}
			}
			return engine.Trace(c.Context(), c.OutOrStdout(), s.data, u)
		},
	}
}

func newDump(s *shared) *cobra.Command {
	c := &cobra.Command{
		Use:   "dump",
		Short: "look into any file of the data folder",
	}
	for _, d := range []struct {
		use, short, wants string
		args              int
		dump              func(w io.Writer, dir string, args []string) error
	}{
		{"docindex", "every key of the document index", "no arguments", 0, engine.DumpDocuments},
		{"repository", "a line a record", "no arguments", 0, engine.DumpRepository},
		{"page URL", "a page as it was fetched", "one URL", 1, engine.DumpPage},
		{"links", "links, anchors, aliases", "no arguments", 0, engine.DumpLinks},
		{"segment WORD", "the lists of a word in every segment", "one word", 1, engine.DumpWord},
		{"rank", "every document with its rank", "no arguments", 0, engine.DumpRanks},
	} {
		c.AddCommand(&cobra.Command{
			Use: d.use, Short: d.short, Args: exactly(d.args, d.wants),
			RunE: func(c *cobra.Command, args []string) error { return d.dump(c.OutOrStdout(), s.data, args) },
		})
	}
	return c
}
