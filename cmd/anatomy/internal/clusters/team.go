package clusters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bus"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
)

// A Team manages access for crawlers of other machines to any node that can own the collection.
// Crawlers follow its owner: all nodes have the same keys, and crawlers know the addresses of all.
type Team struct {
	Address string // at which crawlers reach this machine; "" if that is not known before

	bucket  bucket.Bucket
	dir     string // the data folder
	keyring *node.Keyring
	log     *slog.Logger
}

// NewTeam returns the team of a node that will listen for crawlers at an address.
func NewTeam(b bucket.Bucket, dir, listen string, log *slog.Logger) (*Team, error) {
	keyring, err := node.OpenKeyring(dir)
	return &Team{Address: bus.Reachable(listen), bucket: b, dir: dir, keyring: keyring, log: log}, err
}

// PublicKey returns the key with which owners encrypt keys for this machine.
func (t *Team) PublicKey() string { return t.keyring.Public() }

// Keys returns the keys for crawlers: the keys that an owner left for this machine, else the keys
// of the data folder, which are generated if missing.
func (t *Team) Keys(ctx context.Context) (*bus.Keys, error) {
	path := datadir.ClusterKeys(t.dir)
	id, err := replica.Identify(ctx, t.bucket)
	if err != nil {
		return nil, err
	}
	content, err := t.keyring.Secret(ctx, t.bucket, id.ID)
	var useless error
	if err == nil {
		_, useless = bus.ParseKeys(content)
	}
	if errors.Is(err, node.ErrSealed) {
		useless, err = err, nil
	}
	switch {
	case useless != nil:
		t.log.Warn("crawlers that joined another node need a new line", "error", useless)
	case err == nil:
		err = durable.WritePrivate(durable.OS, path, content)
	case errors.Is(err, bucket.ErrNotExist):
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("keys for crawlers: %w", err)
	}
	return bus.LoadKeys(path)
}

// An owner looks for standby nodes once a second at first, because nodes are often started together, and one
// that dies before it has found the others leaves its crawlers without an owner.
const (
	shareEvery      = 5 * time.Second
	shareEveryFirst = time.Second
	shareFirst      = 30 * time.Second
)

// Share publishes the keys for the standby nodes, and sends crawlers their addresses, until ctx
// ends. It calls changed when the join line has changed.
func (t *Team) Share(ctx context.Context, server *bus.Server, changed func()) {
	left := map[string]bool{t.PublicKey(): true}
	began := time.Now()
	for failing := false; ctx.Err() == nil; {
		err := t.share(ctx, server, left, changed)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("crawlers would not find another owner now; trying again", "error", err)
		}
		failing = err != nil
		pause := shareEvery
		if time.Since(began) < shareFirst {
			pause = shareEveryFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// share does this once. left are the nodes that have the keys, by their public key.
func (t *Team) share(ctx context.Context, server *bus.Server, left map[string]bool, changed func()) error {
	id, err := replica.Identify(ctx, t.bucket)
	if err != nil {
		return err
	}
	keys, err := os.ReadFile(datadir.ClusterKeys(t.dir))
	if err != nil {
		return err
	}
	nodes, err := node.Nodes(ctx, t.bucket, time.Time{})
	if err != nil {
		return err
	}
	var addresses []string
	var failed error
	for _, n := range nodes {
		if n.Key == "" || n.Crawlers == "" {
			continue
		}
		if !left[n.Key] {
			err := node.PutSecret(ctx, t.bucket, id.ID, n.Key, keys)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("keys for %s: %w", n.Machine, err))
			}
			if errors.Is(err, node.ErrKey) {
				continue
			}
			left[n.Key] = err == nil // an owner before may have left them
		}
		addresses = append(addresses, n.Crawlers)
	}
	others, err := server.SetOwners(addresses)
	if others {
		changed()
	}
	return errors.Join(failed, err)
}
