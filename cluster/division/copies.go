package division

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"anatomy/cluster/node"
	"anatomy/vocab"
)

// look reads the status of the other nodes.
func (n *Node) look(ctx context.Context) error {
	all, err := node.Nodes(ctx, n.o.Bucket, time.Time{})
	if err != nil {
		return err
	}
	now := time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hasLooked = true
	n.others, n.present = map[string]bool{}, map[string]vocab.ClusterNode{}
	for _, other := range all {
		id := other.Node
		if id == "" || id == n.id || other.Silent {
			continue
		}
		if other.Failing == "" {
			n.others[id] = true
		}
		if last, ok := n.present[id]; !ok || last.Heard.Before(other.Heard) { // it may have started again
			n.present[id], n.seen[id] = other, now
		}
	}
	return nil
}

// byWeight returns node IDs, each once, the owner of a shard first, and then in the order of a hash
// of shard and ID: without one of the nodes, the others keep their order (rendezvous hashing; Thaler and
// Ravishankar 1998). The caller holds mu.
func (n *Node) byWeight(shard int, ids []string) []string {
	owner := n.shards[shard].holder.Node // until another node claims the shard
	if n.shards[shard].own != nil {
		owner = n.id
	}
	weight := func(id string) uint64 {
		if id == owner {
			return 1<<64 - 1
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", shard, id))
		return binary.BigEndian.Uint64(sum[:])
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a, b))
	})
	return ids
}

// chosen returns the nodes that are to have a shard whole. A node counts for some time after it has
// left, so that a restart moves no copies. The caller holds mu.
func (n *Node) chosen(shard int) []string {
	ids := []string{n.id}
	for id, last := range n.seen {
		if time.Since(last) < n.o.Away {
			ids = append(ids, id)
		}
	}
	return n.byWeight(shard, ids)[:min(n.o.Copies, len(ids))]
}

// isLight reports whether this node's copy of a shard is to be light. A whole copy becomes light only
// after all chosen nodes have announced that they have the shard whole.
func (n *Node) isLight(shard int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.o.Copies == 0 || n.o.Open == nil {
		return false
	}
	isWhole := n.shards[shard].isWholeCopy()
	if !n.hasLooked {
		return !isWhole
	}
	chosen := n.chosen(shard)
	if slices.Contains(chosen, n.id) {
		return false
	}
	return !isWhole || !slices.ContainsFunc(chosen, func(id string) bool { return !n.isKeeper(id, shard) })
}

// isWholeCopy reports whether the shard is followed, and the copy is whole.
func (s *shardState) isWholeCopy() bool {
	if s.copy == nil {
		return false
	}
	st := s.copy.Status()
	return !st.Light && st.Generation != ""
}

// isKeeper reports whether another live node has announced that it has a shard whole. The caller holds
// mu.
func (n *Node) isKeeper(id string, shard int) bool {
	return slices.Contains(n.present[id].Whole, shard)
}

// whole returns the numbers of the shards that this node has whole.
func (n *Node) whole() (all []int) {
	open := n.open()
	n.mu.Lock()
	defer n.mu.Unlock()
	for shard := range n.shards {
		if open[shard] != nil || n.shards[shard].isWholeCopy() {
			all = append(all, shard)
		}
	}
	return all
}
