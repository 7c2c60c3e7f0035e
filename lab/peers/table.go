package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// print writes the table: a column for each library.
func (c *comparison) print(w io.Writer, names []string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\t%s\t\n", strings.Join(names, "\t"))
	for _, rows := range []func(string) ([]row, error){c.buildRows, c.latencyRows, c.qualityRows} {
		columns := make([][]row, len(names))
		for i, name := range names {
			var err error
			if columns[i], err = rows(name); err != nil {
				return err
			}
		}
		for k, first := range columns[0] {
			fmt.Fprint(table, first.name)
			for _, column := range columns {
				fmt.Fprint(table, "\t", column[k].value)
			}
			fmt.Fprintln(table, "\t")
		}
	}
	return table.Flush()
}

// A row is one figure of a library.
type row struct{ name, value string }

func (c *comparison) buildRows(name string) ([]row, error) {
	b, err := c.build(name)
	return []row{
		{"build, CPU s", fmt.Sprintf("%.1f", b.cpu)},
		{"MB of text a CPU second", fmt.Sprintf("%.1f", b.text/b.cpu)},
		{"peak memory, MB", fmt.Sprintf("%.0f", b.peak)},
		{"index, MB", fmt.Sprintf("%.0f", b.index)},
		{"without texts for snippets", fmt.Sprintf("%.0f", b.index-b.texts)},
		{"share of the text", fmt.Sprintf("%.2f", (b.index-b.texts)/b.text)},
	}, err
}

func (c *comparison) latencyRows(name string) (rows []row, err error) {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d)/float64(time.Millisecond)) }
	for _, m := range modes {
		for _, count := range counts {
			what := string(m.mode) + ", count " + count + ", ms: "
			if !c.counts(name, count) {
				rows = append(rows, row{what + "median", "-"}, row{"p95", "-"})
				continue
			}
			l, err := c.latency(name, m.mode, count)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row{what + "median", ms(l.P50)}, row{"p95", ms(l.P95)})
		}
	}
	return rows, nil
}

// counts reports whether a library was asked to count in a way.
func (c *comparison) counts(name, count string) bool {
	if n := nativeOf(name); n != nil {
		return slices.Contains(n.counts, count)
	}
	return name == before || name == after || scriptCount(name) == count
}

// qualityRows are those of the second of our columns, too: the same index answers the same.
func (c *comparison) qualityRows(name string) (rows []row, err error) {
	if name == after {
		name = before
	}
	for _, set := range sets {
		if len(c.scripted()) == 0 || nativeOf(name) != nil {
			rows = append(rows, row{set.name + ": first", "-"}, row{"MRR@10", "-"}, row{"recall@10", "-"})
			continue
		}
		m, err := c.measures(set.file, c.at("out", "run."+set.file+"."+name+".all-then-any"))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{set.name + ": first", fmt.Sprintf("%.3f", m.Success1)}, row{"MRR@10", fmt.Sprintf("%.3f", m.MRR10)}, row{"recall@10", fmt.Sprintf("%.3f", m.Recall10)})
	}
	return rows, nil
}
