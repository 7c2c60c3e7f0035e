package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"anatomy/cluster/bucket"
	"anatomy/cluster/division"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
	"anatomy/internal/plural"
	"anatomy/vocab"
)

// New returns the command cluster.
func New(s *cli.GlobalFlags, version string) *cobra.Command {
	p := &Place{}
	c := &cobra.Command{
		Use:   "cluster",
		Short: "look after a collection that several machines share",
		Long: `A cluster is a collection in a bucket: on an S3-compatible server, or in a folder of a shared file system. One
machine at a time owns the collection and crawls; its data folder is copied to the bucket every few seconds. Other
machines keep copies and answer queries (anatomy serve --cluster), or wait to take over (anatomy node).

--cluster names the bucket: s3://HOST/BUCKET, s3://HOST/BUCKET/PREFIX, or the path of a folder; s3+http:// for a server
of a private network without TLS. The default is $ANATOMY_CLUSTER here and in anatomy node. The key of the bucket comes
from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials. Whoever can write to the bucket can change
the collection.`,
		Example: "  export ANATOMY_CLUSTER=s3://s3.example.org/docs\n  anatomy cluster status",
	}
	p.Add(c.PersistentFlags(), "`BUCKET` of the cluster (default: $ANATOMY_CLUSTER)")
	c.AddCommand(newStatus(p), newCheck(s, p), newAdopt(s, p, version), newRestore(s, p), newDrain(p))
	return c
}

func newStatus(p *Place) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "show the owner, the newest generation, and the nodes",
		Long: `Status shows which machine owns the collection, or each of its shards, when it last renewed its claim, how old the newest
generation in the bucket is, and the nodes that have announced themselves in the last day.`,
		Example: "  anatomy cluster status --cluster s3://s3.example.org/docs",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Open()
			if err != nil {
				return err
			}
			st, err := statusOf(c.Context(), b)
			if err != nil {
				return Hint(err)
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), st)
			}
			return printStatus(c.OutOrStdout(), st, time.Now())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printStatus(w io.Writer, st *vocab.ClusterStatus, now time.Time) error {
	fmt.Fprintf(w, "bucket      %s\n", st.Bucket)
	if len(st.Divided) > 0 {
		if err := printShards(w, st, now); err != nil {
			return err
		}
		return printNodes(w, st.Nodes, len(st.Divided), now)
	}
	fmt.Fprintf(w, "owner       %s\n", ownerText(st, st.Owner, now))
	if st.Owner != nil && st.Owner.Drains && !st.Owner.Released {
		fmt.Fprintln(w, "            it was asked to hand over")
	}
	if st.Generation == "" {
		fmt.Fprintln(w, "generation  none yet")
	} else {
		of := ""
		if st.Shards > 0 {
			of = " of " + plural.Count(st.Shards, "shard")
		}
		fmt.Fprintf(w, "generation  %d files%s, %.1f MB, made %s\n", st.Files, of, float64(st.Bytes)/1e6, cli.FormatAge(now, st.Made))
	}
	return printNodes(w, st.Nodes, 0, now)
}

// nodeName returns the name of a node's machine, with the first digits of the node's ID if other nodes have
// the same machine.
func nodeName(nodes []vocab.ClusterNode, machine, id string) string {
	for i := range nodes {
		if nodes[i].Machine == machine && nodes[i].ID != id && id != "" {
			return machine + "#" + id[:min(len(id), 4)]
		}
	}
	return machine
}

// ownerText describes the owner of the collection or of a shard.
func ownerText(st *vocab.ClusterStatus, o *vocab.ClusterOwner, now time.Time) string {
	switch {
	case o == nil:
		return "none yet"
	case o.Released:
		return fmt.Sprintf("none: %s has handed over", nodeName(st.Nodes, o.Machine, o.Node))
	}
	return fmt.Sprintf("%s, version %s, epoch %d, since %s; claim renewed %s",
		nodeName(st.Nodes, o.Machine, o.Node), o.Version, o.Epoch, o.Since.Format(time.DateTime), secondsAgo(now, o.Renewed))
}

// secondsAgo is cli.FormatAge, with seconds from the time at which a claim or a node is late.
func secondsAgo(now, then time.Time) string {
	const late = 5 * time.Second
	if d := now.Sub(then); d >= late && d < time.Minute {
		return plural.Count(int(d/time.Second), "second") + " ago"
	}
	return cli.FormatAge(now, then)
}

func printShards(w io.Writer, st *vocab.ClusterStatus, now time.Time) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "shard\tpages\tto fetch\tgeneration put\towner")
	for _, s := range st.Divided {
		pages, queued, made := "", "", "none yet"
		if s.Work != nil {
			pages, queued = fmt.Sprint(s.Work.Pages), fmt.Sprint(s.Work.Queued+s.Work.InFlight)
		}
		if !s.Made.IsZero() {
			made = cli.FormatAge(now, s.Made)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n", s.Shard, pages, queued, made, ownerText(st, s.Owner, now))
	}
	return t.Flush()
}

