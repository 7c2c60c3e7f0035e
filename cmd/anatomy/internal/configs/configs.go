// Package configs has the command config.
package configs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/config"
	"anatomy/disk/shards"
	"anatomy/internal/plural"
	"anatomy/searcher"
)

// New returns the command config. newCrawl returns a crawl without flags, whose Check also reads the
// files that flags name.
func New(s *cli.GlobalFlags, newCrawl func() rules.Crawl) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "show and change the rules of a crawl, which the data folder keeps",
		Long: `Config prints the rules that the next crawl of the data folder follows, with what each key means. A key that has its
default is a comment. The output is a valid anatomy.toml.

The keys are the flags of "anatomy crawl" that say what is fetched and how. The crawl writes those that it was given;
"config set" and "config unset" change them, and the file, anatomy.toml in the data folder, can be edited by hand:
comments stay. A crawl that runs goes on with the rules that it began with.

[search] has the name of the collection and the origins of pages that may have its search box, which "anatomy serve"
follows from its next start, and names a file of synonyms, with lines such as postgres = PostgreSQL. Each
[[search.pins]] pins a page to queries, which show it first. ranking names the rank vector that orders results,
languages are preferred for readers who prefer none, and labels gives pages products and versions by their URLs. A
running server reads these again when they change.`,
		Example: "  anatomy config\n  anatomy config set exclude '*/print/*' '*.pdf'\n  anatomy config unset max-pages\n  anatomy config check",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(c, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			kept, err := open(s)
			if err != nil {
				return err
			}
			if problems := rules.Check(kept, newCrawl); len(problems) > 0 {
				return cli.WithHint(problems[0], "to see all that is wrong in the file: "+s.Command("config check"))
			}
			return show(c, kept, newCrawl().Flags)
		},
	}
	c.AddCommand(newCheck(s, newCrawl), newSet(s, newCrawl), newUnset(s))
	return c
}

// open reads the rules of the data folder, which may not have been crawled yet; without a file, every
// flag has its default.
func open(s *cli.GlobalFlags) (*config.Config, error) {
	c, err := config.Read(s.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return config.New(s.Data), shards.Check(s.Data)
	}
	if err != nil {
		return nil, cli.WithHint(err, "correct the file; in it, [crawl] has the flags of anatomy crawl under their names")
	}
	return c, nil
}

// openData is open for a data folder, in which a change is recorded.
func openData(s *cli.GlobalFlags) (*config.Config, error) {
	if err := shards.Check(s.Data); err != nil {
		return nil, err
	}
	return open(s)
}

// show prints the current rules with what each key means.
func show(c *cobra.Command, kept *config.Config, defaults *pflag.FlagSet) error {
	text, err := describe(kept, defaults)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.OutOrStdout(), text)
	return err
}

// describe returns the current rules with what each key means.
func describe(kept *config.Config, defaults *pflag.FlagSet) (string, error) {
	var text strings.Builder
	about := "The rules of " + kept.Path() + ". What follows a # has its default."
	if !kept.Exists() {
		about = "There is no " + kept.Path() + ": every key has its default."
	}
	fmt.Fprintf(&text, "# %s\nschema = %d\n\n[crawl]\n", cli.OneLine(about), kept.Schema)
	unset := config.New("")
	for _, name := range rules.Flags {
		flag := defaults.Lookup(name)
		value, isSet := kept.Crawl[name]
		comment := ""
		if !isSet {
			setDefault(unset, flag)
			value, comment = unset.Crawl[name], "# "
		}
		line, err := config.Format(name, value)
		if err != nil {
			return "", err
		}
		_, usage := pflag.UnquoteUsage(flag)
		fmt.Fprintf(&text, "\n# %s\n%s%s\n", usage, comment, line)
	}
	text.WriteString("\n[search]\n")
	for _, key := range []struct {
		name  string
		value any
		about string
	}{
		{"name", kept.Search.Name, "name of the collection in pages, feeds and tools; at most 40 characters"},
		{"accent", kept.Search.Accent, "colour of links and of the sign, such as #0a7d5c; made darker or lighter where it could not be read"},
		{"logo", kept.Search.Logo, "PNG, JPEG, WebP or SVG image beside the name, of at most 256 KB"},
		{"login", kept.Search.Login, "readers log in, with a token of --token or --read-token, an API key, or at the proxy of --login-header"},
		{"allow_origins", slices.Concat([]string{}, kept.Search.Origins), "origins of pages that may have the search box, such as https://docs.example.org; '*' for all; none if the collection requires a login"},
		{"ranking", kept.Search.Ranking, "rank vector, of anatomy pagerank --name, that orders the results of searches that name none; else default"},
		{"languages", slices.Concat([]string{}, kept.Search.Languages), "languages of which pages come first, such as 'de' and 'en', for readers whose preferences name none"},
		{"labels", slices.Concat([]string{}, kept.Search.Labels), "products and versions of pages by their URLs: 'https://docs.example.org/{product}/{version}/', 'https://db.example.org/{version}/ product:acme-db'"},
		{"synonyms", kept.Search.Synonyms, "file of lines such as postgres = PostgreSQL"},
	} {
		line, err := config.Format(key.name, key.value)
		if err != nil {
			return "", err
		}
		comment := ""
		if list, isList := key.value.([]string); key.value == "" || key.value == false || isList && len(list) == 0 {
			comment = "# "
		}
		fmt.Fprintf(&text, "\n# %s\n%s%s\n", key.about, comment, line)
	}
	pins, err := formatPins(kept.Search.Pins)
	if err != nil {
		return "", err
	}
	return text.String() + pins, nil
}

