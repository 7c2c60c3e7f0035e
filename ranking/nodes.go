package ranking

import (
	"cmp"
	"math"
	"time"

	"anatomy/disk/rankvector"
	"anatomy/pagerank"
	"anatomy/vocab"
	"anatomy/weburl"
)

// nodes numbers the documents that exist and are not aliases. A node has a rank if it has a link or
// is a teleport target. The other nodes were not fetched and have no in-links; leaving them out
// changes the other ranks only by a factor.
type nodes struct {
	docs   []vocab.DocID // by node, ascending
	of     []uint32      // by document, up to the last known one: its node + 1, or 0
	ranked []bool        // by node; set by eachLink
}

// loadNodes numbers the canonical documents of set, and passes all to the matchers.
func loadNodes(set *links, matchers ...*matcher) (*nodes, error) {
	n := &nodes{}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		for vocab.DocID(len(n.of)) <= name.Doc {
			n.of = append(n.of, 0)
		}
		isCanonical := set.IsCanonical(name.Doc)
		for _, m := range matchers {
			m.add(name.Doc, name.URL, isCanonical)
		}
		if !isCanonical {
			continue
		}
		n.docs = append(n.docs, name.Doc)
		n.of[name.Doc] = uint32(len(n.docs))
	}
	n.ranked = make([]bool, len(n.docs))
	return n, nil
}

// node returns the node of a document, if it is ranked.
func (n *nodes) node(doc vocab.DocID) (uint32, bool) {
	if doc >= vocab.DocID(len(n.of)) || n.of[doc] == 0 {
		return 0, false
	}
	return n.of[doc] - 1, true
}

// addLinks adds the links of all nodes to b.
func (n *nodes) addLinks(set *links, b *pagerank.Builder) error {
	b.Grow(len(n.docs))
	return n.eachLink(set, b.Add)
}

// countRanked returns the number of nodes with a rank.
func (n *nodes) countRanked() (count int) {
	for _, ranked := range n.ranked {
		if ranked {
			count++
		}
	}
	return count
}

// eachLink calls add with the followed links of each fetched node. targets is reused after add
// returns.
func (n *nodes) eachLink(set *links, add func(from uint32, targets []uint32)) error {
	var targets []uint32
	for source, err := range set.Links() {
		if err != nil {
			return err
		}
		from, ok := n.node(source.Doc)
		if !ok {
			continue
		}
		n.ranked[from] = true
		targets = targets[:0]
		for _, t := range source.Targets {
			if to, ok := n.node(t.Doc); ok && t.Flags&vocab.NoFollow == 0 {
				n.ranked[to] = true
				targets = append(targets, to)
			}
		}
		add(from, targets)
	}
	return nil
}

// vouchers returns vouchers for the sites of the nodes. The caller adds the links.
func (n *nodes) vouchers(set *links) (*pagerank.Vouchers, error) {
	sites, count, err := n.groups(set, (*weburl.URL).Site)
	if err != nil {
		return nil, err
	}
	return pagerank.NewVouchers(sites, count), nil
}

// groups returns the number of each node's group, its host or its site, and the number of groups.
// URLs that cannot be parsed are one group.
func (n *nodes) groups(
	set *links, of func(*weburl.URL) string,
) (groups []uint32, count int, err error) {
	numbers := weburl.NewNumbering(of)
	groups = make([]uint32, len(n.docs))
	for name, err := range set.Names() {
		if err != nil {
			return nil, 0, err
		}
		if node, ok := n.node(name.Doc); ok {
			groups[node] = numbers.Number(name.URL)
		}
	}
	return groups, numbers.Len(), nil
}

// ranksOf returns the ranks of the nodes in v, to start the iteration with. If v teleports to all
// nodes, nodes without a rank get the rank that the teleport alone gives.
func (n *nodes) ranksOf(v *rankvector.Vector) []float32 {
	least := float32(0)
	if v.Personalized == "" {
		for _, rank := range v.Ranks {
			if rank > 0 && (rank < least || least == 0) {
				least = rank
			}
		}
	}
	ranks := make([]float32, len(n.docs))
	for i, doc := range n.docs {
		ranks[i] = cmp.Or(float32(v.Rank(doc)), least)
	}
	return ranks
}

// vector returns the ranks of the nodes by docID, scaled to sum to 1. Ranks are positive, because 0
// means no rank: nodes that no teleport reaches get the smallest positive number.
func (n *nodes) vector(r *pagerank.Result, ranks []float32, o Options) *rankvector.Vector {
	v := &rankvector.Vector{
		Damping:    cmp.Or(o.Damping, pagerank.DefaultDamping),
		Tolerance:  cmp.Or(o.Tolerance, pagerank.DefaultTolerance),
		Iterations: r.Iterations, Residual: r.Residual, Links: uint64(r.Links),
		Personalized: o.Title, Computed: time.Now().UTC().Truncate(time.Second),
		Ranks: make([]float32, len(n.of)),
	}
	all := 0.0
	for i, rank := range ranks {
		if n.ranked[i] {
			all += float64(rank)
		}
	}
	for i, doc := range n.docs {
		if n.ranked[i] {
			v.Ranks[doc] = max(float32(float64(ranks[i])/cmp.Or(all, 1)), math.SmallestNonzeroFloat32)
		}
	}
	return v
}
