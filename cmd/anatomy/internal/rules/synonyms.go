package rules

import (
	"errors"
	"fmt"
	"io/fs"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/searcher/synonyms"
)

// OpenSynonyms opens the file of synonyms that the anatomy.toml of a data folder names; it returns
// nil if none is named. OnError is told of a later version that is wrong.
func OpenSynonyms(dir string, onError func(error)) (*synonyms.File, error) {
	at := cli.GlobalFlags{Data: dir}
	c, err := config.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		if _, err = synonymsOf(c); err == nil && c.Synonyms() != "" {
			return synonyms.Open(c.Synonyms(), onError)
		}
	}
	if err != nil {
		return nil, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
	}
	return nil, nil
}

// SiteName returns the name that the anatomy.toml of a data folder gives to the collection, or "".
func SiteName(dir string) (string, error) {
	at := cli.GlobalFlags{Data: dir}
	c, err := config.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		if err = c.Search.CheckName(); err == nil {
			return c.Search.Name, nil
		}
		err = c.Problem(err, "search", "name")
	}
	return "", cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
}

// synonymsOf reads the synonyms that a config names, nil for none.
func synonymsOf(c *config.Config) (*synonyms.Table, error) {
	if c.Synonyms() == "" {
		return nil, nil
	}
	t, err := synonyms.Read(c.Synonyms())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the file of synonyms is missing: %w", err)
	}
	return t, err
}