// printNodes prints the nodes. shards is the number of shards of a divided collection.
func printNodes(w io.Writer, nodes []vocab.ClusterNode, shards int, now time.Time) error {
	if len(nodes) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	copies := ""
	if shards > 0 {
		copies = "\twhole shards"
	}
	fmt.Fprintf(t, "node\trole\tversion%s\tgeneration made\theard\tproblem\n", copies)
	for _, n := range nodes {
		made := "none"
		if !n.Made.IsZero() {
			made = cli.FormatAge(now, n.Made)
		}
		problem := n.Failing
		if n.Silent {
			problem = "it is silent"
		}
		if shards > 0 {
			copies = fmt.Sprintf("\t%d of %d", len(n.Whole), shards)
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\t%s\t%s\t%s\n",
			nodeName(nodes, n.Machine, n.ID), n.Role, n.Version, copies, made, secondsAgo(now, n.Heard), problem)
	}
	return t.Flush()
}

func newCheck(s *cli.GlobalFlags, p *Place) *cobra.Command {
	var repair bool
	c := &cobra.Command{
		Use: "check", Short: "read the newest generation in the bucket and verify it",
		Long: `Check reads every object of the newest generation and compares it with its SHA-256. It fails if one is missing or
damaged. --repair restores such objects from the data folder of the owner or a copy.`,
		Example: "  anatomy cluster check\n  anatomy cluster check --repair --data /var/lib/anatomy",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Open()
			if err != nil {
				return err
			}
			dir := ""
			if repair {
				dir = s.Data
				if err := checkFolder(dir); err != nil {
					return err
				}
			}
			screen := cli.NewConsole(c.ErrOrStderr())
			line := screen.Progress()
			r, err := check(c.Context(), b, dir, func(done, all int64) { line("verified " + copyText(done, all)) })
			screen.SetStatus("")
			if err != nil {
				return Hint(err)
			}
			for _, d := range r.Damaged {
				fmt.Fprintln(c.OutOrStdout(), d)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s, %.1f MB read; %d damaged, %d of them restored\n",
				b, plural.Count(r.Objects, "object"), float64(r.Bytes)/1e6, r.Broken, r.Repaired)
			if r.Broken == r.Repaired {
				return nil
			}
			hint := "restore the objects on a machine with a copy: anatomy cluster check --repair --data FOLDER"
			if divided, _ := replica.IsDivided(c.Context(), b); !divided {
				hint += "; if some are missing there, make a new generation with the owner's folder: anatomy cluster adopt"
			}
			return cli.WithHint(errors.New("the bucket is damaged"), hint)
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "restore damaged objects from the data folder")
	return c
}

// check verifies the newest generation of a bucket, or of each shard if these have owners of their own.
func check(
	ctx context.Context, b bucket.Bucket, dir string, progress func(done, all int64),
) (replica.CheckReport, error) {
	divided, err := replica.IsDivided(ctx, b)
	switch {
	case err != nil:
		return replica.CheckReport{}, err
	case divided:
		return division.Check(ctx, b, dir, progress)
	}
	return replica.Check(ctx, b, dir, progress)
}

func newAdopt(s *cli.GlobalFlags, p *Place, version string) *cobra.Command {
	return &cobra.Command{
		Use: "adopt", Short: "copy a data folder to an empty bucket",
		Long: `Adopt makes the data folder, as it is, the collection of the cluster, whose bucket is empty, or brings the bucket up
to date with it. The folder may be one of shards that a crawl fills. A crawl may run on it meanwhile. To keep the bucket
up to date, crawl with --cluster.`,
		Example: "  anatomy cluster adopt --data anatomy-data --cluster s3://s3.example.org/docs",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Open()
			if err != nil {
				return err
			}
			if err := checkFolder(s.Data); err != nil {
				return err
			}
			screen := cli.NewConsole(c.ErrOrStderr())
			o := Options(b, s.Data, version, s.Logger(screen, false), screen)
			w, err := node.Own(c.Context(), o, false, nil)
			if err != nil {
				return Hint(err)
			}
			began := time.Now()
			if err := w.Run(c.Context(), func(context.Context) error { return nil }); err != nil {
				return Hint(err)
			}
			st := w.Status()
			fmt.Fprintf(screen, "%s, %.1f MB, copied to %s in %.1f s.\n",
				plural.Count(st.Objects, "object"), float64(st.Bytes)/1e6, b, time.Since(began).Seconds())
			return nil
		},
	}
}

// checkFolder returns nil for a data folder, and for shards that a crawl fills.
func checkFolder(dir string) error {
	if shards.IsLive(dir) {
		return shards.Check(dir)
	}
	return datadir.CheckVersion(dir)
}

