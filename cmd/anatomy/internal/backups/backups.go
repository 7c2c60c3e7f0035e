// Package backups has the commands that save a data folder as one file, and make one from such a file.
package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/record"
	"anatomy/disk/shards"
	"anatomy/upkeep"
)

// New returns the command backup.
func New(s *cli.GlobalFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE|FOLDER",
		Short: "write the data folder to one file, even during a crawl",
		Long: `Backup writes a consistent copy of the data folder: index, ranks, pages and the state of the crawl. A running crawl
and the search page continue. Immutable files are hard-linked meanwhile, so that no second copy takes up space.

The file is a tar archive compressed with zstd, with the SHA-256 of each file. It appears under its name when it is
complete. In a folder, backup names the file by the date, and creates the folder if its name ends in a slash. - is
standard output. The server's certificates and keys are omitted.`,
		Example: `  anatomy backup backups/
  anatomy backup verify backups/anatomy-20261121T090000Z.tar.zst
  anatomy backup - | ssh other 'cat >anatomy.tar.zst'`,
		Args: cli.ExactArgs(1, "a file or a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			screen := cli.NewConsole(c.ErrOrStderr())
			line := screen.Progress()
			began := time.Now()
			if err := shards.Check(s.Data); err != nil { // before a folder is made
				return err
			}
			name, err := backupName(args[0], began)
			if err != nil {
				return err
			}
			var report upkeep.BackupReport
			err = cli.WriteOutput(c, name, func(w io.Writer) (err error) {
				report, err = upkeep.Backup(c.Context(), w, s.Data, func(r upkeep.BackupReport) { line(progressText(r)) })
				return err
			})
			screen.SetStatus("")
			if err != nil {
				return err
			}
			fmt.Fprintf(screen, "%s saved in %.1f s: %s\n", progressText(report), time.Since(began).Seconds(), name)
			return nil
		},
	}
	c.AddCommand(newVerify())
	return c
}

func newVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE",
		Short: "verify a backup without restoring it",
		Long: `Verify reads a backup to its end: whether it is complete, the checksum of every file in it, and whether this program
reads its format. It writes nothing. - is standard input.`,
		Example: "  anatomy backup verify backups/anatomy-20261121T090000Z.tar.zst",
		Args:    cli.ExactArgs(1, "one file"),
		RunE: func(c *cobra.Command, args []string) error {
			report, err := readBackup(c, args[0], upkeep.VerifyBackup)
			if errors.Is(err, upkeep.ErrNotWhole) {
				return cli.WithHint(err, "make another backup: anatomy backup FILE")
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: complete, %s\n", args[0], progressText(report))
			return err
		},
	}
}

// backupName returns the name of a new file in a folder, or a file name unchanged. It creates the
// folder if the name ends in a slash.
func backupName(to string, now time.Time) (string, error) {
	if strings.HasSuffix(to, string(filepath.Separator)) {
		if err := os.MkdirAll(to, 0o700); err != nil { // a backup may have pages from behind a sign-in
			return "", err
		}
	}
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return to, nil
	}
	return filepath.Join(to, "anatomy-"+now.UTC().Format("20060102T150405Z")+".tar.zst"), nil
}

func progressText(r upkeep.BackupReport) string {
	return fmt.Sprintf("%d files, %.1f MB", r.Files, float64(r.Bytes)/1e6)
}

// readBackup opens a backup, - being standard input, and shows the progress of read.
func readBackup(
	c *cobra.Command, name string,
	read func(context.Context, io.Reader, func(upkeep.BackupReport)) (upkeep.BackupReport, error),
) (upkeep.BackupReport, error) {
	in, err := cli.OpenInput(c, name)
	if err != nil {
		return upkeep.BackupReport{}, err
	}
	defer in.Close()
	screen := cli.NewConsole(c.ErrOrStderr())
	line := screen.Progress()
	report, err := read(c.Context(), in, func(r upkeep.BackupReport) { line(progressText(r)) })
	screen.SetStatus("")
	return report, err
}

// NewRestore returns the command restore.
func NewRestore(s *cli.GlobalFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "make a data folder from a backup",
		Long: `Restore unpacks a backup to the data folder, which must be empty or missing, and verifies the checksum of every
file. If it fails it removes what it wrote. - is standard input.`,
		Example: "  anatomy restore backups/anatomy-20261121T090000Z.tar.zst --data restored",
		Args:    cli.ExactArgs(1, "one file"),
		RunE: record.Calls(s, func(c *cobra.Command, args []string) error {
			began := time.Now()
			report, err := readBackup(c, args[0], func(
				ctx context.Context, in io.Reader, progress func(upkeep.BackupReport),
			) (upkeep.BackupReport, error) {
				return upkeep.Restore(ctx, in, s.Data, progress)
			})
			switch {
			case errors.Is(err, upkeep.ErrNotWhole):
				return cli.WithHint(err, "use another backup, or copy this one again")
			case errors.Is(err, upkeep.ErrNotEmpty):
				return cli.WithHint(err, "name an empty or new folder with --data")
			case err != nil:
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s restored to %s in %.1f s. To verify it: %s\n", progressText(report), s.Data, time.Since(began).Seconds(), s.Command("check"))
			return nil
		}),
	}
}
