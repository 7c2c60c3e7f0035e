package quality

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
	"anatomy/internal/jsonerror"
	"anatomy/searcher"
	"anatomy/searcher/reload"
	"anatomy/searcher/scoring"
)

// WeightsFlag adds the flag for the file that WithWeights takes.
func WeightsFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "weights", "", "use the weights in `FILE`, JSON as in doc/evaluation.md; or default, or bm25 (without the flag: weights.json of the data folder, if there is one)")
}

// OwnWeights returns the name of the file of weights of a data folder. Without it the default ones count.
func OwnWeights(dir string) string { return filepath.Join(dir, datadir.WeightsName) }

// OpenWeights opens the weights of a data folder. onError receives the errors of later versions, which
// are not used.
func OpenWeights(dir string, onError func(error)) (*searcher.TunedWeights, error) {
	return reload.Open(OwnWeights(dir), func(path string) (*searcher.Weights, error) {
		w, err := decodeWeights(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return &w, err
	}, onError)
}

// readWeights reads weights from a file, "" for those of the data folder. Weights that it does not name
// keep their defaults.
func readWeights(dir, name string) (searcher.Weights, error) {
	switch name {
	case "":
		own, err := OpenWeights(dir, func(error) {})
		if err != nil || own.Content() == nil {
			return scoring.Default.Clone(), err
		}
		return *own.Content(), nil
	case "default":
		return scoring.Default.Clone(), nil
	case "bm25":
		return scoring.BM25, nil
	}
	w, err := decodeWeights(name)
	if errors.As(err, new(*fs.PathError)) {
		err = cli.WithHint(err, "--weights takes the name of a file to read")
	}
	return w, err
}

// maxWeights bounds a file of weights, in bytes.
const maxWeights = 1 << 20

func decodeWeights(name string) (searcher.Weights, error) {
	w := scoring.Default.Clone()
	f, err := os.Open(name)
	if err != nil {
		return w, err
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, maxWeights))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, cli.WithHint(fmt.Errorf("weights %s: %s", name, jsonerror.Text(err)), "doc/evaluation.md shows such a file")
	}
	return w, nil
}

// WithWeights calls ask with a searcher over the data folder. file names the weights, "" those of the folder.
func WithWeights(dir, file string, ask func(*searcher.Searcher) error) error {
	w, err := readWeights(dir, file)
	if err != nil {
		return err
	}
	return withOptions(dir, searcher.Options{Weights: w}, ask)
}

// withOptions is WithWeights for given options but Links and those of [rules.OpenSearch].
func withOptions(dir string, o searcher.Options, ask func(*searcher.Searcher) error) error {
	if err := shards.Check(dir); err != nil {
		return err
	}
	if err := rules.OpenSearch(dir, &o, func(string, error) {}); err != nil {
		return err
	}
	links := collection.NewSharedLinks(dir)
	o.Links = links
	s, err := searcher.Open(dir, o)
	if err != nil {
		return err
	}
	return errors.Join(ask(s), s.Close(), links.Close())
}
