package clusters

import (
	"strings"
	"testing"
	"time"

	"anatomy/vocab"
)

// TestCopiesInStatus: the status of a divided collection says how many shards each node has whole.
func TestCopiesInStatus(t *testing.T) {
	st := &vocab.ClusterStatus{
		Divided: make([]vocab.ClusterShard, 4),
		Nodes:   []vocab.ClusterNode{{Machine: "alpha", Role: "node", Version: "v1", Whole: []int{0, 2, 3}}},
	}
	var out strings.Builder
	must(t, printStatus(&out, st, time.Now()))
	found := false
	for line := range strings.Lines(out.String()) {
		found = found || strings.HasPrefix(strings.Join(strings.Fields(line), " "), "alpha node v1 3 of 4 none")
	}
	if !found || !strings.Contains(out.String(), "whole shards") {
		t.Errorf("the status is\n%s", out.String())
	}
}

// TestNodesOfOneMachine: names of nodes of one machine differ, also where they own a shard.
func TestNodesOfOneMachine(t *testing.T) {
	st := &vocab.ClusterStatus{
		Divided: []vocab.ClusterShard{{Owner: &vocab.ClusterOwner{Machine: "alpha", Node: "1a2b3c4d5e6f7081"}}},
		Nodes: []vocab.ClusterNode{
			{Machine: "alpha", ID: "1a2b3c4d5e6f7081"}, {Machine: "alpha", ID: "99"}, {Machine: "beta", ID: "77"},
		},
	}
	var out strings.Builder
	must(t, printStatus(&out, st, time.Now()))
	for text, want := range map[string]int{"alpha#1a2b": 2, "alpha#99": 1, "beta": 1} {
		if got := strings.Count(out.String(), text); got != want {
			t.Errorf("%q appears %d times, want %d:\n%s", text, got, want, out.String())
		}
	}
}

// TestLateClaim: a claim that was not renewed in time is not renewed "just now".
func TestLateClaim(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]string{
		2 * time.Second: "just now", 5 * time.Second: "5 seconds ago", 59 * time.Second: "59 seconds ago", time.Minute: "1 minute ago",
	} {
		if got := secondsAgo(now, now.Add(-age)); got != want {
			t.Errorf("%v: %q, want %q", age, got, want)
		}
	}
}
