package division_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/division"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
)

// TestCopies has three nodes keep each of four shards whole on two of them. It is so when nothing is
// left to do, also after a node has left, and after it has come back. Those that have all shards whole
// meanwhile have what one folder has.
func TestCopies(t *testing.T) {
	t.Parallel()
	web := testweb.Generate(t, 5, 60, 0)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	b, root := &buckettest.Memory{}, t.TempDir()
	const n, copies = 4, 2
	start := func(name string) *process { return beginCopies(t, web, b, filepath.Join(root, name), n, copies) }
	nodes := []*process{start("a"), start("b"), start("c")}
	areQuiet(t, b, nodes, n, copies)
	id, err := os.ReadFile(filepath.Join(nodes[2].dir, "cluster", "node"))
	must(t, err)
	nodes[2].end()
	areQuiet(t, b, nodes[:2], n, copies)
	for _, p := range nodes[:2] {
		eventually(t, func() error {
			found, err := tryDescribe(t, p.dir)
			if err == nil && !found.equals(want) {
				err = errors.New("the node has something else")
			}
			return err
		}, func() { describe(t, p.dir).same(t, want) })
	}
	nodes[2] = start("c")
	areQuiet(t, b, nodes, n, copies)
	if now, err := os.ReadFile(filepath.Join(nodes[2].dir, "cluster", "node")); err != nil || string(now) != string(id) {
		t.Errorf("the node has the ID %s after a restart, and had %s; %v", now, id, err)
	}
	for _, p := range nodes {
		p.end()
		testweb.Checked(t, p.dir)
	}
}

// areQuiet waits until each of n shards is whole on its owner and in all on as
// many nodes as copies, and light on the others, and the nodes know that of one another.
func areQuiet(t *testing.T, b bucket.Bucket, nodes []*process, n, copies int) {
	t.Helper()
	stable := 0
	eventually(t, func() error {
		err := errors.Join(allWhole(nodes, n, copies), knowWhole(t, b, nodes, n))
		if stable++; err != nil {
			stable = 0
		} else if stable < 5 {
			err = errors.New("it is so, but for a moment only")
		}
		return err
	}, t.FailNow)
}

// allWhole fails unless each shard is whole on as many nodes as copies and light on the others.
func allWhole(nodes []*process, n, copies int) (err error) {
	for shard := range n {
		var whole []string
		for _, p := range nodes {
			dir := shards.Folder(p.dir, shard)
			if failed := datadir.CheckVersion(dir); failed != nil {
				err = errors.Join(err, failed)
			} else if !datadir.IsLight(dir) {
				whole = append(whole, filepath.Base(p.dir))
			}
		}
		if len(whole) != copies {
			err = errors.Join(err, fmt.Errorf("shard %d is whole on %v", shard, whole))
		}
	}
	return err
}

// knowWhole fails unless each shard has an owner, and what the nodes announce and know of one another
// agrees with their folders.
func knowWhole(t *testing.T, b bucket.Bucket, nodes []*process, n int) (err error) {
	st, err := division.Status(t.Context(), b)
	if err != nil {
		return err
	}
	owners := make([]string, n)
	for shard := range n {
		d := st.Divided[shard]
		if d.Work == nil || d.Owner == nil || d.Owner.Released {
			return fmt.Errorf("shard %d has no owner", shard)
		}
		owners[shard] = d.Owner.Machine
	}
	for _, p := range nodes {
		name := filepath.Base(p.dir)
		i := slices.IndexFunc(st.Nodes, func(node vocab.ClusterNode) bool { return node.Machine == name && !node.Silent })
		if i < 0 {
			return fmt.Errorf("%s is not listed", name)
		}
		for shard := range n {
			isWhole := !datadir.IsLight(shards.Folder(p.dir, shard))
			if slices.Contains(st.Nodes[i].Whole, shard) != isWhole || owners[shard] == name && !isWhole {
				err = errors.Join(err, fmt.Errorf("%s announces shards %v", name, st.Nodes[i].Whole))
			}
		}
	}
	return err
}
