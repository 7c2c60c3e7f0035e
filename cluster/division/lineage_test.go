package division

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
)

// TestLineage has shards send parcels to one another, and owners that die, are replaced while they
// sleep, put generations after that, and begin again from what is in the bucket. In the end each
// shard has applied each parcel that another one has sent once and in order, according to the last
// states of both: no shard has applied a parcel that its sender has lost.
func TestLineage(t *testing.T) {
	t.Parallel()
	kept, lost := 0, 0
	for seed := range uint64(3) {
		w := newWorld(t, seed)
		for range 150 {
			w.step()
		}
		some, gone := w.finish()
		kept, lost = kept+some, lost+gone
	}
	if kept < 15 || lost < 3 {
		t.Errorf("%d parcels were applied and %d lost with their senders", kept, lost)
	}
}

const (
	worldShards   = 3
	worldMachines = 3
)

// A world is the machines of a test, with who owns which shard.
type world struct {
	t        *testing.T
	random   *rand.Rand
	bucket   bucket.Bucket
	machines []*machine
	owners   [worldShards]*owner // those of the greatest epoch
	sent     int
}

// A machine has copies of the shards, or owns them, or believes so.
type machine struct {
	dir       string
	mail      *Mail
	owners    [worldShards]*owner
	followers [worldShards]*replica.Follower
}

// An owner writes a shard. Its state is a file: a line for each parcel that was sent or applied.
type owner struct {
	w        *world
	m        *machine
	shard    int
	lease    *lease.Lease
	pub      *replica.Publisher
	outbox   *parcel.Outbox
	inbox    *parcel.Inbox
	pending  string   // what was applied and is not durable
	received []uint64 // durable
	asleep   bool     // between the check that it is the owner, and the put of a generation
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 2)), bucket: &buckettest.Memory{}}
	for i := range worldMachines {
		m := &machine{dir: filepath.Join(t.TempDir(), fmt.Sprint(seed, "-", i))}
		m.mail = NewMail(durable.OS, m.dir, worldShards)
		w.machines = append(w.machines, m)
	}
	for shard := range worldShards {
		dir := shards.Folder(w.machines[0].dir, shard)
		folder, err := datadir.CreateShard(dir)
		w.must(err)
		w.must(folder.Close())
		w.must(datadir.MakeFolders(dir))
		w.must(os.MkdirAll(datadir.DocIndex(dir), 0o700))
		w.must(os.WriteFile(statePath(dir), nil, 0o600))
		w.own(w.machines[0], shard)
	}
	return w
}

func statePath(dir string) string { return filepath.Join(dir, "state") }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// step does something at random.
func (w *world) step() {
	m := w.machines[w.random.IntN(worldMachines)]
	shard := w.random.IntN(worldShards)
	o := m.owners[shard]
	if o == nil {
		w.follow(m, shard)
		return
	}
	switch w.random.IntN(12) {
	case 0, 1, 2:
		o.send((shard + 1 + w.random.IntN(worldShards-1)) % worldShards)
	case 3, 4, 5:
		o.apply()
	case 6:
		o.flush()
	case 7, 8:
		o.publish()
	case 9: // it dies, and begins again
		w.stop(o)
	case 10:
		if w.owners[shard] == o {
			o.asleep = true // it may wake up much later
			w.replace(shard)
		}
	case 11:
		if w.owners[shard] != o {
			w.stop(o) // it sees that it was replaced
		}
	}
}

// stop ends an owner. If it was not replaced, a machine goes on with the shard.
func (w *world) stop(o *owner) {
	o.m.owners[o.shard] = nil
	o.m.mail.Disown(o.shard)
	if w.owners[o.shard] == o {
		w.replace(o.shard)
	}
}

