package division

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/cluster/replica"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/parcel/parceltest"
	"anatomy/disk/shards"
)

// TestMail: parcels of shards with several owners pass the suite of every post.
func TestMail(t *testing.T) {
	t.Parallel()
	parceltest.Run(t, func(t *testing.T) func() parcel.Post {
		dir, received := t.TempDir(), make([][]uint64, 4)
		for i := range received {
			received[i] = make([]uint64, 4)
		}
		return func() parcel.Post { return openOffice(dir, received) }
	})
}

// An office is the one post of a test: the mail of all shards, each of which has put a generation after
// each change.
type office struct {
	mail     *Mail
	posts    []parcel.Post
	received [][]uint64 // by shard, as it was put last
}

func openOffice(dir string, received [][]uint64) *office {
	o := &office{mail: NewMail(durable.OS, dir, len(received)), received: received}
	for shard := range received {
		o.posts = append(o.posts, o.mail.Own(shard, func() {}))
	}
	for shard := range received {
		o.publish(shard)
	}
	return o
}

// publish has a shard put a generation.
func (o *office) publish(shard int) {
	g := &replica.Generation{Received: slices.Clone(o.received[shard])}
	dir := shards.Folder(o.mail.dir, shard)
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			below, _ := filepath.Rel(dir, path)
			g.Files = append(g.Files, replica.File{Path: filepath.ToSlash(below)})
		}
		return nil
	})
	if err := o.mail.OnCurrent(shard, g); err != nil {
		panic(err)
	}
}

func (o *office) Send(id parcel.ID, data []byte) error {
	err := o.posts[id.From].Send(id, data)
	o.publish(id.From)
	return err
}

func (o *office) List(to int) (all []parcel.ID, err error) {
	for shard := range o.posts {
		ids, err := o.posts[shard].List(to)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all, nil
}

func (o *office) Fetch(id parcel.ID) ([]byte, error) { return o.posts[id.To].Fetch(id) }

func (o *office) Drop(id parcel.ID) error {
	err := o.posts[id.To].Drop(id)
	o.received[id.To][id.From] = max(o.received[id.To][id.From], id.Number+1)
	o.publish(id.To)
	o.publish(id.From)
	return err
}

// TestParcelPaths: only files that are parcels are taken for some.
func TestParcelPaths(t *testing.T) {
	id := parcel.ID{From: 12, To: 3, Number: 1 << 40}
	if got, ok := parseParcel(parcelPath(id)); !ok || got != id {
		t.Errorf("%v, %v", got, ok)
	}
	for _, name := range []string{
		"", "parcels", "parcels/1", "parcels/1/2.parcel", "parcels/1/2-3", "parcels/01/2-3.parcel",
		"parcels/1/2-3.parcel.new", "other/1/2-3.parcel", "parcels/1/2-3.parcel/x", "parcels/-1/2--3.parcel",
	} {
		if got, ok := parseParcel(name); ok {
			t.Errorf("%q is %v", name, got)
		}
	}
}

// TestFits: two states belong together unless the receiver has what was not sent, or lacks what was
// dropped.
func TestFits(t *testing.T) {
	state := func(received uint64, numbers ...uint64) *contents {
		c := &contents{received: []uint64{received, received}}
		for _, n := range numbers {
			c.parcels = append(c.parcels, parcel.ID{From: 0, To: 1, Number: n}, parcel.ID{From: 0, To: 2, Number: n + 9})
		}
		return c
	}
	for _, c := range []struct {
		sender, receiver *contents
		want             string
	}{
		{state(0), state(0), "true true"},
		{state(0), state(1), "false true"},
		{state(0, 1, 2, 3), state(0), "true true"},
		{state(0, 3), state(3), "true true"},
		{state(0, 3, 4), state(2), "true true"},
		{state(0, 3, 4), state(1), "true false"},
		{state(0, 3, 4), state(5), "false true"},
	} {
		sender, receiver := fits(c.sender, c.receiver, 0, 1)
		if got := fmt.Sprint(sender, " ", receiver); strings.Join(strings.Fields(got), " ") != c.want {
			t.Errorf("%v and %v: %s, want %s", c.sender.parcels, c.receiver.received, got, c.want)
		}
	}
}
