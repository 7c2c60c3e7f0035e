package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"anatomy/pagerank"
)

// A Topic is a vector that is computed together with others (Haveliwala, WWW 2002).
type Topic struct {
	Name    string
	Targets []TeleportTarget
}

// ReadTopics reads lines of three fields: the name of a vector, a URL or a site, and an optional
// weight, default 1. Empty lines and lines that begin with # are skipped. At most
// [pagerank.MaxTopics] names are allowed. Errors have the line number.
func ReadTopics(r io.Reader) ([]Topic, error) {
	var topics []Topic
	err := eachLine(r, "topics", func(fields []string) error { return addToTopic(&topics, fields) })
	if err != nil {
		return nil, err
	}
	return topics, nil
}

func addToTopic(topics *[]Topic, fields []string) error {
	o := Options{Name: fields[0]}
	if err := o.CheckName(); err != nil {
		return err
	}
	if len(fields) == 1 {
		return errors.New("expected a name, a URL or a site, and an optional weight")
	}
	target, err := parseTarget(fields[1:])
	if err != nil {
		return err
	}
	t, err := topicNamed(topics, fields[0], func(t Topic) string { return t.Name }, Topic{Name: fields[0]})
	if err == nil {
		t.Targets = append(t.Targets, target)
	}
	return err
}

// ReadNodeTopics reads lines like [ReadTopics], with nodes of a graph instead of URLs and sites.
func ReadNodeTopics(r io.Reader) (topics []pagerank.EdgeTopic, err error) {
	err = eachLine(r, "topics", func(fields []string) error {
		if len(fields) == 1 {
			return errors.New("expected a name, a node, and an optional weight")
		}
		weight, err := parseWeight(fields[1:])
		if err != nil {
			return err
		}
		t, err := topicNamed(&topics, fields[0], func(t pagerank.EdgeTopic) string { return t.Name },
			pagerank.EdgeTopic{Name: fields[0], Weights: map[string]float64{}})
		if err == nil {
			t.Weights[fields[1]] += weight
		}
		return err
	})
	return topics, err
}

// topicNamed returns the topic with a name, which it adds as fresh if there is none yet.
func topicNamed[T any](topics *[]T, name string, nameOf func(T) string, fresh T) (*T, error) {
	i := slices.IndexFunc(*topics, func(t T) bool { return nameOf(t) == name })
	if i < 0 {
		if len(*topics) == pagerank.MaxTopics {
			return nil, fmt.Errorf("too many topics at %q: at most %d are computed at a time", name, pagerank.MaxTopics)
		}
		i = len(*topics)
		*topics = append(*topics, fresh)
	}
	return &(*topics)[i], nil
}

// ComputeTopics computes a vector for each topic in one pass over the links, and makes them current.
// It uses the options Damping, Tolerance, MaxIterations, Workers, Memory and Progress. With
// a memory bound the topics are computed one at a time, from disk if the graph exceeds the bound.
func ComputeTopics(ctx context.Context, dir string, topics []Topic, o pagerank.Options) ([]*Report, error) {
	c, err := newComputation(dir)
	if err != nil {
		return nil, err
	}
	defer c.set.Close()
	matchers := make([]*matcher, len(topics))
	for i, t := range topics {
		if matchers[i], err = newMatcher(t.Targets); err != nil {
			return nil, err
		}
	}
	if c.nodes, err = loadNodes(c.set, matchers...); err != nil {
		return nil, err
	}
	reports, options := make([]*Report, len(topics)), make([]Options, len(topics))
	weights := make([]map[uint32]float64, len(topics))
	for i, t := range topics {
		reports[i] = &Report{Name: t.Name, Method: ByPages.String()}
		options[i] = Options{Options: o, Personalize: t.Targets, Name: t.Name}
		if err := c.personalize(reports[i], matchers[i], &options[i]); err != nil {
			return nil, err
		}
		weights[i] = options[i].Options.Personalize
	}
	var residuals []float64
	o.Progress = recordResiduals(&residuals, o.Progress)
	results, err := c.topics(ctx, o, weights)
	if err != nil {
		return nil, err
	}
	for i, result := range results {
		before := c.set.vector(topics[i].Name)
		reports[i].Residuals = residuals
		if err := c.publish(reports[i], result, normalize(result.Ranks), options[i], before); err != nil {
			return nil, err
		}
	}
	return reports, nil
}

// topics returns a result for each teleport set.
func (c *computation) topics(
	ctx context.Context, o pagerank.Options, weights []map[uint32]float64,
) (results []*pagerank.Result, err error) {
	if o.Memory == 0 {
		g, err := graph(c.set, c.nodes, 0)
		if err != nil {
			return nil, err
		}
		return pagerank.ComputeTopics(ctx, g, o, weights)
	}
	for _, o.Personalize = range weights {
		b := &pagerank.Builder{Memory: o.Memory, Dir: cmp.Or(o.Dir, c.dir)}
		if err := c.nodes.addLinks(c.set, b); err != nil {
			return nil, err
		}
		var ranks []float64
		r, err := pagerank.Rank(ctx, b, o, func(some []float64) error {
			ranks = append(ranks, some...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		r.Ranks = ranks
		results = append(results, r)
	}
	return results, nil
}
