package rules

import (
	"errors"
	"fmt"
	"io/fs"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/disk/rankvector"
	"anatomy/searcher"
	"anatomy/searcher/reload"
)

// OpenRanking opens the name of the rank vector that the anatomy.toml of a data folder names. onError
// receives the errors of later versions, which are not used.
func OpenRanking(dir string, onError func(error)) (*searcher.Ranking, error) {
	file, err := reload.Open(config.Path(dir), readRanking, onError)
	if err != nil {
		at := cli.GlobalFlags{Data: dir}
		return nil, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
	}
	return file, nil
}

// readRanking reads the name in a file, which may be missing.
func readRanking(path string) (string, error) {
	c, err := config.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if err := checkRanking(c); err != nil {
		return "", c.Problem(err, "search", "ranking")
	}
	return c.Search.Ranking, nil
}

// checkRanking fails if no vector can have the name.
func checkRanking(c *config.Config) error {
	if c.Search.Ranking == "" {
		return nil
	}
	return rankvector.CheckName(c.Search.Ranking)
}

// NoRankHint returns what to do if there is no vector of the name in the anatomy.toml of a data folder.
func NoRankHint(dir, name string) string {
	at := cli.GlobalFlags{Data: dir}
	return fmt.Sprintf("searches use the default one; to compute it: %s", at.Command("pagerank --name "+name))
}
