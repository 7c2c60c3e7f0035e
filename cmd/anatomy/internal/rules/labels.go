package rules

import (
	"anatomy/config"
	"anatomy/searcher/labels"
)

// openLabels opens the patterns of products and versions in the anatomy.toml of a data folder, see [open].
func openLabels(dir string, onError func(error)) (*labels.File, error) {
	return open(dir, func(c *config.Config) (*labels.Patterns, error) {
		all, err := labels.Parse(c.Search.Labels)
		if err != nil {
			return nil, c.Problem(err, "search", "labels")
		}
		return all, nil
	}, onError)
}
