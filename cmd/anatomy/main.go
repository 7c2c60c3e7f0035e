// Anatomy is a web search engine in one binary: it crawls, stores, indexes, ranks and answers.
// Run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"anatomy/cmd/anatomy/internal/backups"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/clusters"
	"anatomy/cmd/anatomy/internal/configs"
	"anatomy/cmd/anatomy/internal/disks"
	"anatomy/cmd/anatomy/internal/export"
	"anatomy/cmd/anatomy/internal/imports"
	"anatomy/cmd/anatomy/internal/manual"
	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/cmd/anatomy/internal/ranks"
	"anatomy/cmd/anatomy/internal/resolve"
	"anatomy/cmd/anatomy/internal/service"

	"github.com/spf13/cobra"
)

func main() {
	// Half of Go's default saves a sixth of a crawl's peak memory for 2 % of its time, because most of
	// what it allocates is short-lived. A limit in bytes would slow down a large crawl.
	setGCPercent(50)
	hideFiles()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// setGCPercent sets the garbage collector's target, unless GOGC is set.
func setGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// run executes the command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, signals := service.Catch(context.Background())
	defer signals.Close()
	root, s := newRoot()
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if c.Annotations[cli.UntilEnded] != "" {
			signals.Hangup()
		}
		return s.CheckDisks(c)
	}
	out := &output{w: stdout}
	root.SetArgs(args)
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		cli.PlainUsages(root)
	}
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output: %w", out.err)
	}
	if command.Annotations[cli.UntilEnded] != "" && errors.Is(context.Cause(ctx), service.ErrTerminated) && cli.IsInterrupted(err) {
		return 0 // that was its regular end
	}
	return report(stderr, s, command, err)
}

// An output keeps the first write error, so that the command fails if its output was not printed.
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

func newRoot() (*cobra.Command, *cli.GlobalFlags) {
	cobra.EnableCommandSorting = false
	s := &cli.GlobalFlags{}
	root := &cobra.Command{
		Use:   "anatomy",
		Short: "a web search engine in one binary",
		Long: `Anatomy crawls a set of sites, stores and indexes their pages, ranks them by their links, and answers queries in
the browser, as JSON and in the terminal.`,
		Example: `  anatomy demo
  anatomy crawl --serve https://docs.example.org/
  anatomy search '"getting started" -draft'`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetUsageTemplate(cli.UsageTemplate)
	root.SetVersionTemplate("anatomy {{.Version}}\n")
	s.AddData(root.PersistentFlags())
	root.PersistentFlags().BoolVarP(&s.Verbose, "verbose", "v", false, "log in detail")
	root.MarkPersistentFlagDirname("data")
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"use", "crawl and search", []*cobra.Command{
			newDemo(s), newCrawl(s), newServe(s), newSearch(s), newMCP(s), newRemove(s)}},
		{"look", "inspect", []*cobra.Command{
			newExplain(s), newTrace(s), newLinks(s), newStats(s), newDump(s), resolve.New()}},
		{"study", "rank and measure", []*cobra.Command{ranks.New(s), quality.NewEval(s), quality.NewBench(s)}},
		{"maintain", "maintain the data folder", []*cobra.Command{
			configs.New(s, ruleFlags(true)), newCheck(s), backups.New(s), backups.NewRestore(s), newCompact(s), newIndex(s), imports.New(s),
			export.New(s, version()), newSplit(s), disks.New(s)}},
		{"machines", "several machines", []*cobra.Command{
			newCrawler(s), newNode(s), clusters.New(s, version())}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newPDF(), newVersion(), manual.New(version()))
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "print shell completion for bash, zsh, fish or powershell"
			c.Long = "Completion prints a script that completes commands and flags. For how to load it: anatomy completion bash --help"
			c.Example = "  source <(anatomy completion bash)"
		}
	}
	cli.RequireSubcommand(root)
	return root, s
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "show the help of a command",
		Example: "  anatomy help crawl\n  anatomy help dump segment",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return cli.UnknownCommand(about, rest[0])
			}
			return about.Help()
		},
	}
}
