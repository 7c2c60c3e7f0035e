// Anatomy is a web search engine in one binary: it crawls, stores, indexes, ranks and answers.
// Run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	// Half of Go's default: what a crawl allocates lives shortly, and a sixth of its peak memory is
	// saved for 2 % of its time. A limit in bytes would choke a large crawl.
	collectAt(50)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// collectAt has garbage collected when there is so much of it, in % of what lives, unless GOGC says otherwise.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// run is the whole program: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	root, s := newRoot()
	out := &output{w: stdout}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output: %w", out.err)
	}
	return report(stderr, s, command, err)
}

// An output remembers that writing failed, so that what was not printed does not pass for done.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// shared are the flags of every command.
type shared struct {
	data    string
	verbose bool
}

// defaultData is the data folder where --data names none.
const defaultData = "anatomy-data"

func newRoot() (*cobra.Command, *shared) {
	s := &shared{}
	root := &cobra.Command{
		Use:   "anatomy",
		Short: "a web search engine in one binary",
		Long: `Anatomy crawls a set of sites, keeps and indexes their pages, ranks them by their links, and answers in the
browser, as JSON and in the terminal.`,
		Example: `  anatomy demo
  anatomy crawl --serve https://docs.example.org/
  anatomy search '"page rank" -draft'`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetUsageTemplate(usageTemplate)
	root.SetVersionTemplate("anatomy {{.Version}}\n")
	root.PersistentFlags().StringVar(&s.data, "data", defaultData, "the data `FOLDER`")
	root.PersistentFlags().BoolVarP(&s.verbose, "verbose", "v", false, "log what happens in detail")
	root.MarkPersistentFlagDirname("data")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{error: err} })
	root.AddCommand(
		newDemo(s), newCrawl(s), newServe(s), newMCP(s), newSearch(s), newExplain(s), newTrace(s), newLinks(s),
		newPageRank(s), newIndex(s), newRemove(s), newCompact(s), newEval(s), newBench(s), newStats(s), newCheck(s), newDump(s), newExport(s), newImport(s), newBackup(s), newRestore(s), newDNS(), newPDF(), newVersion(),
	)
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "completion for bash, zsh, fish or powershell"
			c.Long = "Completion prints a script that makes the shell complete commands and flags: its --help says how to load it."
			c.Example = "  source <(anatomy completion bash)"
		}
	}
	group(root)
	return root, s
}

// usageTemplate is cobra's without its empty lines and capital letters.
const usageTemplate = `usage: {{if and .HasAvailableSubCommands (not .Annotations.takes)}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{- if .HasAvailableSubCommands}}

commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if .HasExample}}

examples:
{{.Example}}{{end}}
{{- if .HasAvailableLocalFlags}}

flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableInheritedFlags}}

flags of every command:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`

// group makes c, and every command below it that has commands of its own and does nothing itself,
// say what is missing or unknown where cobra prints the help and calls it a success.
func group(c *cobra.Command) {
	for _, below := range c.Commands() {
		group(below)
	}
	if !c.HasSubCommands() || c.RunE != nil {
		return
	}
	for _, below := range c.Commands() {
		group(below)
	}
	if c.RunE != nil {
		return
	}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		fmt.Fprintln(c.ErrOrStderr(), c.UsageString())
		return usagef("%s: no command given", c.CommandPath())
	}
}

// unknownCommand names the command that may have been meant.
func unknownCommand(c *cobra.Command, name string) error {
	err := usageError{fmt.Errorf("%s has no command %q", c.CommandPath(), name), c.CommandPath() + " --help"}
	for distance := range 3 { // the nearest one
		c.SuggestionsMinimumDistance = distance
		if meant := c.SuggestionsFor(name); len(meant) > 0 {
			err.hint = fmt.Sprintf("did you mean: %s %s", c.CommandPath(), meant[0])
			break
		}
	}
	return err
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "what a command does, its flags and examples",
		Example: "  anatomy help crawl\n  anatomy help dump segment",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(about, rest[0])
			}
			return about.Help()
		},
	}
}

// logger writes plain lines; with quiet, warnings and errors alone.
func (s *shared) logger(w io.Writer, quiet bool) *slog.Logger {
	level := slog.LevelInfo
	switch {
	case s.verbose:
		level = slog.LevelDebug
	case quiet:
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// exactly wants n arguments, atLeast n or more; both say what is missing.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s takes %s, and was given %d", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}

// exclusive says that a flag was given that means nothing without, or together with, another.
func exclusive(c *cobra.Command, wrong bool, format string, flags ...string) error {
	for _, flag := range flags {
		if wrong && c.Flags().Changed(flag) {
			return usagef(format, flag)
		}
	}
	return nil
}

// isInterrupted says whether an error is nothing but the end of the context.
func isInterrupted(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if !isInterrupted(err) {
				return false
			}
		}
		return true
	}
	return errors.Is(err, context.Canceled)
}
