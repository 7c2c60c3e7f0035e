// Package parceltest tests implementations of parcel.Post: in a folder, in a bucket, over messages.
package parceltest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"anatomy/disk/parcel"
	"anatomy/vocab"
)

// Run tests a Post. Open opens the one Post of the test again, as another process would.
func Run(t *testing.T, open func(t *testing.T) func() parcel.Post) {
	t.Run("Keeps", func(t *testing.T) { testKeeps(t, open(t)) })
	t.Run("NeverReplaces", func(t *testing.T) { testNeverReplaces(t, open(t)()) })
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("ExactlyOnce/%d", seed), func(t *testing.T) {
			testExactlyOnce(t, open(t), rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// testKeeps checks that what was sent is there until it is dropped, for its receiver alone.
func testKeeps(t *testing.T, open func() parcel.Post) {
	sent := map[parcel.ID][]byte{}
	for from := range 3 {
		for to := range 3 {
			for number := uint64(1); number <= 12; number++ {
				id := parcel.ID{From: from, To: to, Number: number}
				sent[id] = fmt.Appendf(nil, "%v%s", id, bytes.Repeat([]byte{0, byte(from)}, 1000*to))
				must(t, open().Send(id, sent[id]))
			}
		}
	}
	post := open()
	dropped := parcel.ID{From: 1, To: 2, Number: 7}
	for number := uint64(1); number <= dropped.Number; number++ {
		id := parcel.ID{From: 1, To: 2, Number: number}
		must(t, post.Drop(id))
		must(t, post.Drop(id)) // again
		delete(sent, id)
	}
	if _, err := post.Fetch(dropped); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dropped parcel: %v", err)
	}
	for to := range 4 {
		ids, err := post.List(to)
		must(t, err)
		for _, id := range ids {
			data, err := post.Fetch(id)
			must(t, err)
			if want, ok := sent[id]; !ok || id.To != to || !bytes.Equal(data, want) {
				t.Errorf("%v is listed for %d, with %d bytes of %d", id, to, len(data), len(want))
			}
			delete(sent, id)
		}
	}
	if len(sent) > 0 {
		t.Errorf("%d parcels are not listed", len(sent))
	}
}

func testNeverReplaces(t *testing.T, post parcel.Post) {
	id := parcel.ID{From: 0, To: 1, Number: 1}
	must(t, post.Send(id, []byte("first")))
	if err := post.Send(id, []byte("second")); err == nil {
		t.Error("a second parcel of one ID was accepted")
	}
	if data, err := post.Fetch(id); string(data) != "first" {
		t.Errorf("%q, %v", data, err)
	}
}

// A receiver is a shard that applies parcels. What it has applied becomes durable together with their
// numbers; a crash takes the rest away.
type receiver struct {
	inbox   *parcel.Inbox
	applied []string // in memory
	durable []string
	numbers []uint64 // durable, too
}

// testExactlyOnce makes shards send parcels to one another over a Post that delays, repeats and mixes
// up lists. Senders and receivers crash at any time.
func testExactlyOnce(t *testing.T, open func() parcel.Post, random *rand.Rand) {
	const shards = 3
	sent := make([][]uint64, shards) // by receiver, by sender
	outboxes := make([]*parcel.Outbox, shards)
	receivers := make([]*receiver, shards)
	for i := range shards {
		outboxes[i] = newOutbox(t, open(), i, shards)
		sent[i] = make([]uint64, shards)
		receivers[i] = &receiver{numbers: make([]uint64, shards)}
		receivers[i].restart(unruly{open(), random}, i)
	}
	for range 400 {
		from, to := random.IntN(shards), random.IntN(shards)
		switch r := receivers[to]; random.IntN(8) {
		case 0, 1, 2:
			if from != to {
				p := &parcel.Parcel{ID: parcel.ID{To: to}, Names: []parcel.Name{{Doc: 1, URL: "x"}}}
				must(t, outboxes[from].Send(p))
				sent[to][from]++
			}
		case 3, 4, 5:
			r.apply(t)
		case 6:
			r.flush(t)
		case 7:
			if random.IntN(4) == 0 {
				outboxes[from] = newOutbox(t, open(), from, shards)
				r.restart(unruly{open(), random}, to)
			}
		}
	}
	for to, r := range receivers {
		r.restart(open(), to)
		for r.apply(t) {
		}
		r.flush(t)
		var want []string
		for from, n := range sent[to] {
			for number := range n {
				want = append(want, parcel.ID{From: from, To: to, Number: number + 1}.String())
			}
		}
		inOrder(t, r.durable)
		slices.Sort(want)
		slices.Sort(r.durable)
		if len(want) == 0 || !slices.Equal(r.durable, want) {
			t.Errorf("shard %d has applied %d parcels, and %d were sent", to, len(r.durable), len(want))
		}
		if left, err := open().List(to); err != nil || len(left) > shards-1 {
			t.Errorf("%d parcels are left, %v: all but the last of each sender were acknowledged", len(left), err)
		}
	}
}

func newOutbox(t *testing.T, post parcel.Post, from, n int) *parcel.Outbox {
	o, err := parcel.NewOutbox(post, from, n)
	must(t, err)
	return o
}

// inOrder checks that the parcels of each sender were applied in the order of their numbers.
func inOrder(t *testing.T, applied []string) {
	last := map[int]uint64{}
	for _, s := range applied {
		var id parcel.ID
		fmt.Sscanf(s, "parcel %d from shard %d to %d", &id.Number, &id.From, &id.To)
		if id.Number != last[id.From]+1 {
			t.Errorf("%s was applied after %d", s, last[id.From])
		}
		last[id.From] = id.Number
	}
}

// restart loses what is in memory alone.
func (r *receiver) restart(post parcel.Post, to int) {
	r.inbox = parcel.NewInbox(post, to, r.numbers)
	r.applied = slices.Clone(r.durable)
}

func (r *receiver) apply(t *testing.T) bool {
	p, err := r.inbox.Next()
	must(t, err)
	if p == nil {
		return false
	}
	if len(p.Names) != 1 || p.Names[0] != (parcel.Name{Doc: vocab.DocID(1), URL: "x"}) {
		t.Errorf("%v has %+v", p.ID, p.Names)
	}
	r.applied = append(r.applied, p.ID.String())
	return true
}

func (r *receiver) flush(t *testing.T) {
	r.durable, r.numbers = slices.Clone(r.applied), r.inbox.Applied()
	must(t, r.inbox.Acknowledge(r.numbers))
}

// An unruly Post delays, repeats and mixes up the lists that a receiver sees.
type unruly struct {
	parcel.Post
	random *rand.Rand
}

func (u unruly) List(to int) ([]parcel.ID, error) {
	ids, err := u.Post.List(to)
	u.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	ids = ids[:u.random.IntN(len(ids)+1)]
	return append(ids, ids[:u.random.IntN(len(ids)+1)]...), err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
