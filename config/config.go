// Package config reads and writes anatomy.toml, the rules of a crawl that its data folder keeps.
//
//	schema = 1
//
//	[crawl]
//	delay = "5s"
//	exclude = ["*/print/*", "*.pdf"]
//	max-pages = 1000
//	scope = "dir"
//	url = ["https://docs.example.org/"]
//
//	[search]
//	name = "Example Docs"
//	accent = "#0a7d5c"
//	allow_origins = ["https://docs.example.org"]
//	synonyms = "synonyms.txt"
//
//	[[search.pins]]
//	queries = ["wifi", "wireless network"]
//	url = "https://docs.example.org/network"
//
// [crawl] has the flags of the crawl command by name; a flag that is missing has its default.
// Comments stay when a flag is changed. The file has the name of a file of credentials, not its
// content. Only its owner can read it.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"anatomy/disk/durable"
)

// Schema is the version of the file that this program reads and writes.
const Schema = 1

// SynonymsName is the name of the file of synonyms that commands make if the config names none.
const SynonymsName = "synonyms.txt"

// Path returns the name of the file in a data folder.
func Path(dir string) string { return filepath.Join(dir, "anatomy.toml") }

// A Config is the content of the file.
type Config struct {
	Schema int            `toml:"schema"`
	Crawl  map[string]any `toml:"crawl"` // by the name of the flag: a string, bool, int64 or list of strings
	Search Search         `toml:"search,omitempty"`

	path    string
	content []byte         // of the file; nil if there is none
	was     map[string]any // Crawl as it was read
	search  Search         // as it was read
	unknown [][]string     // keys that the file cannot have
}

// Synonyms returns the name of the file of synonyms, or "".
func (c *Config) Synonyms() string {
	if c.Search.Synonyms == "" {
		return ""
	}
	return c.beside(c.Search.Synonyms)
}

// beside returns the path of a file that the config names.
func (c *Config) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(c.path), name)
}

// New returns a config without rules.
func New(dir string) *Config {
	return &Config{Schema: Schema, Crawl: map[string]any{}, path: Path(dir)}
}

// Path returns the name of the file.
func (c *Config) Path() string { return c.path }

// Exists reports whether the file existed when it was read.
func (c *Config) Exists() bool { return c.content != nil }

// Read reads the file of a data folder. The error wraps fs.ErrNotExist if the file does not exist;
// other errors name the line. Read does not check keys and values: see Keys and Unknown.
func Read(dir string) (*Config, error) { return ReadFile(Path(dir)) }

// ReadFile is Read for a file of any name.
func ReadFile(path string) (*Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, content)
}

// Parse returns the config of a file with some content. Its errors are those of Read.
func Parse(path string, content []byte) (*Config, error) {
	c := &Config{Crawl: map[string]any{}, path: path, content: content}
	err := toml.NewDecoder(bytes.NewReader(c.content)).DisallowUnknownFields().Decode(c)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		for i := range unknown.Errors {
			c.unknown = append(c.unknown, unknown.Errors[i].Key())
		}
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return nil, &Problem{File: path, Line: line, Key: strings.Join(wrong.Key(), "."), Reason: reason(wrong)}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch c.Schema {
	case Schema:
	case 0:
		return nil, fmt.Errorf("%s does not have the line: schema = %d", path, Schema)
	default:
		return nil, fmt.Errorf("%s has schema %d, this program reads schema %d", path, c.Schema, Schema)
	}
	c.was, c.search = maps.Clone(c.Crawl), c.Search
	return c, nil
}

var wrongType = regexp.MustCompile(`cannot decode TOML (\w+) into .* of type (\S+)`)

// reason returns err, without the names of types of Go that errors of the decoder have.
func reason(err *toml.DecodeError) error {
	found := wrongType.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	is, must := found[1], "a table"
	switch {
	case found[2] == "string":
		must = "a text in quotes"
	case found[2] == "bool":
		must = "true or false"
	case found[2] == "int":
		must = "a whole number"
	case found[2] == "[]string":
		must = "a list such as ['a', 'b']"
	case strings.HasPrefix(found[2], "[]"):
		must = "tables such as [[search.pins]]"
	}
	switch is {
	case "array":
		is = "a list"
	case "integer":
		is = "an integer"
	default:
		is = "a " + is
	}
	return fmt.Errorf("this is %s, and must be %s", is, must)
}

// A Problem is an error in a file.
type Problem struct {
	File   string
	Line   int    // 0 if it is the whole file
	Key    string // "" if it is none, or several
	Reason error
}

func (p *Problem) Error() string {
	text := p.File
	if p.Line > 0 {
		text += fmt.Sprintf(", line %d", p.Line)
	}
	if p.Key != "" {
		text += ", key " + p.Key
	}
	return fmt.Sprintf("%s: %v", text, p.Reason)
}

