package ranking

import (
	"context"

	"anatomy/pagerank"
	"anatomy/vocab"
)

// nearEpsilon is the precision of Near: at most about 100,000 pages get a rank, and millions of
// links are followed.
const nearEpsilon = 1e-6

// Near ranks pages by personalised PageRank from one of them, computed at query time over links in
// memory (BP98 §2.1.2). It is safe for concurrent use.
type Near struct {
	links *links // closed; used for the numbers of documents
	nodes *nodes
	graph *pagerank.Forward
}

// OpenNear reads the links of the data folder dir, or of all shards.
func OpenNear(ctx context.Context, dir string) (*Near, error) {
	set, err := openLinks(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	n := &Near{links: set}
	if n.nodes, err = loadNodes(set); err != nil {
		return nil, err
	}
	n.graph = pagerank.NewForward(len(n.nodes.docs))
	err = n.nodes.eachLink(set, n.graph.Add)
	if err == nil {
		err = ctx.Err()
	}
	return n, err
}

// Ranks calls visit with the documents near doc and their ranks, as shares of all rank; documents
// with negligible rank are omitted. It visits none if doc is not a page.
func (n *Near) Ranks(doc vocab.DocID, visit func(doc vocab.DocID, rank float64)) {
	shard, inner := doc.Shard()
	if shard >= len(n.links.shards) {
		return
	}
	node, known := n.nodes.node(n.links.shards[shard].base + inner)
	if !known {
		return
	}
	for _, page := range n.graph.Push(node, pagerank.DefaultDamping, nearEpsilon) {
		visit(n.links.outer(n.nodes.docs[page.Node]), page.Rank)
	}
}
