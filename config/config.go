// Package config reads and writes anatomy.toml, the rules of a crawl that its data folder keeps.
//
//	schema = 1
//
//	[crawl]
//	delay = "5s"
//	exclude = ["*/print/*", "*.pdf"]
//	max-pages = 1000
//	scope = "dir"
//
// [crawl] has the flags that the crawl command was given, under their names; what is not there has
// the default of that command. Comments stay when a flag is changed. A file of credentials is named, and its content is not kept. The file
// is for its owner alone.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"anatomy/disk/durable"
)

// Schema is the version of the file that this program reads and writes.
const Schema = 1

// Path returns the name of the file in a data folder.
func Path(dir string) string { return filepath.Join(dir, "anatomy.toml") }

// A Config is the content of the file.
type Config struct {
	Schema int            `toml:"schema"`
	Crawl  map[string]any `toml:"crawl"` // by the name of the flag: a string, bool, int64 or list of strings

	path    string
	content []byte         // of the file; nil if there is none
	was     map[string]any // Crawl as it was read
}

// New returns a config without rules.
func New(dir string) *Config {
	return &Config{Schema: Schema, Crawl: map[string]any{}, path: Path(dir)}
}

// Path returns the name of the file.
func (c *Config) Path() string { return c.path }

// Read reads the file of a data folder. The error wraps fs.ErrNotExist if there is none; others name
// the line and the key.
func Read(dir string) (*Config, error) {
	c := New(dir)
	var err error
	if c.content, err = os.ReadFile(c.path); err != nil {
		return nil, err
	}
	c.Schema = 0
	if err := toml.NewDecoder(bytes.NewReader(c.content)).DisallowUnknownFields().Decode(c); err != nil {
		return nil, c.explain(err)
	}
	if c.Schema != Schema {
		return nil, fmt.Errorf("%s has schema %d, this program reads schema %d", c.path, c.Schema, Schema)
	}
	c.was = maps.Clone(c.Crawl)
	return c, nil
}

// explain adds the position to an error of the decoder.
func (c *Config) explain(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf("%s, line %d: unknown key %s", c.path, line, strings.Join(first.Key(), "."))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return fmt.Errorf("%s, line %d: %w", c.path, line, err)
	}
	return fmt.Errorf("%s: %w", c.path, err)
}

// Complain returns an error about the value of a flag, with its line.
func (c *Config) Complain(flag string, reason error) error {
	key := regexp.MustCompile(`(?m)^[ \t]*"?` + regexp.QuoteMeta(flag) + `"?[ \t]*=`)
	line := 0
	if at := key.FindIndex(c.content); at != nil {
		line = 1 + bytes.Count(c.content[:at[0]], []byte("\n"))
	}
	return fmt.Errorf("%s, line %d, key %s: %w", c.path, line, flag, reason)
}

// Flag returns the value of a flag as the command line has it, or its values if it is repeatable. ok
// is false if the file does not have it.
func (c *Config) Flag(name string) (values []string, ok bool, err error) {
	value, ok := c.Crawl[name]
	if !ok {
		return nil, false, nil
	}
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			values = append(values, v)
		case bool:
			values = append(values, strconv.FormatBool(v))
		case int64:
			values = append(values, strconv.FormatInt(v, 10))
		default:
			return nil, true, c.Complain(name, fmt.Errorf("%v is no text, number or truth value", v))
		}
	}
	return values, true, nil
}

// SetFlag sets a flag that has one value.
func (c *Config) SetFlag(name, value string) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		c.Crawl[name] = n
	} else if value == "true" || value == "false" {
		c.Crawl[name] = value == "true"
	} else {
		c.Crawl[name] = value
	}
}

// SetList sets a flag that is repeatable.
func (c *Config) SetList(name string, values []string) {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	c.Crawl[name] = list
}

// isIn reports whether a file has the rules of c.
func (c *Config) isIn(file []byte) bool {
	var in Config
	err := toml.Unmarshal(file, &in)
	return err == nil && in.Schema == c.Schema && reflect.DeepEqual(in.Crawl, c.Crawl)
}

const header = `# The rules of this crawl. "anatomy crawl" without flags follows them; a flag changes them.
# The names are those of the flags: anatomy crawl --help

`

// Write replaces the file. It is readable by its owner alone. Comments and lines that somebody wrote
// by hand stay, unless the file has a form that only a rewrite can change.
func (c *Config) Write() error {
	content, ok := edit(c.content, c.was, c.Crawl)
	if !ok || !c.isIn(content) {
		b, err := toml.Marshal(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.path, err)
		}
		content = append([]byte(header), b...)
	}
	if err := durable.WritePrivate(durable.OS, c.path, content); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	c.content, c.was = content, maps.Clone(c.Crawl)
	return nil
}