func (p *Problem) Unwrap() error { return p.Reason }

// Len returns the number of keys of the file in tables, such as [crawl] and [search].
func (c *Config) Len() (n int) {
	for _, a := range assignments(c.content) {
		if a.key != "" && len(a.path) > 1 {
			n++
		}
	}
	return n
}

// Keys returns the keys of [crawl], sorted.
func (c *Config) Keys() []string { return slices.Sorted(maps.Keys(c.Crawl)) }

// Unknown returns the keys that are neither schema nor in [crawl] or [search], with their tables, in
// their order.
func (c *Config) Unknown() [][]string { return c.unknown }

// Problem returns a problem with a key, which is given with its table, and its line.
func (c *Config) Problem(reason error, key ...string) *Problem {
	p := &Problem{File: c.path, Key: strings.Join(key, "."), Reason: reason}
	if len(key) == 2 && key[0] == "crawl" {
		p.Key = key[1]
	}
	for _, a := range assignments(c.content) {
		if len(a.path) >= len(key) && slices.Equal(a.path[:len(key)], key) {
			p.Line = 1 + bytes.Count(c.content[:a.from], []byte("\n"))
			break
		}
	}
	return p
}

// PinProblem returns a problem with a key of a pin, given by its index, and its line.
func (c *Config) PinProblem(reason error, pin int, key string) *Problem {
	path := []string{"search", "pins"}
	p := &Problem{File: c.path, Key: strings.Join(append(path, key), "."), Reason: reason}
	n := -1
	for _, a := range assignments(c.content) {
		isHeader := a.key == "" && slices.Equal(a.path, path)
		if isHeader {
			n++
		}
		of := len(a.path) == 3 && slices.Equal(a.path[:2], path)
		if n == pin && isHeader || n == pin && of && a.path[2] == key ||
			n < 0 && slices.Equal(a.path, path) { // the last: a list of inline tables
			p.Line = 1 + bytes.Count(c.content[:a.from], []byte("\n"))
		}
	}
	return p
}

// Flag returns the value of a flag as the command line has it, or its values if it is repeatable.
// ok is false if the file does not set it.
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
			return nil, true, fmt.Errorf("%v is not a text, a whole number, true or false", v)
		}
	}
	return values, true, nil
}

// SetFlag sets a flag that has one value.
func (c *Config) SetFlag(name, value string) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value {
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

// Unset removes a flag, so that it has its default.
func (c *Config) Unset(name string) { delete(c.Crawl, name) }

// isIn reports whether a file has the rules of c.
func (c *Config) isIn(file []byte) bool {
	var in Config
	err := toml.Unmarshal(file, &in)
	return err == nil && in.Schema == c.Schema && reflect.DeepEqual(in.Search, c.Search) &&
		(len(in.Crawl)+len(c.Crawl) == 0 || same(in.Crawl, c.Crawl)) // nil is as good as empty
}

// Header is how a file begins that the program writes.
const Header = `# The rules of this crawl. "anatomy crawl" without flags follows them; a flag changes them.
# The names are those of the flags. What each means: anatomy config

`

// ErrChanged is the error of Write if the file has changed since it was read.
var ErrChanged = errors.New("the file was changed in the meantime")

// Write replaces the file. Only its owner can read it. Comments and lines that were edited by hand
// stay, unless the file has a form that only a rewrite can change. The error wraps ErrChanged if
// the file changed since it was read.
func (c *Config) Write() error {
	if err := checkUnchanged(c.path, c.content); err != nil {
		return err
	}
	content, ok := edit(c.content, "crawl", c.was, c.Crawl)
	if ok {
		content, ok = c.Search.edit(content, &c.search)
	}
	if !ok || !c.isIn(content) {
		if len(c.unknown) > 0 {
			return c.Problem(errors.New("a change would lose this key; take it out first"), c.unknown[0]...)
		}
		b, err := toml.Marshal(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.path, err)
		}
		if content = append([]byte(Header), b...); !c.isIn(content) {
			return fmt.Errorf("%s: a key or value cannot be written; is it UTF-8?", c.path)
		}
	}
	if err := replace(c.path, content); err != nil {
		return err
	}
	c.content, c.was, c.search = content, maps.Clone(c.Crawl), c.Search
	return nil
}

// Replace replaces the whole file of a data folder, which had the content was; nil if there was none.
// Only its owner can read it. The error wraps ErrChanged if the file has another content.
func Replace(dir string, was, now []byte) error {
	if err := checkUnchanged(Path(dir), was); err != nil {
		return err
	}
	return replace(Path(dir), now)
}

// checkUnchanged returns an error if a file exists and does not have the content was.
func checkUnchanged(path string, was []byte) error {
	now, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case was == nil || !bytes.Equal(now, was):
		return fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return nil
}

func replace(path string, content []byte) error {
	if err := durable.WritePrivate(durable.OS, path, content); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
