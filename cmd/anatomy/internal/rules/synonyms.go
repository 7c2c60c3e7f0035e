package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/disk/durable"
	"anatomy/searcher/synonyms"
)

// openSynonyms opens the file of synonyms that the anatomy.toml of a data folder names. If none is
// named, the table is empty until AddSynonyms makes one. onError receives the errors of later
// versions, which are not used.
func openSynonyms(dir string, onError func(error)) (*synonyms.File, error) {
	at := cli.GlobalFlags{Data: dir}
	c, err := readOrNew(dir)
	if err == nil && c.Synonyms() == "" {
		return synonyms.OpenLater(filepath.Join(dir, config.SynonymsName), func(path string) bool {
			now, err := config.Read(dir)
			return err == nil && now.Synonyms() == path
		}, onError)
	}
	if err == nil {
		if _, err = synonymsOf(c); err == nil {
			return synonyms.Open(c.Synonyms(), onError)
		}
	}
	return nil, cli.WithHint(err, "to see all that is wrong: "+at.Command("config check"))
}

// AddSynonyms adds a line, such as postgres = PostgreSQL, to the file of synonyms of a data folder,
// and names one in anatomy.toml if there is none. It returns the name of the file.
func AddSynonyms(dir, line string) (file string, err error) {
	c, err := readOrNew(dir)
	if err != nil {
		return "", err
	}
	line = strings.Join(strings.Fields(line), " ")
	if _, err := synonyms.Parse(strings.NewReader(line), "the line"); err != nil {
		return "", err
	}
	if strings.Contains(line, "#") || line == "" {
		return "", errors.New("Enter words with = between: postgres = PostgreSQL")
	}
	if c.Synonyms() == "" {
		c.Search.Synonyms = config.SynonymsName
		if err := c.Write(); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(c.Synonyms())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	text = append(text, line+"\n"...)
	if _, err := synonyms.Parse(bytes.NewReader(text), c.Synonyms()); err != nil {
		return "", err
	}
	return c.Synonyms(), durable.WriteFile(durable.OS, c.Synonyms(), text)
}

// readOrNew reads the config of a data folder; one without a file has none of its keys.
func readOrNew(dir string) (*config.Config, error) {
	c, err := config.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return config.New(dir), nil
	}
	return c, err
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
