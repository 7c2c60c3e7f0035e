// Package manual writes the help of all commands as man pages.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"anatomy/cmd/anatomy/internal/cli"
)

// New returns the command "man".
func New(version string) *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "write man pages of all commands into a folder",
		Long:    "Man writes a man page for each command into a folder, which it makes if there is none: anatomy.1, anatomy-crawl.1 and so on.",
		Example: "  anatomy man ~/.local/share/man/man1",
		Args:    cli.ExactArgs(1, "a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return write(c.Root(), args[0], version)
		},
	}
}

// write writes the pages of c and of the commands below it.
func write(c *cobra.Command, folder, version string) error {
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			if err := write(below, folder, version); err != nil {
				return err
			}
		}
	}
	path := filepath.Join(folder, name(c)+".1")
	if err := os.WriteFile(path, []byte(page(c, version)), 0o644); err != nil {
		return err
	}
	return os.Chmod(path, 0o644) // all may read it, though the data folder is for its owner alone
}

// name returns the name of a command's page, as git has it: "anatomy-crawl-status".
func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// page returns the page of a command in the language of man(7).
func page(c *cobra.Command, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"anatomy %s\" \"Commands of anatomy\"\n.nh\n.ad l\n", strings.ToUpper(name(c)), escape(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name(c)), escape(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escape(c.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	if c.Long != "" {
		b.WriteString(prose(c.Long))
	} else {
		b.WriteString(prose(strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."))
	}
	commands(&b, c)
	flags(&b, "OPTIONS", c.NonInheritedFlags())
	flags(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if c.HasExample() {
		b.WriteString(".SH EXAMPLES\n" + prose(c.Example))
	}
	if c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", escape(name(c.Parent())))
	}
	return b.String()
}

// prose returns paragraphs of text, in which indented lines stay as they are.
func prose(text string) string {
	var b strings.Builder
	asIs := false
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		switch {
		case indented && !asIs:
			b.WriteString(".nf\n")
		case !indented && asIs:
			b.WriteString(".fi\n")
		}
		asIs = indented
		if strings.TrimSpace(line) == "" {
			b.WriteString(".PP\n")
		} else {
			b.WriteString(escape(line) + "\n")
		}
	}
	if asIs {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// commands adds a section with the commands below c.
func commands(b *strings.Builder, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			fmt.Fprintf(b, ".TP\n.BR %s (1)\n%s\n", escape(name(below)), escape(below.Short))
		}
	}
}

// flags adds a section with flags, each with the name of its value and its default as in --help.
func flags(b *strings.Builder, title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	for line := range strings.SplitSeq(strings.TrimRight(set.FlagUsages(), "\n"), "\n") {
		flag, usage, _ := strings.Cut(strings.TrimSpace(line), "   ")
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", escape(flag), escape(strings.TrimSpace(usage)))
	}
}

// escape escapes text for man(7).
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
