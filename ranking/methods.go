package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"anatomy/pagerank"
	"anatomy/weburl"
)

// A Method is a method of ranking pages by links.
type Method uint8

const (
	ByVouchers Method = iota // ByPages, weighed by the sites that link to a page's site (pagerank.Vouchers)
	ByPages                  // PageRank of the pages (BP98 §2.1)
	ByHosts                  // PageRank of the hosts: each page has the rank of its host
	ByHarmonic               // harmonic centrality of the pages (Boldi and Vigna, 2013)
)

var methods = []string{"vouched", "pages", "hosts", "harmonic"}

func (m Method) String() string { return methods[m] }

// title describes for display which pages a vector of the method ranks high.
func (m Method) title() string {
	titles := [...]string{"", "", "pages of hosts that others link to", "pages that others reach over few links"}
	return titles[m]
}

// ParseMethod returns the method with a name: vouched, pages, hosts or harmonic.
func ParseMethod(name string) (Method, error) {
	i := slices.Index(methods, name)
	if i < 0 {
		return 0, fmt.Errorf("method %.40q is not one of %s", name, strings.Join(methods, ", "))
	}
	return Method(i), nil
}

// rankByHosts ranks the hosts: a host links to another if any of its pages does. All pages of a
// host get the rank of the host, scaled to sum to 1.
func rankByHosts(
	ctx context.Context, set *links, n *nodes, o Options,
) (*pagerank.Result, []float32, error) {
	hosts, count, err := n.groups(set, (*weburl.URL).Host)
	if err != nil {
		return nil, nil, err
	}
	b := &pagerank.Builder{Memory: o.Memory, Dir: o.Dir}
	b.Grow(count)
	if err := n.eachLink(set, func(from uint32, targets []uint32) {
		for i, to := range targets {
			targets[i] = hosts[to]
		}
		b.Add(hosts[from], targets)
	}); err != nil {
		return nil, nil, err
	}
	o.Warm = nil
	byHost := make([]float64, 0, count)
	result, err := pagerank.Rank(ctx, b, o.Options, func(some []float64) error {
		byHost = append(byHost, some...)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	ranks, ranked := make([]float64, len(hosts)), make([]bool, count)
	for node, host := range hosts {
		ranks[node] = byHost[host]
		ranked[host] = ranked[host] || n.ranked[node]
	}
	for _, ranked := range ranked {
		if !ranked {
			result.Dangling--
		}
	}
	return result, normalize(ranks), nil
}

// normalize returns values scaled to sum to 1.
func normalize(values []float64) []float32 {
	all := 0.0
	for _, v := range values {
		all += v
	}
	scaled := make([]float32, len(values))
	for i, v := range values {
		scaled[i] = float32(v / cmp.Or(all, 1))
	}
	return scaled
}

// rankByHarmonic ranks the pages by harmonic centrality.
func rankByHarmonic(
	ctx context.Context, set *links, n *nodes, o Options,
) (*pagerank.Result, []float32, error) {
	if o.Memory > 0 {
		counters := int64(len(n.docs)) * pagerank.HarmonicBytes
		if o.Memory -= counters; o.Memory <= 0 {
			return nil, nil, fmt.Errorf("the counters of %d pages take %d bytes: %w",
				len(n.docs), counters, pagerank.ErrTooLarge)
		}
	}
	g, err := graph(set, n, o.Memory)
	if err != nil {
		return nil, nil, err
	}
	result, err := pagerank.HarmonicRanks(ctx, g, o.Options)
	if err != nil {
		return nil, nil, err
	}
	return result, normalize(result.Ranks), nil
}

// graph returns the link graph of the pages. It fails with [pagerank.ErrTooLarge] if that exceeds memory,
// unless this is 0.
func graph(set *links, n *nodes, memory int64) (*pagerank.Graph, error) {
	b := &pagerank.Builder{Memory: memory}
	if err := n.addLinks(set, b); err != nil {
		return nil, err
	}
	return b.Graph()
}