// replace has another machine, or the same if its owner has ended, own a shard.
func (w *world) replace(shard int) {
	var able []*machine
	for _, m := range w.machines {
		if m.owners[shard] == nil {
			able = append(able, m)
		}
	}
	if len(able) == 0 {
		old := w.machines[w.random.IntN(worldMachines)].owners[shard]
		if old == w.owners[shard] {
			old.asleep = false
			return
		}
		w.stop(old)
		able = append(able, old.m)
	}
	w.own(able[w.random.IntN(len(able))], shard)
}

// own has a machine own a shard, as node.Own does: it claims the next epoch, goes on from the newest
// generation, and puts one. It may end between any of these.
func (w *world) own(m *machine, shard int) {
	ctx, b, dir := w.t.Context(), Shard(w.bucket, shard), shards.Folder(m.dir, shard)
	if f := m.followers[shard]; f != nil {
		w.must(f.Close())
		m.followers[shard] = nil
	}
	before := ""
	if old := w.owners[shard]; old != nil {
		before = old.lease.Owner
	}
	l, err := lease.Acquire(ctx, lease.Options{Bucket: b, Previous: before})
	w.must(err)
	_, err = replica.Initialize(ctx, b)
	w.must(err)
	if w.owners[shard] != nil && w.random.IntN(8) == 0 {
		w.own(m, shard) // it has died again
		return
	}
	newest, err := replica.Newest(ctx, b)
	w.must(err)
	if !newest.IsZero() {
		f, err := replica.NewFollower(ctx, replica.FollowerOptions{Bucket: b, Dir: dir})
		w.must(err)
		w.must(f.Follow(ctx))
		w.must(f.Close())
	}
	id, err := replica.Identify(ctx, b)
	w.must(err)
	o := &owner{w: w, m: m, shard: shard, lease: l}
	o.pub, err = replica.NewPublisher(ctx, replica.PublisherOptions{
		Bucket: b, Cluster: id.ID, Dir: dir, Epoch: l.Epoch, Owner: l.Owner,
		Snapshot: o.snapshot, Fence: o.fence,
		Received:  func() []uint64 { return slices.Clone(o.received) },
		OnCurrent: func(g *replica.Generation) { w.must(m.mail.OnCurrent(shard, g)) },
	})
	w.must(err)
	w.owners[shard], m.owners[shard] = o, o
	o.received = make([]uint64, worldShards)
	for _, line := range o.lines() {
		var from int
		var number uint64
		if n, _ := fmt.Sscanf(line, "applied %d %d", &from, &number); n == 2 {
			o.received[from] = number
		}
	}
	post := m.mail.Own(shard, func() {})
	o.inbox = parcel.NewInbox(post, shard, o.received)
	o.outbox, err = parcel.NewOutbox(post, shard, worldShards)
	w.must(err)
	if newest.IsZero() || w.random.IntN(2) == 0 {
		o.publish()
	}
}

// fence says that an owner is the owner, once after it fell asleep.
func (o *owner) fence(ctx context.Context) error {
	if o.asleep {
		o.asleep = false
		return nil
	}
	if err := o.lease.Check(ctx); err != nil {
		return fmt.Errorf("%w: %w", replica.ErrReplaced, err)
	}
	return nil
}

func (o *owner) dir() string { return shards.Folder(o.m.dir, o.shard) }

