package division

import (
	"context"
	"time"

	"anatomy/cluster/lease"
)

// observe records the owner of a shard, as read from its lease.
func (n *Node) observe(shard int, h lease.Holder) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shards[shard].holder = h
}

// counts returns the number of shards that each node owns, and the number without an owner. The
// caller holds mu.
func (n *Node) counts() (by map[string]int, free int) {
	by = map[string]int{n.id: 0}
	for id := range n.others {
		by[id] = 0
	}
	for i := range n.shards {
		switch s := &n.shards[i]; {
		case s.own != nil:
			by[n.id]++
		case s.holder.Owner == "" || s.holder.Released || s.holder.Node == n.id:
			free++
		default:
			by[s.holder.Node]++ // a dead node counts until another one claims its shard
		}
	}
	return by, free
}

// mayClaim reports whether this node may claim a shard that has had no owner for the duration free. For
// the time Grace, nodes with fewer shards may claim it first. The last owner of the shard is not among
// these: it has ended or handed over.
func (n *Node) mayClaim(shard int, free time.Duration) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	by, _ := n.counts()
	last := n.shards[shard].holder.Node
	for id := range n.others {
		if id != last && by[id] < by[n.id] && free < n.o.Grace {
			return false
		}
	}
	return true
}

// balance reads the status of the other nodes, and hands over a shard if another node owns at least two
// fewer.
func (n *Node) balance(ctx context.Context) error {
	if err := n.look(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if shard := n.surplus(); shard >= 0 && time.Since(n.handed) >= n.o.HandOn {
		n.handed = time.Now()
		n.shards[shard].own.release()
	}
	return nil
}

// surplus returns a shard that this node should hand over, or -1. Among nodes with equally many
// shards, the one with the greatest ID hands over. The caller holds mu.
func (n *Node) surplus() int {
	by, free := n.counts()
	if free > 0 {
		return -1 // other nodes claim it
	}
	least := by[n.id]
	for id := range n.others {
		least = min(least, by[id])
		if by[id] > by[n.id] || by[id] == by[n.id] && id > n.id {
			return -1
		}
	}
	if by[n.id] < least+2 {
		return -1
	}
	for shard := len(n.shards) - 1; shard >= 0; shard-- {
		if n.shards[shard].own != nil {
			return shard
		}
	}
	return -1
}
