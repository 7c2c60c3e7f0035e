package clusters

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"testing"
	"time"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/bus"
	"anatomy/cluster/lease"
	"anatomy/cluster/node"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/vocab"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newTeam(t *testing.T, b *buckettest.Memory, listen string) *Team {
	t.Helper()
	team, err := NewTeam(b, t.TempDir(), listen, slog.New(slog.DiscardHandler))
	must(t, err)
	return team
}

// announce has a node be there until the test ends.
func announce(t *testing.T, b *buckettest.Memory, crawlers, key string) {
	before := len(b.Names("nodes/"))
	go node.Announce(t.Context(), b, lease.RandomID(), func() vocab.ClusterNode {
		return vocab.ClusterNode{Crawlers: crawlers, Key: key}
	})
	for len(b.Names("nodes/")) == before {
		time.Sleep(time.Millisecond)
	}
}

// TestTeam has an owner share its keys with the nodes that stand by. The next owner has the same keys,
// is named in the line, and crawlers of that line are not new to it. A node with an invalid key is
// left out.
func TestTeam(t *testing.T) {
	b := &buckettest.Memory{}
	_, err := replica.Initialize(t.Context(), b)
	must(t, err)
	first, second, without := newTeam(t, b, "127.0.0.1:0"), newTeam(t, b, "second.test:4222"), newTeam(t, b, "none")
	keys, err := first.Keys(t.Context())
	must(t, err)
	server, err := bus.Listen("127.0.0.1:0", keys, first.log)
	must(t, err)
	defer server.Close()
	for _, team := range []*Team{first, second, without} {
		announce(t, b, team.Address, team.PublicKey())
	}
	for range 3 { // nodes are in no order
		announce(t, b, "foreign.test:4222", "no key")
	}
	sharing, stop := context.WithCancel(t.Context())
	changes := 0
	first.Share(sharing, server, func() { changes++; stop() })
	if line := server.JoinLine(bus.Crawler); changes != 1 || len(line.Addresses) != 2 || line.Addresses[1] != "second.test:4222" {
		t.Errorf("%d changes of the line, and it names %q", changes, line.Addresses)
	}
	if left := b.Names("keys/"); len(left) != 1 {
		t.Errorf("keys were left for %q", left)
	}
	took, err := second.Keys(t.Context())
	must(t, err)
	keys.New = false
	if !reflect.DeepEqual(took, keys) {
		t.Error("the next owner has other keys")
	}
	if info, err := os.Stat(datadir.ClusterKeys(second.dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the keys are for others, too: %v, %v", info.Mode(), err)
	}

	name := "keys/" + second.PublicKey()
	b.Change(name, func(sealed []byte) []byte { return sealed[1:] })
	if again, err := second.Keys(t.Context()); err != nil || !reflect.DeepEqual(again, keys) {
		t.Errorf("what was left is damaged: other keys than before, %v", err)
	}
	lost := errors.New("the bucket is away")
	b.Set(func(context.Context, string, string) error { return lost })
	if _, err := second.Keys(t.Context()); !errors.Is(err, lost) {
		t.Errorf("without the bucket: %v, want %v", err, lost)
	}
}
