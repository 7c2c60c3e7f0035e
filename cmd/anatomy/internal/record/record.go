// Package record records the commands that change a data folder.
package record

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/audit"
)

// A RunFunc is the RunE of a cobra.Command.
type RunFunc func(c *cobra.Command, args []string) error

// Calls returns run, with a line in the record of the data folder for each call that can change the
// folder. Usage errors leave no line.
func Calls(s *cli.GlobalFlags, run RunFunc) RunFunc {
	return func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if errors.As(err, new(cli.UsageError)) {
			return err
		}
		if failed := Call(c, s, args, err); err == nil {
			return failed
		}
		return err
	}
}

// unrecorded are flags that do not matter for the record.
var unrecorded = []string{"data", "verbose", "quiet", "json"}

// Call adds a line about a command that ended with err to the record of the data folder.
func Call(c *cobra.Command, s *cli.GlobalFlags, targets []string, err error) error {
	_, what, _ := strings.Cut(c.CommandPath(), " ")
	e := audit.Entry{Who: whoami(), What: what, Target: targets, Result: audit.Done}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(unrecorded, f.Name) {
			e.Options = append(e.Options, f.Name+"="+f.Value.String())
		}
	})
	if err != nil {
		e.Result, e.Reason = audit.Failed, cli.ErrorText(err)
	}
	return audit.Append(s.Data, e)
}

// whoami returns the user of the process: "ada (uid 1000)".
func whoami() string {
	uid := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		return fmt.Sprintf("%s (%s)", u.Username, uid)
	}
	return uid
}
