package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"anatomy"
)

var (
	inline  = regexp.MustCompile("`([^`\n]+)`")
	opening = regexp.MustCompile(`^(?:\$ )?(?:go run \./cmd/)?(anatomy(?: .*)?)$`)
	flag    = regexp.MustCompile(`^--[a-z-]+|^-[a-z]$`)
)

// A named is a command line in a document.
type named struct {
	line  int
	words []string // without quoting; for a flag without a command, the flag and its value
}

// commandLines finds the lines of code blocks that call anatomy, and the inline code that calls it
// or begins with a flag.
func commandLines(text string) (found []named) {
	for i, line := range strings.Split(text, "\n") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			if match := opening.FindStringSubmatch(strings.TrimSpace(code)); match != nil {
				found = append(found, named{i + 1, split(match[1])})
			}
			continue
		}
		for _, code := range inline.FindAllStringSubmatch(line, -1) {
			if match := opening.FindStringSubmatch(code[1]); match != nil {
				found = append(found, named{i + 1, split(match[1])})
			} else if flag.MatchString(code[1]) {
				found = append(found, named{i + 1, split(code[1])})
			}
		}
	}
	return found
}

// split cuts a command line into words as a shell does, as far as documents need it, and ends it at
// a remark.
func split(line string) (words []string) {
	var word strings.Builder
	var quote rune
	started := false
	end := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, started = r, true
		case quote == 0 && r == ' ':
			end()
		case quote == 0 && r == '#' && !started:
			return words
		default:
			word.WriteRune(r)
			started = true
		}
	}
	end()
	return words
}

// wrong says what of a command line does not exist, "" where all does. A word of alternatives,
// a|b, is each of them.
func wrong(root *cobra.Command, words []string) string {
	for i, word := range words {
		if options := strings.Split(word, "|"); len(options) > 1 && i > 0 && words[0] == "anatomy" {
			for _, option := range options {
				if s := wrong(root, slices.Concat(words[:i], []string{option}, words[i+1:])); s != "" {
					return s
				}
			}
			return ""
		}
	}
	if words[0] != "anatomy" {
		return wrongFlag(words[0], everyCommand(root))
	}
	c, rest, err := root.Find(words[1:])
	if err != nil {
		return err.Error()
	}
	flags := 0 // a word after one may be its value
	for _, word := range rest {
		if word == "--" {
			break
		}
		if flag.MatchString(word) {
			flags++
			if s := wrongFlag(word, []*cobra.Command{c}); s != "" {
				return c.CommandPath() + ": " + s
			}
		} else if c.HasSubCommands() && flags == 0 && !strings.Contains(c.Use, " ") && !strings.ContainsAny(word, "….") {
			return fmt.Sprintf("%s has no command %q", c.CommandPath(), word)
		}
	}
	return ""
}

// wrongFlag says whether none of the commands has a flag.
func wrongFlag(word string, commands []*cobra.Command) string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	for _, c := range commands {
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		if len(name) == 1 && (c.Flags().ShorthandLookup(name) != nil || c.InheritedFlags().ShorthandLookup(name) != nil) ||
			c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil {
			return ""
		}
	}
	return "no flag " + word
}

func everyCommand(c *cobra.Command) (all []*cobra.Command) {
	all = append(all, c)
	for _, below := range c.Commands() {
		all = append(all, everyCommand(below)...)
	}
	return all
}

// Every command line and flag that the documents, the pages of the demo and the help name exists.
func TestNamedCommands(t *testing.T) {
	root, _ := newRoot()
	found := map[string]int{}
	check := func(name, text string) {
		for _, n := range commandLines(text) {
			found[name]++
			if s := wrong(root, n.words); s != "" {
				t.Errorf("%s:%d: %s: %s", name, n.line, strings.Join(n.words, " "), s)
			}
		}
	}
	for _, tree := range []fs.FS{anatomy.Docs, os.DirFS("../../demo/site")} {
		err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path.Ext(name) != ".md" {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			check(name, string(text))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range everyCommand(root) {
		check(c.CommandPath()+" --help", strings.ReplaceAll("\n"+c.Example, "\n  ", "\n    "))
		if own := strings.HasPrefix(c.CommandPath(), "anatomy completion "); !own && !strings.Contains(c.Example, "anatomy") {
			t.Errorf("%s --help has no example", c.CommandPath())
		}
	}
	for name, least := range map[string]int{"README.md": 20, "doc/design/formats.md": 2, "anatomy.test/commands.md": 8, "anatomy crawl --help": 3} {
		if found[name] < least {
			t.Errorf("%s: %d command lines and flags found, want %d and more", name, found[name], least)
		}
	}
}

// TestShorthands: a flag has the same letter in all commands that have the flag.
func TestShorthands(t *testing.T) {
	root, _ := newRoot()
	letters, outputs := map[string]string{}, 0
	for _, c := range everyCommand(root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if known, ok := letters[f.Name]; ok && known != f.Shorthand {
				t.Errorf("%s: --%s has the letter %q, elsewhere %q", c.CommandPath(), f.Name, f.Shorthand, known)
			}
			letters[f.Name] = f.Shorthand
			if f.Name == "output" {
				outputs++
			}
		})
	}
	if outputs < 6 || letters["output"] != "o" {
		t.Errorf("%d commands have --output, the letter is %q", outputs, letters["output"])
	}
}

// TestWrongNames: names that do not exist are reported, wherever they occur.
func TestWrongNames(t *testing.T) {
	root, _ := newRoot()
	text := "Say `anatomy crawl URL...` or `--scope any` or `anatomy dump repository|links …`.\n" +
		"    anatomy search '\"page rank\" -draft'  # --remark\n" +
		"    go run ./cmd/anatomy demo --exit\n" +
		"Not `anatomy fly`, `--fly`, `anatomy dump wings`, `anatomy dump rank|wings`, nor\n" +
		"    anatomy demo --fly\n"
	var missing []string
	lines := commandLines(text)
	for _, n := range lines {
		if wrong(root, n.words) != "" {
			missing = append(missing, strings.Join(n.words, " "))
		}
	}
	want := []string{"anatomy fly", "--fly", "anatomy dump wings", "anatomy dump rank|wings", "anatomy demo --fly"}
	if !slices.Equal(missing, want) || len(lines) != 10 {
		t.Errorf("missing %q of %d, want %q of 10", missing, len(lines), want)
	}
}
