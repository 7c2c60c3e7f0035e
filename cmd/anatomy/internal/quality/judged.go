package quality

import (
	"errors"
	"os"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/eval"
)

func readJudged(names ...string) (all []eval.Judged, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		judged, err := eval.ReadTSV(f, name)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, judged...)
	}
	return all, nil
}

// readRun reads a run from the file of a flag.
func readRun(name, flag string, judged []eval.Judged) ([][]eval.Entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.WithHint(err, flag+" takes a file written by --output")
	}
	defer f.Close()
	run, err := eval.Read(f, name, judged)
	if err != nil {
		return nil, cli.WithHint(err, flag+" takes a file written by --output")
	}
	return run, nil
}