func (o *owner) lines() []string {
	b, err := os.ReadFile(statePath(o.dir()))
	o.w.must(err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// add adds to the state.
func (o *owner) add(text string) {
	b, err := os.ReadFile(statePath(o.dir()))
	o.w.must(err)
	o.w.must(os.WriteFile(statePath(o.dir()), append(b, text...), 0o600))
}

func (o *owner) send(to int) {
	o.w.sent++
	what := fmt.Sprint("payload-", o.w.sent)
	o.add(fmt.Sprintf("sent %d %s\n", to, what))
	p := &parcel.Parcel{ID: parcel.ID{To: to}, Names: []parcel.Name{{Doc: 1, URL: what}}}
	o.w.must(o.outbox.Send(p))
}

func (o *owner) apply() bool {
	p, err := o.inbox.Next()
	if err != nil && o.w.owners[o.shard] != o {
		return false // it was replaced, and what it lacks is dropped
	}
	o.w.must(err)
	if p == nil {
		return false
	}
	o.pending += fmt.Sprintf("applied %d %d %s\n", p.From, p.Number, p.Names[0].URL)
	return true
}

func (o *owner) flush() {
	o.add(o.pending)
	o.pending, o.received = "", o.inbox.Applied()
	o.w.must(o.inbox.Acknowledge(o.received))
}

func (o *owner) publish() {
	if err := o.pub.Publish(o.w.t.Context()); err != nil && !errors.Is(err, replica.ErrReplaced) {
		o.w.t.Fatal(err)
	}
}

// snapshot copies the folder of the shard.
func (o *owner) snapshot(_ context.Context, use func(*snapshot.Snapshot) error) error {
	to := filepath.Join(o.w.t.TempDir(), "copy")
	o.w.must(os.CopyFS(to, os.DirFS(o.dir())))
	for _, own := range []string{"LOCK", "cluster"} {
		o.w.must(os.RemoveAll(filepath.Join(to, own)))
	}
	return use(&snapshot.Snapshot{Folder: to})
}

// follow has a machine copy a shard that it does not own.
func (w *world) follow(m *machine, shard int) {
	ctx, b := w.t.Context(), Shard(w.bucket, shard)
	f := m.followers[shard]
	if f == nil {
		if newest, err := replica.Newest(ctx, b); err != nil || newest.IsZero() {
			w.must(err)
			return
		}
		var err error
		f, err = replica.NewFollower(ctx, replica.FollowerOptions{
			Bucket: b, Dir: shards.Folder(m.dir, shard),
			Counts: func(ctx context.Context, name replica.Name) (bool, error) {
				epoch, err := lease.Epoch(ctx, b)
				return name.Epoch >= epoch, err
			},
			OnCurrent: func(g *replica.Generation) { w.must(m.mail.OnCurrent(shard, g)) },
		})
		w.must(err)
		m.followers[shard] = f
	}
	w.must(f.Follow(ctx))
}

// finish has all parcels of the last owners applied, and compares what shards have sent and applied.
func (w *world) finish() (applied, lost int) {
	for _, m := range w.machines {
		for shard, o := range m.owners {
			if o != nil && o != w.owners[shard] {
				w.stop(o)
			}
		}
	}
	for quiet := 0; quiet < 3; quiet++ {
		for _, o := range w.owners {
			for o.apply() {
				quiet = 0
			}
			o.flush()
			o.publish()
		}
		for _, m := range w.machines {
			for shard := range worldShards {
				if m.owners[shard] == nil {
					w.follow(m, shard)
				}
			}
		}
	}
	var all [worldShards][]string
	for shard, o := range w.owners {
		all[shard] = o.lines()
	}
	for from := range worldShards {
		for to := range worldShards {
			sent, got := pick(all[from], fmt.Sprintf("sent %d ", to)), pick(all[to], fmt.Sprintf("applied %d ", from))
			if !slices.Equal(sent, got) {
				w.t.Errorf("shard %d has sent %d\n%v\nwhich has applied\n%v", from, to, sent, got)
			}
			applied += len(got)
		}
		if left, err := w.owners[from].m.mail.folder(from).List(from); err != nil || len(left) > 0 {
			w.t.Errorf("%v, %v", left, err)
		}
	}
	for _, m := range w.machines {
		for _, f := range m.followers {
			if f != nil {
				w.must(f.Close())
			}
		}
	}
	return applied, w.sent - applied
}

// pick returns the payloads of the lines that begin with a text.
func pick(lines []string, prefix string) (payloads []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, prefix) {
			payloads = append(payloads, line[strings.LastIndex(line, " ")+1:])
		}
	}
	return payloads
}
