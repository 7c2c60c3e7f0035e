package query

// Bounds of AROUND between groups, which becomes a Near node for each pair of their words.
const (
	maxPairWords = 16
	maxPairText  = 1 << 10 // bytes
)

// newNear returns a node of phrases near each other in one field, or the only phrase. A phrase
// given twice must occur twice.
func newNear(phrases []*Node, within int) *Node {
	switch len(phrases) {
	case 0:
		return nil
	case 1:
		return phrases[0]
	}
	return &Node{Op: Near, In: phrases[0].In, Kids: phrases, Within: within}
}

// around returns a node in which each word or phrase of one side is near each of the other, and its
// number of words. It returns nil if a side has another kind of node or field, or if there are too
// many pairs.
func around(left, right *Node, within int) (n *Node, words int) {
	n, words, size := pairs(left, right, within)
	if words > maxPairWords || size > maxPairText {
		return nil, 0
	}
	return n, words
}

// pairs is around without the bound on size, the bytes of text.
func pairs(left, right *Node, within int) (n *Node, words, size int) {
	group, others, swapped := left, right, false
	if left.Op == Words {
		group, others, swapped = right, left, true
	}
	if group.Op == Words {
		if left.In != right.In {
			return nil, 0, 0
		}
		n = newNear([]*Node{left.exactly(), right.exactly()}, within)
		return n, len(left.Words) + len(right.Words), len(left.Text) + len(right.Text)
	}
	if group.Op != And && group.Op != Or {
		return nil, 0, 0
	}
	var parts []*Node
	for _, kid := range group.Kids {
		a, b := kid, others
		if swapped {
			a, b = others, kid
		}
		part, w, s := pairs(a, b, within)
		if words, size = words+w, size+s; part == nil || words > maxPairWords {
			return nil, 0, 0
		}
		parts = append(parts, part)
	}
	return join(group.Op, parts), words, size
}

// exactly returns a Words node as if it were in quotes.
func (n *Node) exactly() *Node {
	m := *n
	m.Exact, m.Signed = true, ""
	return &m
}
