package cli

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// CompleteFlag makes the shell complete a flag with the given values.
func CompleteFlag(c *cobra.Command, flag string, values ...string) {
	c.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// UsageTemplate is cobra's usage text without its empty lines and capital letters.
const UsageTemplate = `usage: {{if .Annotations.groups}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}
{{- if .HasAvailableSubCommands}}
{{- $c := .}}{{range $g := .Groups}}

{{.Title}}:
{{- range $c.Commands}}{{if and .IsAvailableCommand (eq .GroupID $g.ID)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

{{if .Groups}}other commands{{else}}commands{{end}}:
{{- range .Commands}}{{if and .IsAvailableCommand (eq .GroupID "")}}
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

// RequireSubcommand makes c, and every command below it that only groups others, fail with a
// UsageError if no command or an unknown one is given. Cobra prints the help and succeeds.
func RequireSubcommand(c *cobra.Command) {
	for _, below := range c.Commands() {
		RequireSubcommand(below)
	}
	if !c.HasSubCommands() || c.RunE != nil {
		return
	}
	c.SetFlagErrorFunc(func(at *cobra.Command, err error) error {
		if at == c && at.Flags().NArg() > 0 { // the flag is one of the command that was meant
			return UnknownCommand(c, at.Flags().Arg(0))
		}
		return FlagError(at, err)
	})
	c.Annotations = map[string]string{"groups": "other commands, and does nothing itself"}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownCommand(c, args[0])
		}
		fmt.Fprintln(c.ErrOrStderr(), c.UsageString())
		return UsageErrorf("%s: no command given", c.CommandPath())
	}
}

// FlagError returns a UsageError for an error of the flags package. It proposes the nearest flag of c
// for one that does not exist.
func FlagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if meant := Nearest(unknown.GetSpecifiedName(), names); meant != "" {
			return UsageError{Err: err, Hint: "did you mean: --" + meant}
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if valid := ValidValues(invalid.GetFlag()); valid != "" {
			err = fmt.Errorf("--%s: %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), valid)
		}
	}
	return UsageError{Err: err}
}

// PlainUsages takes the backquotes out of the usages of all flags, which mark the name of a value for
// help texts. Completions show usages as they are.
func PlainUsages(c *cobra.Command) {
	plain := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	c.Flags().VisitAll(plain)
	c.PersistentFlags().VisitAll(plain)
	for _, below := range c.Commands() {
		PlainUsages(below)
	}
}

// ValidValues names the values that a flag can have, or returns "" for a flag with a type of its own.
func ValidValues(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return times
	case "bool":
		return "true or false"
	case "uint", "uint64":
		return "a whole number from 0"
	case "uint16":
		return fmt.Sprintf("a whole number from 0 to %d", math.MaxUint16)
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	}
	return ""
}

// UnknownCommand returns a UsageError that proposes the nearest command.
func UnknownCommand(c *cobra.Command, name string) error {
	err := UsageError{
		Err:  fmt.Errorf("%s has no command %q", c.CommandPath(), name),
		Hint: c.CommandPath() + " --help",
	}
	var names []string
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() || below.Name() == "help" {
			names = append(names, below.Name())
		}
	}
	if meant := Nearest(name, names); meant != "" {
		err.Hint = fmt.Sprintf("did you mean: %s %s", c.CommandPath(), meant)
	}
	return err
}

// Nearest returns the name that is most similar to a mistyped one, or "".
func Nearest(typed string, names []string) string {
	c := &cobra.Command{} // which has such a search for the names of its commands
	for _, name := range names {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for c.SuggestionsMinimumDistance = range 3 {
		if meant := c.SuggestionsFor(typed); typed != "" && len(meant) > 0 {
			return meant[0]
		}
	}
	return ""
}

// ExactArgs returns a check for n arguments. what names them in the error: "one URL".
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return UsageErrorf("%s takes %s, got %d", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// MinArgs returns a check for n arguments or more.
func MinArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return UsageErrorf("%s takes %s", c.CommandPath(), what)
		}
		return nil
	}
}

// MaxArgs returns a check for at most n arguments.
func MaxArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return UsageErrorf("%s takes %s, got %d", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// RejectFlags returns a UsageError for each of the flags that was given, joined, if wrong is true. The
// format contains one %s for the flag's name.
func RejectFlags(c *cobra.Command, wrong bool, format string, flags ...string) error {
	var errs []error
	for _, flag := range flags {
		if wrong && c.Flags().Changed(flag) {
			errs = append(errs, UsageErrorf(format, flag))
		}
	}
	return errors.Join(errs...)
}
