package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/datadir"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version of the program and of its data format",
		Example: "  anatomy version",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprintln(c.OutOrStdout(), "anatomy", version())
			return nil
		},
	}
}

// version returns the version, commit and toolchain of the build, as far as they are known.
func version() string {
	s := "(unknown)"
	var commit, when, changed, toolchain string
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			s = info.Main.Version
		}
		toolchain = ", " + info.GoVersion
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				commit = ", commit " + setting.Value[:min(12, len(setting.Value))]
			case "vcs.time":
				when = " of " + setting.Value
			case "vcs.modified":
				if setting.Value == "true" {
					changed = " with changes"
				}
			}
		}
	}
	return fmt.Sprintf("%s%s%s%s%s, data format %d", s, commit, when, changed, toolchain, datadir.Version)
}
