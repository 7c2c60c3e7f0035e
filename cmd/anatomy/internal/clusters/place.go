// Package clusters has the command cluster, and the flag with which other commands join one.
package clusters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/snapshot"
	"anatomy/upkeep"
)

// A Place is the value of --cluster: the location of the bucket.
type Place struct {
	address string
	flags   *pflag.FlagSet
}

const variable = "ANATOMY_CLUSTER"

// Add adds the flag.
func (p *Place) Add(flags *pflag.FlagSet, usage string) {
	p.flags = flags
	flags.StringVar(&p.address, "cluster", "", usage)
}

// IsSet reports whether the flag was given.
func (p *Place) IsSet() bool { return p.flags.Changed("cluster") }

// FromEnvironment sets the flag to ANATOMY_CLUSTER, for commands that need a cluster.
func (p *Place) FromEnvironment() error { return p.flags.Set("cluster", os.Getenv(variable)) }

// Open returns the bucket. Without the flag it is the bucket of ANATOMY_CLUSTER.
func (p *Place) Open() (bucket.Bucket, error) {
	address := p.address
	if !p.IsSet() {
		address = os.Getenv(variable)
	}
	if address == "" {
		return nil, cli.UsageErrorf("no cluster is named: --cluster takes s3://HOST/BUCKET, or the path of a folder")
	}
	b, err := bucket.Open(address)
	if err != nil {
		return nil, cli.UsageErrorf("--cluster: %w", err)
	}
	return b, nil
}

// Options returns the options of a node with the data folder dir.
func Options(b bucket.Bucket, dir, version string, log *slog.Logger, screen *cli.Console) node.Options {
	line, last := screen.Progress(), int64(0)
	return node.Options{
		Bucket: b, Dir: dir, Machine: Machine(), Version: Version(version), Log: log,
		Snapshot: func(ctx context.Context, use func(*snapshot.Snapshot) error) error {
			return upkeep.Snapshot(ctx, dir, snapshot.Publish, use)
		},
		Changes: func(ctx context.Context) string { return upkeep.Changes(ctx, dir) },
		Progress: func(done, all int64) {
			if done < last { // of the next copy: a line is due after some seconds of it
				line = screen.Progress()
			}
			last = done
			line("copied " + copyText(done, all))
		},
	}
}

func copyText(done, all int64) string {
	return fmt.Sprintf("%.1f of %.1f MB", float64(done)/1e6, float64(all)/1e6)
}

// Version returns the short form of the program's version.
func Version(version string) string {
	short, _, _ := strings.Cut(version, ",")
	return short
}

// Machine returns the name of this machine.
func Machine() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// isDivided reports whether err means that a bucket has a collection whose shards have owners of their
// own.
func isDivided(err error) bool {
	format := new(replica.FormatError)
	return errors.As(err, &format) && format.Found == replica.DividedFormat
}

// Hint adds the next step to an error of a node.
func Hint(err error) error {
	switch {
	case errors.Is(err, lease.ErrHeld):
		return cli.WithHint(err, "--standby waits until it ends; to have it hand over: anatomy cluster drain")
	case errors.Is(err, replica.ErrOther):
		return cli.WithHint(err, "name an empty or new folder with --data, or another bucket")
	case isDivided(err):
		return cli.WithHint(err, "anatomy node, serve --cluster, and cluster status, check and restore work on them; "+
			"to make a node hand its shards over, end it")
	case errors.As(err, new(*replica.FormatError)):
		return cli.WithHint(err, "use the version of anatomy that wrote it; anatomy version prints that of this machine")
	case errors.Is(err, replica.ErrNotEmpty):
		return cli.WithHint(err, "name an empty bucket with --cluster, or a prefix in this one")
	case errors.As(err, new(*replica.DamageError)):
		return cli.WithHint(err, "on a machine with a copy, restore the object: anatomy cluster check --repair --data FOLDER")
	case errors.Is(err, replica.ErrSpread):
		return cli.WithHint(err, "name an empty or new folder with --data, or take its disks out: anatomy disks remove")
	case errors.Is(err, replica.ErrNoCluster):
		return cli.WithHint(err, "to put a collection there: anatomy crawl --cluster …, or anatomy cluster adopt")
	case errors.Is(err, lease.ErrLost):
		return cli.WithHint(err, "see which one: anatomy cluster status; to follow it and stand by, add --standby")
	}
	return err
}
