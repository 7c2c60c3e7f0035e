package rules

import (
	"errors"
	"io/fs"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/searcher/reload"
)

// open opens a part of the anatomy.toml of a data folder, which may be missing. onError receives the errors
// of later versions, which are not used.
func open[T any](dir string, part func(*config.Config) (T, error), onError func(error)) (*reload.File[T], error) {
	file, err := reload.Open(config.Path(dir), func(path string) (value T, err error) {
		c, err := config.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return value, nil
		}
		if err != nil {
			return value, err
		}
		return part(c)
	}, onError)
	if err != nil {
		at := cli.GlobalFlags{Data: dir}
		return nil, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
	}
	return file, nil
}
