package query

import (
	"errors"
	"fmt"
	"slices"

	"anatomy/analysis"
)

// Bounds of a node from another machine.
const (
	maxDepth = 128
	maxNodes = 4096
)

var errNode = errors.New("not a valid query")

// Check fails unless n, which another machine sent, has the form that this package gives nodes: it
// is bounded, and each operator has what it needs.
func Check(n *Node) error {
	left := maxNodes
	return check(n, maxDepth, &left)
}

// isOf reports whether a may be an accented term of a node.
func (a Accented) isOf(n *Node) bool {
	return a.Word >= 0 && a.Word < len(n.Words) && analysis.IsAccented(a.Term)
}

func check(n *Node, depth int, left *int) error {
	if *left--; n == nil || depth == 0 || *left < 0 {
		return errNode
	}
	least, most := 0, 0
	switch n.Op {
	case Words:
		if len(n.Words) == 0 || n.In > InAlt || n.At != nil && len(n.At) != len(n.Words) || n.Times < 0 ||
			slices.ContainsFunc(n.Accented, func(a Accented) bool { return n.Times == 0 || !a.isOf(n) }) {
			return errNode
		}
	case Site, Pages:
	case Only:
		most = maxNodes // sites of a label
	case And, Or, Near, Most:
		least, most = 1, maxNodes
	case Not:
		least, most = 1, 1
	default:
		return fmt.Errorf("%w: operator %d", errNode, n.Op)
	}
	if len(n.Kids) < least || len(n.Kids) > most {
		return errNode
	}
	for _, kid := range n.Kids {
		if n.Op == Near && (kid == nil || kid.Op != Words) {
			return errNode
		}
		if err := check(kid, depth-1, left); err != nil {
			return err
		}
	}
	return nil
}