// formatPins returns the pins as tables, or an example in comments.
func formatPins(pins []config.Pin) (string, error) {
	const about = "\n# pages that come first for queries of these words; title and note are shown, if given\n"
	if len(pins) == 0 {
		return about + "# [[search.pins]]\n# queries = ['wifi', 'wireless network']\n# url = 'https://example.org/network'\n" +
			"# title = ''\n# note = ''\n", nil
	}
	text := about
	for i, pin := range pins {
		table, err := config.FormatPin(pin)
		if err != nil {
			return "", err
		}
		if i > 0 {
			text += "\n"
		}
		text += table
	}
	return text, nil
}

// setDefault sets the key of a flag to the value that the flag has when it is not given.
func setDefault(c *config.Config, f *pflag.Flag) {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		c.SetList(f.Name, list.GetSlice())
		return
	}
	value := f.Value.String()
	if f.Value.Type() == "duration" {
		value = strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(value) // 720h instead of 720h0m0s
	}
	c.SetFlag(f.Name, value)
}

func newCheck(s *cli.GlobalFlags, newCrawl func() rules.Crawl) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "check a file of rules that was edited by hand",
		Long: `Check reads the anatomy.toml of the data folder, or another FILE, and prints what is wrong in it, with the line and the
key: keys that do not exist, values that a key cannot have, files of credentials or a topic that cannot be read, a name
that is too long, what is no origin, language or label, wrong lines of synonyms, and wrong pins. It notes the pinned pages and
the rank vector that the collection does not have.`,
		Example: "  anatomy config check --data docs\n  anatomy config check new.toml",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.UsageErrorf("%s takes one file, got %d", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			var kept *config.Config
			if len(args) == 0 {
				kept, err = open(s)
			} else if kept, err = config.ReadFile(args[0]); err != nil {
				err = cli.WithHint(err, "correct the file; for one with every key: anatomy config --data FOLDER")
			}
			if err != nil {
				return err
			}
			problems := rules.Check(kept, newCrawl)
			for _, p := range problems {
				fmt.Fprintln(c.OutOrStdout(), cli.ErrorText(p))
			}
			if len(problems) > 0 {
				return cli.WithHint(fmt.Errorf("%s has %s", kept.Path(), plural.Count(len(problems), "error")),
					"correct what is listed; a file with every key: anatomy config --data FOLDER")
			}
			if len(args) == 0 {
				noteOrigins(c, s.Data, kept)
				if err := noteRanking(c, s.Data, kept); err != nil {
					return err
				}
				if err := notePins(c, s.Data, kept); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s, no errors\n", kept.Path(), plural.Count(kept.Len(), "key"))
			return err
		},
	}
}

// noteOrigins prints that origins are allowed in vain if they are.
func noteOrigins(c *cobra.Command, dir string, kept *config.Config) {
	if len(kept.Search.Origins) > 0 && (kept.Search.Login || shards.IsPrivate(dir)) {
		reason := errors.New("note: the collection requires a login, so its search box answers no other site")
		fmt.Fprintln(c.OutOrStdout(), kept.Problem(reason, "search", "allow_origins"))
	}
}

// noteRanking prints that the collection does not have the rank vector.
func noteRanking(c *cobra.Command, dir string, kept *config.Config) error {
	name := kept.Search.Ranking
	if name == "" || shards.Check(dir) != nil {
		return nil
	}
	return quality.WithWeights(dir, "", func(s *searcher.Searcher) error {
		_, err := s.Search(c.Context(), searcher.Request{Rank: name})
		if !errors.As(err, new(*searcher.UnknownRankError)) {
			return err
		}
		reason := fmt.Errorf("note: %w; %s", err, rules.NoRankHint(dir, name))
		fmt.Fprintln(c.OutOrStdout(), kept.Problem(reason, "search", "ranking"))
		return nil
	})
}

