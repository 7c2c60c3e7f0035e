package node

import (
	"context"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
	"anatomy/vocab"
)

// Status returns the state of the cluster in a bucket. The error wraps [replica.ErrNoCluster] if there
// is none.
func Status(ctx context.Context, b bucket.Bucket) (*vocab.ClusterStatus, error) {
	if _, err := replica.Identify(ctx, b); err != nil {
		return nil, err
	}
	h, err := lease.Find(ctx, b)
	if err != nil {
		return nil, err
	}
	st := &vocab.ClusterStatus{Bucket: b.String(), Owner: OwnerStatus(&h)}
	name, g, err := replica.Latest(ctx, b)
	if err != nil {
		return nil, err
	}
	if g != nil {
		st.Generation, st.Made, st.Shards = name.String(), g.Made, g.Shards()
		st.Files, st.Bytes = len(g.Files), g.Size()
	}
	st.Nodes, err = Nodes(ctx, b, h.Renewed)
	return st, err
}

// OwnerStatus returns the status of an owner, or nil if there was never one.
func OwnerStatus(h *lease.Holder) *vocab.ClusterOwner {
	if h.Owner == "" {
		return nil
	}
	return &vocab.ClusterOwner{
		Machine: h.Machine, Version: h.Version, Node: h.Node, Epoch: h.Epoch, Since: h.Since, Renewed: h.Renewed,
		Released: h.Released, Drains: h.Drains,
	}
}
