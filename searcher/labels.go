package searcher

import (
	"slices"
	"sync"

	"anatomy/disk/damage"
	"anatomy/disk/segment"
	"anatomy/searcher/labels"
	"anatomy/searcher/query"
	"anatomy/vocab"
)

// A labelCache has the sites of the labels of the segments of the latest query that needed them.
type labelCache struct {
	mu       sync.Mutex // guards all below
	segments []*segment.Segment
	patterns *labels.Patterns
	sites    labels.Sites
}

// labelSites returns the sites that Options.Labels gives products and versions to, in a view.
func labelSites(s *Searcher, v *view) labels.Sites {
	patterns := s.o.Labels.Content()
	if patterns == nil {
		return nil
	}
	var segments []*segment.Segment
	for p := range v.parts() {
		segments = append(segments, p.Segment)
	}
	c := &s.labels
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.patterns == patterns && slices.Equal(c.segments, segments) {
		return c.sites
	}
	sites := labels.Sites{}
	for _, seg := range segments {
		if err := sites.Add(patterns, seg); err != nil {
			s.o.Damage.Add(damage.Index, err)
		}
	}
	c.segments, c.patterns, c.sites = segments, patterns, sites
	return sites
}

// withLabels returns the query with the sites of its products and versions.
func (s *search) withLabels(root *query.Node) *query.Node {
	return root.WithLabelSites(func(l vocab.Label) []string { return s.labelSites()[l] })
}

// labelNodes returns the filters of the products and versions that have sites.
func (s *search) labelNodes() (all []*query.Node) {
	for l, sites := range s.labelSites() {
		all = append(all, query.OfLabel(l, sites))
	}
	return all
}
