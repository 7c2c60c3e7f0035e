// Package ranking computes rank vectors over the link database of a data folder: PageRank of pages
// or hosts, personalised or by topics, and harmonic centrality. It numbers the documents as nodes
// for package pagerank, which knows no documents, and publishes the result.
//
// It does not lock the folder: it reads immutable files, and the manifest may get another vector
// beside a crawl (datadir.PublishRank). A searcher of the folder, in whatever process, reads the new
// vector within a second or two.
package ranking

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"anatomy/disk/docindex"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/pagerank"
)

// Options say which vector to compute. The zero value is PageRank of the pages, weighed by vouchers.
type Options struct {
	pagerank.Options

	// Personalize is where all teleportation goes (BP98 §2.1.2). Default: to every page alike.
	Personalize []TeleportTarget

	// Method is how pages are ranked, default ByVouchers. Other methods are not personalised, and
	// personalised ranks are not weighed: who names the places says whom he trusts.
	Method Method

	// Title describes Personalize for people. Default: the target, or how many there are.
	Title string

	// Put gets the encoded vectors of each shard, in place of the shards' manifests. Default: the
	// vectors are put in force.
	Put func(shard int, name string, vector []byte) error

	// Name of the vector: lower-case letters, digits and hyphens. Default: that of the method, and
	// Default for ByVouchers.
	Name string
}

// Default is the name of the vector that the searcher uses unless a query names another.
const Default = rankvector.Default

// isWeighed reports whether ranks are weighed by vouchers.
func (o *Options) isWeighed() bool { return o.Method == ByVouchers && len(o.Personalize) == 0 }

// checkName fails if the name of the vector is invalid, or that of plain PageRank for other ranks.
func (o *Options) checkName() error {
	if o.Name == rankvector.Plain && (o.Method != ByPages || len(o.Personalize) > 0) {
		return fmt.Errorf("pagerank: the vector %q is kept for PageRank as published", o.Name)
	}
	return CheckName(o.Name)
}

// Compute computes a vector over the link database of the data folder dir, or over those of all
// shards as one graph, and puts it in force, in one shard after the other. With the default vector it
// puts the one that it is weighed from, rankvector.Plain, in force, too. If it fails, the vector
// before stays in force, or in some shards if it fails while it puts the new one in force. The error
// wraps pagerank.ErrNoNodes if no page was fetched, and ErrNoSuchPage if no page matches
// o.Personalize.
func Compute(ctx context.Context, dir string, o Options) (*Report, error) {
	if o.Method != ByVouchers && len(o.Personalize) == 0 {
		o.Name = cmp.Or(o.Name, o.Method.String())
		o.Title = o.Method.title()
	}
	o.Name = cmp.Or(o.Name, Default)
	if err := o.checkName(); err != nil {
		return nil, err
	}
	c, err := newComputation(dir)
	if err != nil {
		return nil, err
	}
	defer c.set.Close()
	c.set.put = o.Put
	r := &Report{Name: o.Name, Method: o.Method.String()}
	if o.Method == ByVouchers && !o.isWeighed() {
		r.Method = ByPages.String()
	}
	targets, err := newMatcher(o.Personalize)
	if err != nil {
		return nil, err
	}
	if c.nodes, err = loadNodes(c.set, targets); err != nil {
		return nil, err
	}
	if len(o.Personalize) > 0 {
		if err := c.personalize(r, targets, &o); err != nil {
			return nil, err
		}
	}
	before := c.set.vector(o.Name)
	if o.Warm == nil {
		o.Warm = c.warm(o, before)
	}
	o.Progress = recordResiduals(&r.Residuals, o.Progress)
	result, ranks, err := c.compute(ctx, o)
	if err == nil && c.nodes.countRanked() == 0 {
		err = pagerank.ErrNoNodes
	}
	if err != nil {
		return nil, err
	}
	if o.isWeighed() {
		if o.Name == Default {
			if err := c.set.publish(rankvector.Plain, c.nodes.vector(result, ranks, o)); err != nil {
				return nil, err
			}
		}
		r.Unlinked = c.vouchers.Weigh(ranks)
	}
	return r, c.publish(r, result, ranks, o, before)
}

