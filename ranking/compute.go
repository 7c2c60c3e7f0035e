// Package ranking computes rank vectors over the link database of a data folder: PageRank of pages
// or hosts, personalised or by topics, and harmonic centrality. It numbers the documents as nodes
// for package pagerank, and publishes the result.
//
// It does not lock the folder: it reads immutable files, and a vector can be published while a
// crawl runs (datadir.PublishRank). Searchers in any process read the new vector within two
// seconds.
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
	"anatomy/vocab"
)

// Options select the vector to compute. The zero value is PageRank of the pages, weighed by
// vouchers.
type Options struct {
	pagerank.Options

	// Personalize has the targets of all teleportation (BP98 §2.1.2). Default: every page, evenly.
	Personalize []TeleportTarget

	// Method is the ranking method, default ByVouchers. Other methods cannot be personalised, and
	// personalised ranks are not weighed: the targets already express trust.
	Method Method

	// Title describes Personalize for display. Default: the target, or the number of targets.
	Title string

	// Put receives the encoded vectors of each shard instead of the shards' manifests. Default: the
	// vectors become current.
	Put func(shard int, name string, vector []byte) error

	// Name of the vector: lower-case letters, digits and hyphens. Default: that of the method, and
	// Default for ByVouchers.
	Name string
}

// Default is the name of the vector that searches use by default.
const Default = rankvector.Default

// isWeighed reports whether ranks are weighed by vouchers.
func (o *Options) isWeighed() bool { return o.Method == ByVouchers && len(o.Personalize) == 0 }

// CheckName fails if the name of the vector is invalid, or is reserved for plain PageRank.
func (o *Options) CheckName() error {
	if o.Name == rankvector.Plain && (o.Method != ByPages || len(o.Personalize) > 0) {
		return fmt.Errorf("the name %q is reserved for plain PageRank", o.Name)
	}
	return CheckName(o.Name)
}

// Compute computes a vector over the link database of the data folder dir, or over those of all
// shards as one graph, and makes it current, shard by shard. With the default vector it also publishes
// rankvector.Plain, from which the default is weighed. A default vector with another personalisation or
// damping becomes rankvector.Previous, see [Restore]. If Compute fails, the previous vector
// stays current; if it fails while publishing, some shards may have the new one. The error wraps
// pagerank.ErrNoNodes if no page was fetched, and ErrNoSuchPage if no page matches o.Personalize.
func Compute(ctx context.Context, dir string, o Options) (*Report, error) {
	if o.Method != ByVouchers && len(o.Personalize) == 0 {
		o.Name = cmp.Or(o.Name, o.Method.String())
		o.Title = o.Method.title()
	}
	o.Name = cmp.Or(o.Name, Default)
	if err := o.CheckName(); err != nil {
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

// warm returns the ranks to start the iteration from: the previous ones, or the plain ones from
// which they were weighed; nil if there are none.
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

// A computation computes vectors from the links of a collection.
type computation struct {
	dir   string
	began time.Time
	set   *links
	nodes *nodes // set after newComputation

	vouchers *pagerank.Vouchers // of all links, set by compute if ranks are weighed
}

// newComputation opens the links of a data folder, or of a folder of shards. It upgrades folders of
// an older version.
func newComputation(dir string) (*computation, error) {
	if err := upgrade(dir); err != nil {
		return nil, err
	}
	set, err := openLinks(dir)
	return &computation{dir: dir, began: time.Now(), set: set}, err
}

// upgrade upgrades a data folder, or each shard, to the version that this program writes.
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

// addLinks adds the links of all nodes to b and, in the same pass, to vouchers if ranks are
// weighed.
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

// nodeOf returns the node of the page that a document leads to as a redirect or duplicate, or of the document.
func (c *computation) nodeOf(doc vocab.DocID) (uint32, bool) {
	shard, inner := c.set.outer(doc).Shard()
	of, found := c.set.canonical(shard, inner)
	if !found {
		return 0, false
	}
	return c.nodes.node(of)
}

// personalize sets the teleport set.
func (c *computation) personalize(r *Report, targets *matcher, o *Options) error {
	o.Options.Personalize, r.Missing = targets.weights(c.nodeOf)
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
			o.Title = fmt.Sprintf("%d targets", n)
		}
	}
	return nil
}

// publish makes a vector current and completes its report.
func (c *computation) publish(
	r *Report, result *pagerank.Result, ranks []float32, o Options, before *rankvector.Vector,
) error {
	r.Vector = c.nodes.vector(result, ranks, o)
	if v := r.Vector; o.Name == Default && before != nil &&
		(v.Personalized != before.Personalized || v.Damping != before.Damping) {
		if err := c.set.publish(rankvector.Previous, before); err != nil {
			return err
		}
	}
	if err := c.set.publish(o.Name, r.Vector); err != nil {
		return err
	}
	r.Pages, r.Links, r.Dangled = c.nodes.countRanked(), r.Vector.Links, result.Dangling
	if o.Method != ByHosts { // with ByHosts, hosts are dangling
		r.Dangled -= len(c.nodes.docs) - r.Pages
	}
	r.Seconds = time.Since(c.began).Seconds()
	return r.compare(c.set, before)
}
