package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"anatomy/cluster/bucket"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/cmd/anatomy/internal/sharded"
	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
	"anatomy/pagerank"
	"anatomy/ranking"
	"anatomy/searcher"
	"anatomy/upkeep"
	"anatomy/vocab"
)

// Exit statuses.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130 // as a shell says of SIGINT
)

// report prints an "error:" and a "hint:" line for err and returns the exit status.
func report(w io.Writer, s *cli.GlobalFlags, c *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	if cli.IsInterrupted(err) {
		return statusInterrupted
	}
	fmt.Fprintf(w, "error: %s\n", cli.ErrorText(err))
	fmt.Fprintf(w, "hint: %s\n", hint(s, c, err))
	if errors.As(err, new(cli.UsageError)) {
		return statusUsage
	}
	return statusFailed
}

// hint returns the next step to take after an error.
func hint(s *cli.GlobalFlags, c *cobra.Command, err error) string {
	var own *cli.HintError
	var usage cli.UsageError
	var version *datadir.VersionError
	var busy *datadir.BusyError
	var divided *datadir.ShardsError
	var rank *searcher.UnknownRankError
	var file *fs.PathError
	switch {
	case errors.As(err, &own):
		return own.Hint
	case errors.As(err, &usage) && usage.Hint != "":
		return usage.Hint
	case errors.As(err, &usage):
		return c.CommandPath() + " --help"
	case errors.As(err, &version):
		return "use the program that wrote it, or name another folder with --data"
	case errors.As(err, new(*datadir.MismatchError)), errors.As(err, new(*datadir.DamageError)):
		return "to repair it: " + s.Command("check --repair")
	case errors.As(err, &busy):
		return "only one process can write to a data folder: wait for it, end it, or name another folder with --data"
	case errors.As(err, new(*datadir.DiskError)):
		return "mount the disk, or give its new path: " + s.Command("crawl") + " --data DISK"
	case errors.As(err, &divided):
		return sharded.Hint(divided, c.CommandPath())
	case errors.As(err, new(*collective.SuffixError)):
		return "crawl with the program that wrote it, or into a new folder; searches continue with this one"
	case errors.Is(err, shards.ErrDivided):
		return "anatomy node crawls it; to make a folder that this command can change: anatomy cluster restore"
	case errors.Is(err, control.ErrDividedSeeds):
		return "give the URLs to a node: anatomy node --cluster BUCKET URL"
	case strings.HasPrefix(err.Error(), "--"): // about the value of a flag
		return c.CommandPath() + " --help"
	case errors.Is(err, datadir.ErrNone) && isOfShards(s.Data):
		return "mount the disk of the shard, or make the folder again from a backup: anatomy restore FILE --data NEW"
	case errors.Is(err, datadir.ErrNone) && datadir.OtherFile(s.Data) != "":
		return "name another folder with --data; a new crawl needs one that is empty or does not exist"
	case errors.Is(err, datadir.ErrNone):
		return "name a data folder with --data, or start one: " + s.Command("crawl URL")
	case errors.Is(err, vocab.ErrNoCrawl):
		return "to start or resume one: " + s.Command("crawl")
	case errors.Is(err, control.ErrOtherVersion):
		return "use the program that started the crawl, or end the crawl and resume it with this one"
	case errors.Is(err, upkeep.ErrGivenText):
		return "index the text again: " + s.Command("index --text FILE")
	case errors.Is(err, control.ErrUnknownURL):
		return "to add it: " + s.Command("crawl URL")
	case errors.Is(err, searcher.ErrNotIndexed):
		return "to see why: " + s.Command("trace URL")
	case errors.As(err, &rank) && strings.HasPrefix(rank.Name, searcher.NearPrefix):
		return "to see what is known of it: " + s.Command("trace URL")
	case errors.As(err, &rank):
		return "to list those that exist: " + s.Command("pagerank list") + "; to make one: anatomy pagerank --name NAME"
	case errors.Is(err, ranking.ErrNoVector):
		return "to list those that exist: " + s.Command("pagerank list")
	case errors.Is(err, pagerank.ErrNoNodes):
		return "crawl some pages first: " + s.Command("crawl URL")
	case errors.Is(err, syscall.ENOSPC) && errors.As(err, &file) && file.Path == os.Stdout.Name():
		return "write standard output to another place, or free some space there"
	case errors.Is(err, syscall.ENOSPC):
		return "free some disk space and run the same command again"
	case errors.Is(err, syscall.EADDRINUSE):
		return "another program uses this port: choose another"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "choose an address of this machine"
	case errors.Is(err, syscall.EROFS):
		return "search, serve, check, trace and links work on a read-only disk; to write: mount it for writing"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions, or name another file or folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "name a folder with --data"
	case errors.As(err, new(*bucket.Error)):
		return "check that --cluster names the bucket, and that this machine can reach it and has access to it"
	}
	return "to check the data folder for damage: " + s.Command("check")
}

// isOfShards reports whether dir is a folder of shards.
func isOfShards(dir string) bool {
	m, err := shards.Read(dir)
	return err == nil && m != nil
}