// notePins prints which pinned pages the collection does not have, so that they are not shown.
func notePins(c *cobra.Command, dir string, kept *config.Config) error {
	if len(kept.Search.Pins) == 0 {
		return nil
	}
	return quality.WithWeights(dir, "", func(s *searcher.Searcher) error {
		for i, pin := range kept.Search.Pins {
			r := searcher.Request{Query: "info:" + pin.URL, Limit: 1, Within: time.Minute}
			answer, err := s.Search(c.Context(), r)
			if err != nil || answer.NoPages {
				return err
			}
			if answer.Total == 0 {
				reason := fmt.Errorf("note: %s is not in the collection, so the pin shows nothing", pin.URL)
				fmt.Fprintln(c.OutOrStdout(), kept.PinProblem(reason, i, "url"))
			}
		}
		return nil
	})
}

func newSet(s *cli.GlobalFlags, newCrawl func() rules.Crawl) *cobra.Command {
	c := &cobra.Command{
		Use:   "set KEY VALUE...",
		Short: "set a rule, in anatomy.toml",
		Long: `Set gives a key of anatomy.toml a value, or several if the key takes a list: a key of [crawl], or of [search] but
pins. Other lines and comments of the file stay.
A value that begins with a hyphen follows two of them: anatomy config set max-repeats -- -1`,
		Example:           "  anatomy config set delay 5s\n  anatomy config set exclude '*/print/*' '*.pdf'\n  anatomy config set languages de en",
		Args:              cli.MinArgs(2, "a key and a value"),
		ValidArgsFunction: completeKey,
		RunE: record.Calls(s, func(c *cobra.Command, args []string) error {
			kept, err := openData(s)
			if err != nil {
				return err
			}
			key := cmp.Or(rules.SettableKey(args[0]), args[0])
			if err := assign(kept, newCrawl, key, args[1:]); err != nil {
				return err
			}
			value := kept.Crawl[key]
			if rules.SettableKey(key) != "" {
				value = kept.Search.Value(key)
			}
			line, err := config.Format(key, value)
			if err != nil {
				return err
			}
			if err := write(c, kept, line, key); err != nil || key != "ranking" {
				return err
			}
			return noteRanking(c, s.Data, kept)
		}),
	}
	return c
}

// assign sets a key. It fails, with the config changed, if the values are wrong.
func assign(kept *config.Config, newCrawl func() rules.Crawl, key string, values []string) error {
	flag, ofSearch := newCrawl().Flags.Lookup(key), rules.SettableKey(key) != ""
	if err := rules.CheckKey(key, flag != nil); err != nil && !ofSearch {
		return cli.UsageErrorf("%s: %w", key, err)
	}
	for i, value := range values {
		path, err := rules.KeptValue(key, value)
		if err != nil {
			return err
		}
		values[i] = path
	}
	checked := key
	if ofSearch {
		checked = "search." + key
		if err := kept.Search.Set(key, values); err != nil {
			return cli.UsageErrorf("%s: %w", key, err)
		}
	} else if _, isList := flag.Value.(pflag.SliceValue); isList || len(values) > 1 {
		kept.SetList(key, values)
	} else {
		kept.SetFlag(key, values[0])
	}
	for _, p := range rules.Check(kept, newCrawl) {
		if p.Key == checked || p.Key == "" {
			return cli.UsageErrorf("%s: %w", key, p.Reason)
		}
	}
	return nil
}

func newUnset(s *cli.GlobalFlags) *cobra.Command {
	c := &cobra.Command{
		Use:               "unset KEY...",
		Short:             "give a rule its default again",
		Long:              "Unset takes keys out of anatomy.toml. Other lines and comments of the file stay.",
		Example:           "  anatomy config unset max-pages exclude",
		Args:              cli.MinArgs(1, "one key or several"),
		ValidArgsFunction: completeKey,
		RunE: record.Calls(s, func(c *cobra.Command, args []string) error {
			kept, err := openData(s)
			if err != nil {
				return err
			}
			for i, name := range args {
				_, ok := kept.Crawl[name]
				kept.Unset(name)
				if key := rules.SettableKey(name); key != "" && !ok {
					args[i], ok = key, kept.Search.Unset(key)
				}
				if !ok {
					return cli.WithHint(fmt.Errorf("%s does not have the key %s", kept.Path(), name), "to see what it has: anatomy config")
				}
			}
			return write(c, kept, strings.Join(args, ", ")+": the default", args...)
		}),
	}
	return c
}

// write writes the rules, and prints what the given keys are now.
func write(c *cobra.Command, kept *config.Config, now string, keys ...string) error {
	if err := kept.Write(); err != nil {
		return cli.WithHint(err, "run the same command again, or edit the file")
	}
	for _, key := range keys {
		if text := rules.Followed(key, filepath.Dir(kept.Path())); !strings.Contains(now, text) {
			now += "\n" + text
		}
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), now)
	return err
}

// completeKey completes the first argument.
func completeKey(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return slices.Sorted(slices.Values(slices.Concat(rules.Flags, rules.Settable))), cobra.ShellCompDirectiveNoFileComp
}
