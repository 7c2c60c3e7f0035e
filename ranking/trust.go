package ranking

import (
	"cmp"
	"context"
	"slices"

	"anatomy/pagerank"
	"anatomy/vocab"
)

// TrustSeeds proposes n pages to review as trust seeds: those from which most of the web is
// reached, by PageRank over reversed links (TrustRank: Gyöngyi, Garcia-Molina, Pedersen, VLDB 2004,
// §4.2). A vector personalised to the good ones is TrustRank.
func TrustSeeds(ctx context.Context, dir string, n int, o pagerank.Options) ([]RankedPage, error) {
	set, err := openLinks(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	nodes, err := loadNodes(set)
	if err != nil {
		return nil, err
	}
	g, err := reversedGraph(set, nodes)
	if err != nil {
		return nil, err
	}
	result, err := pagerank.Compute(ctx, g, o)
	if err != nil {
		return nil, err
	}
	var seeds []RankedPage
	for node, doc := range nodes.docs {
		if nodes.ranked[node] {
			seeds = append(seeds, RankedPage{Doc: doc, Rank: result.Ranks[node]})
		}
	}
	slices.SortFunc(seeds, func(a, b RankedPage) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Doc, b.Doc))
	})
	seeds = seeds[:min(n, len(seeds))]
	for i := range seeds {
		shard, doc := set.outer(seeds[i].Doc).Shard()
		if seeds[i].URL, _, err = set.shards[shard].Finder().URL(doc); err != nil {
			return nil, err
		}
		seeds[i].Doc = vocab.Outer(shard, doc)
	}
	return seeds, nil
}

// reversedGraph returns the link graph with all links reversed.
func reversedGraph(set *links, n *nodes) (*pagerank.Graph, error) {
	b := &pagerank.Builder{}
	b.Grow(len(n.docs))
	if err := n.eachLink(set, func(from uint32, targets []uint32) {
		for _, to := range targets {
			b.Add(to, []uint32{from})
		}
	}); err != nil {
		return nil, err
	}
	return b.Graph()
}
