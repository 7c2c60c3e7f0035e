package quality

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/collection"
	"anatomy/disk/shards"
	"anatomy/searcher"
	"anatomy/searcher/scoring"
)

// WeightsFlag adds the flag for the file that WithWeights takes.
func WeightsFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "weights", "", "use the weights in `FILE`, JSON as in doc/evaluation.md; or bm25")
}

// readWeights reads weights from a file. Weights that it does not name keep their defaults.
func readWeights(name string) (searcher.Weights, error) {
	w := scoring.Default.Clone()
	switch name {
	case "":
		return w, nil
	case "bm25":
		return scoring.BM25, nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return w, cli.WithHint(err, "--weights takes the name of a file to read")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, cli.WithHint(fmt.Errorf("weights %s: %w", name, err), "doc/evaluation.md shows such a file")
	}
	return w, nil
}

// WithWeights calls ask with a searcher over the data folder. file names the weights, "" the defaults.
func WithWeights(dir, file string, ask func(*searcher.Searcher) error) error {
	w, err := readWeights(file)
	if err != nil {
		return err
	}
	return withOptions(dir, searcher.Options{Weights: w}, ask)
}

// withOptions is WithWeights for given options but Links, Synonyms and Pins.
func withOptions(dir string, o searcher.Options, ask func(*searcher.Searcher) error) error {
	if err := shards.Check(dir); err != nil {
		return err
	}
	same, err := rules.OpenSynonyms(dir, func(error) {})
	if err != nil {
		return err
	}
	pinned, err := rules.OpenPins(dir, func(error) {})
	if err != nil {
		return err
	}
	links := collection.NewSharedLinks(dir)
	o.Links, o.Synonyms, o.Pins = links, same, pinned
	s, err := searcher.Open(dir, o)
	if err != nil {
		return err
	}
	return errors.Join(ask(s), s.Close(), links.Close())
}
