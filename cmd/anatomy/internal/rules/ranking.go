package rules

import (
	"fmt"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/disk/rankvector"
	"anatomy/searcher"
)

// openRanking opens the name of the rank vector in the anatomy.toml of a data folder, see [open].
func openRanking(dir string, onError func(error)) (*searcher.Ranking, error) {
	return open(dir, func(c *config.Config) (string, error) {
		if err := checkRanking(c); err != nil {
			return "", c.Problem(err, "search", "ranking")
		}
		return c.Search.Ranking, nil
	}, onError)
}

// checkRanking fails if no vector can have the name.
func checkRanking(c *config.Config) error {
	if c.Search.Ranking == "" {
		return nil
	}
	return rankvector.CheckName(c.Search.Ranking)
}

// NoRankHint returns what to do if the vector that the anatomy.toml of a data folder names does not exist.
func NoRankHint(dir, name string) string {
	at := cli.GlobalFlags{Data: dir}
	return fmt.Sprintf("searches use the default one; to compute it: %s", at.Command("pagerank --name "+name))
}
