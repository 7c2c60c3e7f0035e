package division_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/division"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
)

// TestShareSettings: a file that is made, changed or deleted in the folder of one node is so in that of
// another; of one that was changed in both, neither text is lost; and one that cannot be parsed goes
// nowhere.
func TestShareSettings(t *testing.T) {
	b := &buckettest.Memory{}
	root := t.TempDir()
	nodes := []string{filepath.Join(root, "a"), filepath.Join(root, "b")}
	for _, dir := range nodes {
		must(t, os.Mkdir(dir, 0o700))
	}
	log := slog.New(slog.DiscardHandler)
	share := func(node int) error { return division.ShareSettings(t.Context(), b, nodes[node], log) }
	write := func(node int, name, text string) {
		must(t, os.WriteFile(filepath.Join(nodes[node], name), []byte(text), 0o600))
	}
	check := func(what string, node int, name, want string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(nodes[node], name))
		if os.IsNotExist(err) {
			got = []byte("absent")
		}
		if string(got) != want {
			t.Errorf("%s: %s of node %d is %q, want %q", what, name, node, got, want)
		}
	}
	both := func() {
		for _, node := range []int{0, 1, 0} {
			must(t, share(node))
		}
	}
	for _, name := range []string{"anatomy.toml", "synonyms.txt", "judged.tsv", "weights.json"} {
		first, second, third := "{}", `{"a": 1}`, `{"b": 2}`
		if name == "anatomy.toml" {
			first, second, third = "schema = 1\n", "schema = 1 # two\n", "schema = 1 # three\n"
		}
		both()
		check("at first", 1, name, "absent")
		write(0, name, first)
		both()
		check("made", 1, name, first)
		write(1, name, second)
		both()
		check("changed", 0, name, second)
		write(0, name, first)
		write(1, name, third)
		both()
		check("changed in both", 1, name, first)
		check("changed in both", 1, name+".replaced", third)
		if name == "anatomy.toml" || name == "weights.json" {
			write(1, name, "[x")
			if share(1) == nil {
				t.Errorf("a broken %s is no error", name)
			}
			must(t, share(0))
			check("broken", 0, name, first)
			write(1, name, first)
		}
		must(t, os.Remove(filepath.Join(nodes[1], name)))
		both()
		must(t, share(1))
		check("deleted", 0, name, "absent")
		check("deleted", 1, name, "absent")
	}
}

// TestNodesShareSettings: nodes share settings while they run, copies included; a node that joins has
// them, and keeps what differs in its folder.
func TestNodesShareSettings(t *testing.T) {
	b, root := &buckettest.Memory{}, t.TempDir()
	first, second := filepath.Join(root, "first"), filepath.Join(root, "second")
	must(t, division.Create(t.Context(), b, first, "test", func() error { return collective.CreateDivided(first, 2) }))
	must(t, os.WriteFile(filepath.Join(first, "synonyms.txt"), []byte("a = b\n"), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	defer func() {
		stop()
		must(t, <-ended)
		must(t, <-ended)
	}()
	for _, dir := range []string{first, second} {
		m, err := division.Join(t.Context(), b, dir)
		must(t, err)
		if dir == second {
			if got, err := os.ReadFile(filepath.Join(second, "synonyms.txt")); string(got) != "a = b\n" {
				t.Errorf("the node that joins has the synonyms %q, %v", got, err)
			}
		}
		n := division.New(division.Options{Bucket: b, Dir: dir, Shards: len(m.Folders), Intervals: quick})
		go func() { ended <- n.Run(ctx) }()
	}
	weights := []byte(`{"Title": 2}`)
	must(t, os.WriteFile(filepath.Join(second, "weights.json"), weights, 0o600))
	for {
		got, err := os.ReadFile(filepath.Join(first, "weights.json"))
		if err == nil && string(got) == string(weights) {
			break
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the weights do not arrive")
		case <-time.After(10 * time.Millisecond):
		}
	}
	if !shards.IsDivided(first) {
		t.Error("the folder is not divided")
	}
}
