package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/config"
	"anatomy/searcher/labels"
	"anatomy/web"
)

// A Crawl is a crawl command without its work.
type Crawl struct {
	Flags *pflag.FlagSet
	Check func() error // returns what is wrong with the values of the flags
}

// Check returns what is wrong in a file, in the order of its lines. newCrawl returns a crawl without
// flags.
func Check(c *config.Config, newCrawl func() Crawl) []*config.Problem {
	var all []*config.Problem
	for _, key := range c.Unknown() {
		why := errors.New("unknown key")
		if len(key) == 1 && slices.Contains(Flags, key[0]) {
			why = errors.New("unknown key here; it belongs below [crawl]")
		}
		if meant := nearestTable(key); meant != "" {
			why = fmt.Errorf("unknown key; did you mean %s?", meant)
		}
		if meant := searchKey(key[len(key)-1]); meant != "" && len(key) <= 2 && key[0] != "crawl" {
			why = fmt.Errorf("unknown key; did you mean %s below [search]?", meant)
		}
		all = append(all, c.Problem(why, key...))
	}
	together := newCrawl()
	for _, name := range c.Keys() {
		alone := newCrawl()
		err := apply(c, &alone, name)
		if err == nil {
			err = apply(c, &together, name)
		}
		if err == nil {
			err = alone.Check()
		}
		if err != nil {
			all = append(all, c.Problem(withoutFlag(err, name), "crawl", name))
		}
	}
	if err := c.Search.CheckName(); err != nil {
		all = append(all, c.Problem(err, "search", "name"))
	}
	if err := c.Search.CheckAccent(); err != nil {
		all = append(all, c.Problem(err, "search", "accent"))
	}
	if _, _, err := c.ReadLogo(); err != nil {
		all = append(all, c.Problem(err, "search", "logo"))
	}
	if err := web.CheckAccess(nil, c.Search.Origins); err != nil {
		all = append(all, c.Problem(err, "search", originsKey))
	}
	if err := checkRanking(c); err != nil {
		all = append(all, c.Problem(err, "search", "ranking"))
	}
	if err := checkLanguages(c); err != nil {
		all = append(all, c.Problem(err, "search", "languages"))
	}
	if _, err := labels.Parse(c.Search.Labels); err != nil {
		all = append(all, c.Problem(err, "search", "labels"))
	}
	if _, err := synonymsOf(c); err != nil {
		all = append(all, c.Problem(err, "search", "synonyms"))
	}
	_, wrong := pinsOf(c)
	for _, p := range wrong {
		all = append(all, c.PinProblem(p.Reason, p.Pin, p.Key))
	}
	if err := together.Check(); err != nil && len(all) == 0 {
		all = append(all, &config.Problem{File: c.Path(), Reason: err})
	}
	slices.SortStableFunc(all, func(a, b *config.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// nearestTable returns the table, or the key of a pin, that a misspelt key is likely meant to be, or "".
func nearestTable(key []string) string {
	switch {
	case len(key) == 1:
		if table := cli.Nearest(key[0], []string{"crawl", "search"}); table != "" {
			return "[" + table + "]"
		}
	case len(key) == 3 && key[1] == "pins":
		meant := cli.Nearest(key[2], []string{"queries", "query", "url", "title", "note"})
		return strings.Replace(meant, "query", "queries", 1)
	}
	return ""
}

// apply sets the flag of a key.
func apply(c *config.Config, crawl *Crawl, name string) error {
	flag := crawl.Flags.Lookup(name)
	if err := CheckKey(name, flag != nil); err != nil {
		return err
	}
	values, _, err := c.Flag(name)
	if err == nil {
		err = setFlag(flag, values)
	}
	return err
}

// withoutFlag removes the flag from the beginning of an error that is shown with its key.
func withoutFlag(err error, name string) error {
	for _, prefix := range []string{"--" + name + ": ", "--" + name + " ", name + ": "} {
		text, found := strings.CutPrefix(err.Error(), prefix)
		var hinted *cli.HintError
		switch {
		case found && errors.As(err, &hinted):
			return cli.WithHint(errors.New(text), hinted.Hint)
		case found:
			return errors.New(text)
		}
	}
	return err
}

// setFlag gives a flag the values of its key.
func setFlag(f *pflag.Flag, values []string) error {
	f.Changed = true
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(values)
	}
	if len(values) != 1 {
		return fmt.Errorf("it has one value, and not a list of %d", len(values))
	}
	if f.Value.Set(values[0]) != nil {
		return fmt.Errorf("%q is not %s", values[0], cli.ValidValues(f))
	}
	return nil
}
