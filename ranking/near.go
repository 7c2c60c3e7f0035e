package ranking

import (
	"context"
	"fmt"
	"math"

	"anatomy/pagerank"
	"anatomy/vocab"
)

// nearEpsilon is the precision of Near: at most about 100,000 pages get a rank, and millions of
// links are followed.
const nearEpsilon = 1e-6

// Near ranks pages by personalised PageRank from one of them, computed at query time over links in
// memory (BP98 §2.1.2). It is safe for concurrent use.
type Near struct {
	links *links // closed; used for the numbers of documents, which are the nodes of graph
	graph *pagerank.Forward
}

// OpenNear reads the links of the data folder dir, or of all shards.
func OpenNear(ctx context.Context, dir string) (*Near, error) {
	set, err := openLinks(dir)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	last := set.last()
	if last >= math.MaxUint32 {
		return nil, fmt.Errorf("ranks near a page: %d documents are too many", last)
	}
	n := &Near{links: set, graph: pagerank.NewForward(int(last)+1, set.countLinks())}
	var targets []uint32
	for source, err := range set.Links() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		targets = targets[:0]
		for _, t := range source.Targets {
			if t.Flags&vocab.NoFollow == 0 && t.Doc <= last {
				targets = append(targets, uint32(t.Doc))
			}
		}
		n.graph.Add(uint32(source.Doc), targets)
	}
	return n, nil
}

// Ranks calls visit with the documents near doc and their ranks, as shares of all rank; documents
// with negligible rank are omitted. It visits none if doc is not a page.
func (n *Near) Ranks(doc vocab.DocID, visit func(doc vocab.DocID, rank float64)) {
	shard, inner := doc.Shard()
	if shard >= len(n.links.shards) {
		return
	}
	start := n.links.shards[shard].base + inner
	if start > n.links.last() || !n.links.IsCanonical(start) {
		return
	}
	for _, page := range n.graph.Push(uint32(start), pagerank.DefaultDamping, nearEpsilon) {
		visit(n.links.outer(vocab.DocID(page.Node)), page.Rank)
	}
}
