package main

import (
	"fmt"
	"io"
	"strings"

	"anatomy/eval"
	"anatomy/lab/rig"
)

// A row is one set of queries.
type row struct {
	name    string
	queries int
	measure string
	cells   []float64 // by column
	best    int       // column that ours is compared with
	gain    eval.Gain
}

// newRow measures the results of a set: results[column][query] are pages.
func newRow(s *set, results [][][]string) row {
	r := row{name: s.name, queries: len(s.judged), measure: "MRR"}
	if s.graded {
		r.measure = "nDCG"
	}
	for i, column := range results {
		m := eval.Measure(s.judged, column)
		value := m.MRR10
		if s.graded {
			value = m.NDCG10
		}
		r.cells = append(r.cells, value)
		if i == 1 || i > 1 && i <= lastCompared && value > r.cells[r.best] {
			r.best = i
		}
	}
	c := eval.Compare(s.judged, results[r.best], results[0], 1)
	if r.gain = c.Gain; s.graded {
		r.gain = c.NDCG10
	}
	return r
}

// lastCompared is the last column that our default is compared with: the last of Lucene's.
const lastCompared = 4

func printTable(w io.Writer, columns []string, rows []row) error {
	fmt.Fprintf(w, "| queries | number | measure | %s | to the best of bm25 and Lucene |\n",
		strings.Join(columns, " | "))
	fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", len(columns)+4))
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %d | %s |", r.name, r.queries, r.measure)
		for _, c := range r.cells {
			fmt.Fprintf(w, " %s |", rig.Share(c))
		}
		if _, err := fmt.Fprintf(w, " %s |\n", rig.GainText(r.gain)); err != nil {
			return err
		}
	}
	return nil
}
