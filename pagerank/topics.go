package pagerank

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// MaxTopics bounds the vectors that [ComputeTopics] computes at a time: the contributions of a node
// to all of them fill one cache line.
const MaxTopics = 8

// ComputeTopics ranks the nodes of a graph several times, personalised to one topic each
// (Haveliwala, WWW 2002), with one pass over the links for all topics in each iteration. A result
// is that of [Compute] with the topic as Personalize, up to rounding. All values are float64, and
// the iteration is that of Jacobi: 8 topics take about half the time of 8 computations. It uses the
// options Damping, Tolerance, MaxIterations, Workers and Progress; the residual is the largest of
// all topics.
func ComputeTopics(ctx context.Context, g *Graph, o Options, topics []map[uint32]float64) ([]*Result, error) {
	if len(topics) == 0 || len(topics) > MaxTopics {
		return nil, fmt.Errorf("%d topics, there must be 1 to %d", len(topics), MaxTopics)
	}
	o.Personalize = nil
	o, _, err := o.check(g.Nodes())
	if err != nil {
		return nil, err
	}
	c := &topicComputation{
		g: g, damping: o.Damping, topics: len(topics), pieces: g.evenPieces(),
		ranks: make([]topicValues, g.Nodes()), contributions: make([]topicValues, g.Nodes()),
	}
	for i, weights := range topics {
		to, err := newTeleportSet(weights, g.Nodes())
		if err != nil {
			return nil, fmt.Errorf("topic %d: %w", i+1, err)
		}
		c.to[i] = to
	}
	c.start()
	var residuals topicValues
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("stopped after %d iterations: %w", n-1, err)
		}
		residuals = c.iterate(o.Workers)
		largest := 0.0
		for i := range c.topics {
			largest = max(largest, residuals[i])
		}
		if o.Progress != nil {
			o.Progress(n, largest)
		}
		if largest <= o.Tolerance || n == o.MaxIterations {
			return c.results(n, residuals, o.Tolerance), nil
		}
	}
}

// topicValues is a value for each topic.
type topicValues [MaxTopics]float64

type topicComputation struct {
	g             *Graph
	damping       float64
	topics        int
	pieces        []piece
	to            [MaxTopics]*teleportSet // nil: all nodes alike
	ranks         []topicValues
	contributions []topicValues
	dangling      topicValues
}

func (c *topicComputation) start() {
	for i := range c.topics {
		v := c.to[i].fill(nil, 0, uint32(len(c.ranks)))
		for t := range c.ranks {
			c.ranks[t][i] = 1 / float64(len(c.ranks))
			if v != nil {
				c.ranks[t][i] = v[t]
			}
		}
	}
	c.contribute()
}

// contribute sets the contribution of each node to each of its links, and the rank of all dangling
// nodes.
func (c *topicComputation) contribute() {
	c.dangling = topicValues{}
	for t, out := range c.g.out {
		for i := range c.ranks[t] {
			if out > 0 {
				c.contributions[t][i] = c.damping * c.ranks[t][i] / float64(out)
			} else {
				c.dangling[i] += c.ranks[t][i]
			}
		}
	}
}

// iterate computes the next ranks and returns their L1 distances from the last ones.
func (c *topicComputation) iterate(workers int) (residuals topicValues) {
	var teleport topicValues
	for i := range teleport {
		teleport[i] = 1 - c.damping + c.damping*c.dangling[i]
	}
	changes := make([]topicValues, len(c.pieces))
	parallel(workers, len(c.pieces), func(_, i int) { changes[i] = c.piece(c.pieces[i], &teleport) })
	for _, change := range changes { // always in this order, so that the sum does not depend on timing
		for i := range residuals {
			residuals[i] += change[i]
		}
	}
	c.contribute()
	return residuals
}

func (c *topicComputation) piece(p piece, teleport *topicValues) (change topicValues) {
	var v [MaxTopics][]float64
	for i := range c.topics {
		v[i] = c.to[i].fill(nil, p.from, p.to)
	}
	for t := p.from; t < p.to; t++ {
		var next topicValues
		for _, s := range c.g.In(t) {
			contributions := &c.contributions[s]
			for i := range next {
				next[i] += contributions[i]
			}
		}
		ranks := &c.ranks[t]
		for i := range c.topics {
			if v[i] != nil {
				next[i] += teleport[i] * v[i][t-p.from]
			} else {
				next[i] += teleport[i] / float64(len(c.ranks))
			}
			change[i] += math.Abs(next[i] - ranks[i])
		}
		*ranks = next
	}
	return change
}

func (c *topicComputation) results(iterations int, residuals topicValues, tolerance float64) []*Result {
	dangling := c.g.Dangling()
	all := make([]*Result, c.topics)
	for i := range all {
		r := &Result{
			Nodes: c.g.Nodes(), Links: c.g.Links(), Dangling: dangling,
			Iterations: iterations, Residual: residuals[i], Ranks: make([]float64, len(c.ranks)),
		}
		for t := range c.ranks {
			r.Ranks[t] = c.ranks[t][i]
		}
		scale(r.Ranks, cmp.Or(sum(r.Ranks), 1))
		r.Converged = r.Residual <= tolerance
		all[i] = r
	}
	return all
}
