// Package rules keeps the flags of crawl in anatomy.toml, so that a crawl resumes by the rules that it
// began with.
package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/disk/shards"
	"anatomy/weburl"
)

// Rules are the rules that a data folder keeps, with the changes by the command line.
type Rules struct {
	config  *config.Config
	kept    []string // flags that the folder keeps and that apply: "--scope dir"
	changed []string // "--delay 5s instead of 1s"
	dirty   bool     // the file is to be written
	resumed bool     // the folder has a crawl
	older   bool     // and no file
	tooMany int      // start URLs, if they are too many to be kept
}

// unreadHint returns the next step after an error of reading the rules.
func unreadHint(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "run the command as the owner of the folder, or name another folder with --data"
	}
	return "correct the file, or delete it and give the flags again"
}

// Read sets the flags of a crawl command that were not given to what the data folder keeps, and
// returns the rules that it is to keep. newCrawl returns a crawl without flags.
func Read(c *cobra.Command, dir string, newCrawl func() Crawl) (*Rules, error) {
	r := &Rules{resumed: shards.Check(dir) == nil}
	var err error
	if r.config, err = config.Read(dir); errors.Is(err, fs.ErrNotExist) {
		r.config, r.dirty = config.New(dir), true
		r.older = r.resumed
	} else if errors.Is(err, syscall.ENOTDIR) {
		return nil, cli.WithHint(fmt.Errorf("%s is a file, not a folder", dir), "name a folder with --data")
	} else if err != nil {
		return nil, cli.WithHint(err, unreadHint(err))
	}
	for _, p := range Check(r.config, newCrawl) {
		// A given flag replaces the value in the file, but the lists of start URLs are joined.
		if p.Key == "" || p.Key == urlKey || !c.Flags().Changed(p.Key) {
			at := cli.GlobalFlags{Data: dir}
			return nil, cli.WithHint(p, "to see all that is wrong in the file: "+at.Command("config check"))
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
	if err != nil && !flag.Changed {
		return err
	}
	if name == urlKey {
		given, _ := flagValues(flag) // a list
		return setFlag(flag, r.AddURLs(given))
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
			return err
		}
		r.kept = append(r.kept, was)
	}
	return nil
}

// maxURLs bounds the start URLs that are kept. A longer list is in the document index alone.
const maxURLs = 1000

// AddURLs adds start URLs to those that the folder keeps, and returns all of them.
func (r *Rules) AddURLs(urls []string) (all []string) {
	kept, _, _ := r.config.Flag(urlKey)
	all = UnionOf(kept, urls)
	switch {
	case len(all) > maxURLs:
		r.tooMany = len(all)
	case len(all) > len(kept):
		r.config.SetList(urlKey, all)
		r.dirty = true
	}
	return all
}

// UnionOf returns the URLs of a, and those of b that a does not have in another spelling.
func UnionOf(a, b []string) []string {
	all := slices.Clone(a)
	has := map[string]bool{}
	canonical := func(s string) string {
		if u, err := weburl.ParseTyped(s); err == nil {
			return u.String()
		}
		return s
	}
	for _, s := range a {
		has[canonical(s)] = true
	}
	for _, s := range b {
		if c := canonical(s); !has[c] {
			has[c] = true
			all = append(all, s)
		}
	}
	return all
}

// flagValues returns the values of a flag as they are kept.
func flagValues(f *pflag.Flag) ([]string, error) {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice(), nil
	}
	value, err := KeptValue(f.Name, f.Value.String())
	return []string{value}, err
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

// Text returns lines on the rules that were read from the data folder, and on those that were changed.
// pages reports whether the folder has some.
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
	if r.tooMany > 0 {
		lines = append(lines, fmt.Sprintf("%d start URLs: more than %d are not kept in %s.", r.tooMany, maxURLs, r.config.Path()))
	}
	if r.resumed && len(r.changed) > 0 {
		lines = append(lines, "Changed rules: "+strings.Join(r.changed, ", "))
	}
	return strings.Join(lines, "\n")
}