// warm returns the ranks to start from: those of before, which is nil at first, or the plain ones that
// it was weighed from.
func (c *computation) warm(o Options, before *rankvector.Vector) []float32 {
	if o.isWeighed() && o.Name == Default {
		before = cmp.Or(c.set.vector(rankvector.Plain), before)
	}
	if before == nil {
		return nil
	}
	return c.nodes.ranksOf(before)
}

// recordResiduals returns a progress function that appends the residuals to a list.
func recordResiduals(list *[]float64, progress func(int, float64)) func(int, float64) {
	return func(iteration int, residual float64) {
		*list = append(*list, residual)
		if progress != nil {
			progress(iteration, residual)
		}
	}
}

// A computation makes vectors of the links of a collection.
type computation struct {
	dir   string
	began time.Time
	set   *links
	nodes *nodes // set after newComputation

	vouchers *pagerank.Vouchers // of all links, set by compute if ranks are weighed
}

// newComputation opens the links of a data folder, or of a folder of shards. It upgrades a data folder
// of an older version.
func newComputation(dir string) (*computation, error) {
	if err := upgrade(dir); err != nil {
		return nil, err
	}
	set, err := openLinks(dir)
	return &computation{dir: dir, began: time.Now(), set: set}, err
}

// upgrade makes a data folder, or each shard, one of the version that this program writes.
func upgrade(dir string) error {
	dirs, err := shards.Folders(dir)
	for _, dir := range dirs {
		if err == nil {
			err = docindex.Upgrade(dir)
		}
	}
	return err
}

// compute returns the ranks of the nodes.
func (c *computation) compute(ctx context.Context, o Options) (*pagerank.Result, []float32, error) {
	o.Dir = cmp.Or(o.Dir, c.dir)
	switch o.Method {
	case ByHosts:
		return rankByHosts(ctx, c.set, c.nodes, o)
	case ByHarmonic:
		return rankByHarmonic(ctx, c.set, c.nodes, o)
	}
	links := &pagerank.Builder{Memory: o.Memory, Dir: o.Dir}
	if err := c.addLinks(links, o.isWeighed()); err != nil {
		return nil, nil, err
	}
	ranks := make([]float32, 0, len(c.nodes.docs))
	result, err := pagerank.Rank(ctx, links, o.Options, func(some []float64) error {
		for _, rank := range some {
			ranks = append(ranks, float32(rank))
		}
		return nil
	})
	return result, ranks, err
}

// addLinks adds the links of all nodes to b and, in the same walk, to vouchers if ranks are weighed.
func (c *computation) addLinks(b *pagerank.Builder, weighed bool) (err error) {
	if !weighed {
		return c.nodes.addLinks(c.set, b)
	}
	if c.vouchers, err = c.nodes.vouchers(c.set); err != nil {
		return err
	}
	b.Grow(len(c.nodes.docs))
	return c.nodes.eachLink(c.set, func(from uint32, targets []uint32) {
		b.Add(from, targets)
		c.vouchers.Add(from, targets)
	})
}

// personalize sets the nodes that teleportation goes to.
func (c *computation) personalize(r *Report, targets *matcher, o *Options) error {
	o.Options.Personalize, r.Missing = targets.weights()
	for node := range o.Options.Personalize {
		c.nodes.ranked[node] = true
	}
	r.Teleport = len(o.Options.Personalize)
	if r.Teleport == 0 {
		return noSuchPage(c.set, o.Personalize)
	}
	if o.Title == "" {
		o.Title = o.Personalize[0].Spec
		if n := len(o.Personalize); n > 1 {
			o.Title = fmt.Sprintf("%d places", n)
		}
	}
	return nil
}

// publish puts a vector in force and completes its report.
func (c *computation) publish(
	r *Report, result *pagerank.Result, ranks []float32, o Options, before *rankvector.Vector,
) error {
	r.Vector = c.nodes.vector(result, ranks, o)
	if err := c.set.publish(o.Name, r.Vector); err != nil {
		return err
	}
	r.Pages, r.Links, r.Dangled = c.nodes.countRanked(), r.Vector.Links, result.Dangling
	if o.Method != ByHosts { // there hosts are dangling
		r.Dangled -= len(c.nodes.docs) - r.Pages
	}
	r.Seconds = time.Since(c.began).Seconds()
	return r.compare(c.set, before)
}
