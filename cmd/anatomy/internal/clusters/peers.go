package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bus"
	"anatomy/cluster/node"
	"anatomy/cluster/peer"
	"anatomy/cmd/anatomy/internal/cli"
	"anatomy/searcher"
	"anatomy/vocab"
)

// Peers are the connections of a node to other nodes of a divided collection.
type Peers struct {
	*peer.Client
	*peer.Server
	Address     string // at which others reach the server
	Certificate string // see peer.Identity
}

// ListenForPeers listens at an address for calls of other nodes. The caller announces Address and
// Certificate, and calls Run next.
func ListenForPeers(b bucket.Bucket, dir, listen string, log *slog.Logger) (*Peers, error) {
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return nil, cli.UsageErrorf("--peers takes HOST:PORT: %w", err)
	}
	id, err := peer.OpenIdentity(dir)
	if err != nil {
		return nil, err
	}
	nodes := peer.NewDirectory(func(ctx context.Context) ([]vocab.ClusterNode, error) {
		return node.Nodes(ctx, b, time.Time{})
	})
	server, err := peer.Listen(listen, id, nodes, log)
	if err != nil {
		return nil, cli.WithHint(err,
			"--peers takes an address of this machine, which other nodes reach, and a free port")
	}
	return &Peers{
		Client: peer.NewClient(id, nodes, log), Server: server, Certificate: id.Certificate,
		Address: cmp.Or(bus.Reachable(listen), bus.Reachable(server.Addr().String())),
	}, nil
}

// Remote returns the function that sends calls to other nodes, or nil if p is nil.
func (p *Peers) Remote() peer.Call {
	if p == nil {
		return nil
	}
	return p.Call
}

// Serve answers calls of other nodes by the AnswerShard of a collection until ctx ends.
func (p *Peers) Serve(ctx context.Context, answer peer.Call) error {
	return p.Run(ctx, func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		reply, err := answer(ctx, shard, call)
		for from, to := range map[error]error{
			searcher.ErrShard: peer.ErrNotKept,
			searcher.ErrState: peer.ErrGone,
			searcher.ErrCall:  peer.ErrRequest,
		} {
			if errors.Is(err, from) {
				return nil, fmt.Errorf("%w: %w", to, err)
			}
		}
		return reply, err
	})
}
