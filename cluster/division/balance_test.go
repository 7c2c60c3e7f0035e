package division

import (
	"testing"
	"time"

	"anatomy/cluster/lease"
)

// TestMayClaim: a shard without an owner is first claimed by the node with the fewest shards. The node that
// owned it last is not waited for, though its status in the bucket may be recent.
func TestMayClaim(t *testing.T) {
	const shard = 2
	for _, c := range []struct {
		last   string   // owner of the shard until now
		own    int      // number of shards of this node
		others []string // live nodes
		at     time.Duration
		want   bool
	}{
		{last: "dead", own: 2, others: []string{"dead"}, want: true},
		{last: "dead", own: 2, others: []string{"dead", "idle"}, want: false},
		{last: "dead", own: 2, others: []string{"dead", "idle"}, at: time.Minute, want: true},
		{last: "dead", own: 0, others: []string{"dead", "idle"}, want: true},
		{last: "", own: 1, others: []string{"idle"}, want: false},
		{last: "", own: 1, want: true},
	} {
		n := New(Options{Dir: t.TempDir(), Shards: 4})
		n.others = map[string]bool{}
		for _, id := range c.others {
			n.others[id] = true
		}
		n.shards[shard].holder = lease.Holder{Owner: "0", Claim: lease.Claim{Node: c.last, Released: true}}
		for i := range c.own {
			n.shards[i].own = &owned{}
		}
		if got := n.mayClaim(shard, c.at); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
