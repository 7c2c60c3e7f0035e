package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"anatomy/engine"
)

func newBackup(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE|FOLDER",
		Short: "the data folder as one file, while a crawl runs or not",
		Long: `Backup writes the data folder as it is at one moment: index, ranks, pages, and all that the crawl knows. A crawl that
runs on it goes on, and so does the search page; it takes no second folder's room, for what never changes is linked,
not copied, until it is written.

The file is a tar archive within zstd, with the SHA-256 sum of each file. It appears when it is whole. In a folder it
gets a name with the date, and a folder that is named with a slash is made; - is standard output. Certificates of the server, and their keys, stay out.`,
		Example: `  anatomy backup backups/
  anatomy backup - | ssh other 'cat >anatomy.tar.zst'`,
		Args: exactly(1, "a file or a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			screen := newConsole(c.ErrOrStderr())
			line := progressOf(screen)
			began := time.Now()
			name, err := backupName(args[0], began)
			if err != nil {
				return err
			}
			var report engine.BackupReport
			err = writeWhole(c, name, func(w io.Writer) (err error) {
				report, err = engine.Backup(c.Context(), w, s.data, func(r engine.BackupReport) { line(progressText(r)) })
				return err
			})
			clearProgress(screen)
			if err != nil {
				return err
			}
			fmt.Fprintf(screen, "%s saved in %.1f s: %s\n", progressText(report), time.Since(began).Seconds(), name)
			return nil
		},
	}
}

// backupName is a new name in a folder, or the name of a file as it is. What ends in a slash is a folder, made if it is
// not there yet.
func backupName(to string, now time.Time) (string, error) {
	if strings.HasSuffix(to, string(filepath.Separator)) {
		if err := os.MkdirAll(to, 0o700); err != nil { // pages from behind a sign-in are in a backup
			return "", err
		}
	}
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return to, nil
	}
	return filepath.Join(to, "anatomy-"+now.UTC().Format("20060102T150405Z")+".tar.zst"), nil
}

func progressText(r engine.BackupReport) string {
	return fmt.Sprintf("%d files, %.1f MB", r.Files, float64(r.Bytes)/1e6)
}

func newRestore(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "a data folder from a backup",
		Long: `Restore makes a data folder of a backup, and proves every file by its checksum. The folder must be empty, or not be
there yet; what fails leaves nothing behind. - is standard input.`,
		Example: "  anatomy restore backups/anatomy-20261121T090000Z.tar.zst --data restored",
		Args:    exactly(1, "one file"),
		RunE: func(c *cobra.Command, args []string) error {
			in, err := openInput(c, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			screen := newConsole(c.ErrOrStderr())
			line := progressOf(screen)
			began := time.Now()
			report, err := engine.Restore(c.Context(), in, s.data, func(r engine.BackupReport) { line(progressText(r)) })
			clearProgress(screen)
			switch {
			case errors.Is(err, engine.ErrNotWhole):
				return hinted(err, "take another backup, or copy this one again")
			case errors.Is(err, engine.ErrNotEmpty):
				return hinted(err, "name a folder that is empty, or not there yet, with --data")
			case err != nil:
				return err
			}
			fmt.Fprintf(screen, "%s restored to %s in %.1f s. To prove that all agree: %s\n", progressText(report), s.data, time.Since(began).Seconds(), s.command("check"))
			return nil
		},
	}
}
