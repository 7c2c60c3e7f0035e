package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"anatomy/disk/datadir"
	"anatomy/engine"
	"anatomy/searcher"
)

func weightsFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "weights", "", "rank by the weights in `FILE`: JSON of those that differ, see doc/evaluation.md; or bm25")
}

// readWeights reads weights from a file; those that it does not name are the default ones.
func readWeights(name string) (searcher.Weights, error) {
	w := searcher.DefaultWeights
	switch name {
	case "":
		return w, nil
	case "bm25":
		return searcher.BM25, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return w, hinted(err, "--weights takes the name of a file to read")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, hinted(fmt.Errorf("weights %s: %w", name, err), "doc/evaluation.md shows such a file")
	}
	return w, nil
}

// withWeights opens the data folder for questions that are ranked by the weights of a file, if one is
// named.
func withWeights(dir, file string, ask func(*searcher.Searcher) error) error {
	w, err := readWeights(file)
	if err != nil {
		return err
	}
	return withThese(dir, w, 0, ask)
}

// withThese is withWeights, with so many pages scored exactly, 0 for the usual number.
func withThese(dir string, w searcher.Weights, candidates int, ask func(*searcher.Searcher) error) error {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	links := engine.NewSharedLinks(dir)
	s, err := searcher.Open(dir, searcher.Options{Weights: w, Candidates: candidates, Links: links})
	if err != nil {
		return err
	}
	return errors.Join(ask(s), s.Close(), links.Close())
}
