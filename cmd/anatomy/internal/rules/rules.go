// Package rules keeps the flags of crawl in anatomy.toml, so that a crawl resumes by the rules that it
// began with.
package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/disk/shards"
)

// Flags are the flags of crawl that anatomy.toml keeps: those that say what is fetched and how.
var Flags = []string{
	"scope", "include", "exclude", "policy", "topic", "delay", "max-pages", "max-pages-per-host",
	"max-depth", "max-repeats", "max-urls-per-site", "max-mb-per-site", "max-parsing-per-site",
	"per-site", "per-address", "delay-for", "connections-for", "connections", "resolver",
	"allow-private", "no-index", "contact", "user-agent", "credentials", "http-port", "https-port",
	"bind",
}

// Rules are the rules that a data folder keeps, with the changes by the command line.
type Rules struct {
	config  *config.Config
	kept    []string // flags that the folder keeps and that are in force: "--scope dir"
	changed []string // "--delay 5s instead of 1s"
	dirty   bool     // the file is to be written
	resumed bool     // the folder has a crawl
	older   bool     // and no file
}

// Read sets the flags of a crawl command that were not given to what the data folder keeps, and
// returns the rules that it is to keep.
func Read(c *cobra.Command, dir string) (*Rules, error) {
	r := &Rules{resumed: shards.Check(dir) == nil}
	var err error
	if r.config, err = config.Read(dir); errors.Is(err, fs.ErrNotExist) {
		r.config, r.dirty = config.New(dir), true
		r.older = r.resumed
	} else if err != nil {
		return nil, cli.WithHint(err, "correct the file, or delete it and give the flags again")
	}
	for name := range r.config.Crawl {
		if !slices.Contains(Flags, name) {
			return nil, cli.WithHint(r.config.Complain(name, errors.New("no such rule")),
				"the rules are the flags of anatomy crawl --help; not all of them are kept")
		}
	}
	for _, name := range Flags {
		if err := r.merge(c.Flags(), name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// merge makes a flag and the rule of that name the same. The flag wins if it was given.
func (r *Rules) merge(flags *pflag.FlagSet, name string) error {
	flag := flags.Lookup(name)
	kept, ok, err := r.config.Flag(name)
	if err != nil {
		return err
	}
	was := flagText(name, kept)
	switch {
	case flag.Changed:
		now, err := flagValues(flag)
		if err != nil {
			return err
		}
		if ok && slices.Equal(kept, now) {
			return nil
		}
		if _, isList := flag.Value.(pflag.SliceValue); isList {
			r.config.SetList(name, now)
		} else {
			r.config.SetFlag(name, now[0])
		}
		r.dirty = true
		if !ok {
			was = "the default"
		}
		r.changed = append(r.changed, flagText(name, now)+" instead of "+was)
	case ok:
		if err := setFlag(flag, kept); err != nil {
			return cli.WithHint(r.config.Complain(name, err), "correct the line; anatomy crawl --help describes the flag")
		}
		r.kept = append(r.kept, was)
	}
	return nil
}

// flagValues returns the values of a flag as they are kept: the name of a file does not depend on the
// current folder.
func flagValues(f *pflag.Flag) ([]string, error) {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice(), nil
	}
	value := f.Value.String()
	if f.Name != "credentials" && f.Name != "topic" || value == "" {
		return []string{value}, nil
	}
	path, err := filepath.Abs(value)
	return []string{path}, err
}

func setFlag(f *pflag.Flag, values []string) error {
	f.Changed = true
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(values)
	}
	if len(values) != 1 {
		return errors.New("this rule has one value")
	}
	return f.Value.Set(values[0])
}

// flagText returns a flag as the command line has it.
func flagText(name string, values []string) string {
	if len(values) == 0 {
		return "no --" + name
	}
	var words []string
	for _, v := range values {
		words = append(words, "--"+name+"="+cli.ShellQuote(v))
	}
	return strings.Join(words, " ")
}

// Keep writes the file if it is to change. The caller holds the lock of the folder.
func (r *Rules) Keep() error {
	if r == nil || !r.dirty {
		return nil
	}
	return r.config.Write()
}

// Text says which rules the data folder has brought in, and which were changed. pages reports whether
// the folder has some.
func (r *Rules) Text(pages bool) string {
	if r == nil {
		return ""
	}
	var lines []string
	if r.older && pages {
		lines = append(lines, "Flags of earlier crawls of this folder were not kept. Those of this crawl are: "+
			r.config.Path()+".")
	}
	if len(r.kept) > 0 {
		lines = append(lines, fmt.Sprintf("Kept rules (%s): %s", r.config.Path(), strings.Join(r.kept, " ")))
	}
	if r.resumed && len(r.changed) > 0 {
		lines = append(lines, "Changed rules: "+strings.Join(r.changed, ", "))
	}
	return strings.Join(lines, "\n")
}
