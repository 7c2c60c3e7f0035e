// Package disks has the command disks.
package disks

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/internal/plural"
)

// New returns the command disks.
func New(s *cli.GlobalFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "disks",
		Short: "show the disks that a data folder is spread over",
		Long: `Disks shows the folders that have files of the repository, with the free space of each. A data folder is spread over
another disk by a crawl with --data given again:

  anatomy crawl --data /disk1/docs --data /disk2/docs https://docs.example.org/

The first folder is the data folder, which all commands are given. It has the index and all else, and keeps the list
of the others, which have pages alone. A new file of pages, of up to 1 GB, is begun where most space is free. A disk
that is mounted at another path now is named by the same command: crawl --data /disk1/docs --data NEWPATH.`,
		Example: "  anatomy disks --data /disk1/docs\n  anatomy disks remove /disk2/docs --data /disk1/docs",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return list(c, s.Data) },
	}
	c.AddCommand(newRemove(s))
	return c
}

func newRemove(s *cli.GlobalFlags) *cobra.Command {
	lost := false
	c := &cobra.Command{
		Use:   "remove DISK",
		Short: "copy the files on a disk to the data folder, and stop using the disk",
		Long: `Remove copies the files of the repository from a disk to the data folder, which must have the space, deletes them
from the disk, and takes the disk off the list. With --lost it gives up a disk that is missing: check --repair then
finds out which pages were there, and the next crawl fetches them.`,
		Example: "  anatomy disks remove /disk2/docs --data /disk1/docs\n  anatomy disks remove --lost /disk2/docs --data /disk1/docs",
		Args:    cli.ExactArgs(1, "one folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if lost {
				if err := datadir.GiveUpDisk(s.Data, args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.OutOrStdout(), "%s is not used any more. To find out which pages are lost: %s\n",
					args[0], s.Command("check --repair"))
				return err
			}
			files, err := datadir.RemoveDisk(s.Data, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s copied to %s; %s is not used any more.\n",
				plural.Count(files, "file"), s.Data, args[0])
			return err
		},
	}
	c.Flags().BoolVar(&lost, "lost", false, "give up a disk that is missing, with its pages")
	return c
}

// list prints the folders of a data folder. It fails if one cannot be used.
func list(c *cobra.Command, dir string) error {
	if err := datadir.CheckVersion(dir); err != nil {
		return err
	}
	disks, err := datadir.ReadDisks(durable.OS, dir)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "folder\tpages\tfree")
	failed := row(t, dir, datadir.Repository(dir))
	for _, d := range disks {
		if err := d.Check(dir); err != nil {
			fmt.Fprintf(t, "%s\tunknown\tunknown\n", d.Path)
			failed = errors.Join(failed, err)
			continue
		}
		failed = errors.Join(failed, row(t, d.Path, d.Repository()))
	}
	return errors.Join(t.Flush(), failed)
}

// row prints a folder with what its files of pages take.
func row(t *tabwriter.Writer, folder, repository string) error {
	bytes, err := datadir.FolderSize(repository)
	if err != nil {
		return err
	}
	free, err := datadir.FreeSpace(folder)
	if err == nil {
		_, err = fmt.Fprintf(t, "%s\t%.1f MB\t%.1f MB\n", folder, float64(bytes)/1e6, float64(free)/1e6)
	}
	return err
}
