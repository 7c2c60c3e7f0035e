package clusters

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// TestPeers has two nodes call each other, which know of one another from the bucket alone.
func TestPeers(t *testing.T) {
	b := &buckettest.Memory{}
	var peers []*Peers
	for i := range 2 {
		p, err := ListenForPeers(b, t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler))
		testweb.Must(t, err)
		peers = append(peers, p)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- p.Run(ctx, func(_ context.Context, shard int, request []byte) ([]byte, error) {
				return fmt.Appendf(nil, "%s of shard %d by node %d", request, shard, i), nil
			})
		}()
		t.Cleanup(func() {
			stop()
			testweb.Must(t, <-ended)
		})
		go node.Announce(t.Context(), b, lease.RandomID(), func() vocab.ClusterNode {
			return vocab.ClusterNode{Address: p.Address, Certificate: p.Certificate, Whole: []int{i}}
		})
	}
	for len(b.Names("nodes/")) < len(peers) {
		time.Sleep(time.Millisecond)
	}
	for i, p := range peers {
		shard := 1 - i
		reply, err := p.Call(t.Context(), shard, []byte("postings"))
		want := fmt.Sprintf("postings of shard %d by node %d", shard, shard)
		if err != nil || string(reply) != want {
			t.Errorf("node %d: %q, %v; want %q", i, reply, err, want)
		}
	}
	if _, err := ListenForPeers(b, t.TempDir(), "4223", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a port alone is no address")
	}
}