func newRestore(s *cli.GlobalFlags, p *Place) *cobra.Command {
	var generation string
	c := &cobra.Command{
		Use: "restore", Short: "make a data folder from the bucket",
		Long: `Restore copies the newest generation, or the one with a name, to the data folder, which must be empty or missing, and
verifies it. The folder is independent afterwards. The bucket keeps one generation for each ten minutes of the last day.`,
		Example: "  anatomy cluster restore --data restored",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Open()
			if err != nil {
				return err
			}
			if err := datadir.CheckVersion(s.Data); !errors.Is(err, datadir.ErrNone) {
				return cli.WithHint(cmp.Or(err, fmt.Errorf("%s is not empty", s.Data)), "name an empty or new folder with --data")
			}
			screen := cli.NewConsole(c.ErrOrStderr())
			line := screen.Progress()
			if divided, err := replica.IsDivided(c.Context(), b); err != nil {
				return Hint(err)
			} else if divided {
				return restoreDivided(c, s, b, generation, screen)
			}
			name, err := chooseGeneration(c.Context(), b, generation)
			if err != nil {
				return Hint(err)
			}
			f, err := replica.NewFollower(c.Context(), replica.FollowerOptions{
				Bucket: b, Dir: s.Data, Progress: func(done, all int64) { line("copied " + copyText(done, all)) },
			})
			if err != nil {
				return Hint(err)
			}
			began := time.Now()
			if err := f.MakeCurrent(c.Context(), name); err != nil {
				return Hint(errors.Join(err, f.Close()))
			}
			screen.SetStatus("")
			fmt.Fprintf(screen, "%.1f MB restored to %s in %.1f s. To verify it: %s\n",
				float64(f.Status().Bytes)/1e6, s.Data, time.Since(began).Seconds(), s.Command("check"))
			return f.Detach()
		},
	}
	c.Flags().StringVar(&generation, "generation", "", "restore the generation with `NAME`, as the bucket lists it")
	return c
}

// restoreDivided makes a folder of shards, which one machine can crawl on, of shards with owners of
// their own.
func restoreDivided(
	c *cobra.Command, s *cli.GlobalFlags, b bucket.Bucket, generation string, screen *cli.Console,
) error {
	if generation != "" {
		return cli.UsageErrorf("--generation names one of a collection with one owner: of divided shards the newest are restored")
	}
	began, line := time.Now(), screen.Progress()
	bytes, err := division.Restore(c.Context(), b, s.Data, func(done, all int64) { line("copied " + copyText(done, all)) })
	screen.SetStatus("")
	if err != nil {
		return Hint(err)
	}
	fmt.Fprintf(screen, "%.1f MB restored to %s in %.1f s. To verify it: %s\n",
		float64(bytes)/1e6, s.Data, time.Since(began).Seconds(), s.Command("check"))
	return nil
}

func chooseGeneration(ctx context.Context, b bucket.Bucket, name string) (replica.Name, error) {
	if name != "" {
		n, err := replica.ParseName(name)
		if err != nil {
			return n, cli.UsageErrorf("--generation %q: %w", name, err)
		}
		return n, nil
	}
	n, err := replica.Newest(ctx, b)
	if err == nil && n.IsZero() {
		err = fmt.Errorf("%w: %s", replica.ErrNoCluster, b)
	}
	return n, err
}

func newDrain(p *Place) *cobra.Command {
	return &cobra.Command{
		Use: "drain", Short: "make the owner hand over to a standby node",
		Long: `Drain asks the owner to end its crawl, copy its last state to the bucket, and hand over, and waits for it. A standby
node continues from there; the owner, if it is a node, then stands by.`,
		Example: "  anatomy cluster drain",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := p.Open()
			if err != nil {
				return err
			}
			if _, err := replica.Identify(c.Context(), b); err != nil {
				return Hint(err)
			}
			h, err := lease.Find(c.Context(), b)
			if err != nil {
				return err
			}
			if h.Owner == "" || h.Released {
				_, err = fmt.Fprintln(c.OutOrStdout(), "No machine owns the collection.")
				return err
			}
			if err := lease.Drain(c.Context(), b, h); err != nil {
				return err
			}
			return waitForHandOver(c, b, h)
		},
	}
}

// deadAfter is how long an owner may be silent.
const deadAfter = 20 * time.Second

// waitForHandOver waits until a machine is no longer the owner.
func waitForHandOver(c *cobra.Command, b bucket.Bucket, h lease.Holder) error {
	screen := cli.NewConsole(c.ErrOrStderr())
	screen.SetStatus("waiting for " + h.Machine)
	defer screen.SetStatus("")
	last, heard := h.Beats, time.Now()
	for {
		now, err := lease.Find(c.Context(), b)
		if err != nil {
			return err
		}
		if now.Owner != h.Owner {
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s has handed over to %s.\n", h.Machine, now.Machine)
			return err
		}
		if now.Released {
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s has handed over.\n", h.Machine)
			return err
		}
		if now.Beats != last {
			last, heard = now.Beats, time.Now()
		} else if time.Since(heard) > deadAfter {
			return cli.WithHint(fmt.Errorf("%s seems to be dead", h.Machine), "a node that stands by takes over by itself: start one with anatomy node")
		}
		select {
		case <-c.Context().Done():
			return c.Context().Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}
