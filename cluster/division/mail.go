package division

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"anatomy/cluster/replica"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
)

// Mail exchanges the parcels of the shards on a node. A parcel that a shard sends is stored in its
// folder; other shards see it once a generation contains it. The methods are safe for concurrent
// use.
type Mail struct {
	fs  durable.FS
	dir string // the folder of shards

	mu     sync.Mutex
	known  []contents             // by shard: parcels of its last valid generation
	boxes  map[int]*parcel.Folder // outgoing parcels of the shards that this node owns
	notify map[int]func()         // called when there may be parcels for them
}

// contents lists the parcels of a generation.
type contents struct {
	parcels  []parcel.ID // sent by the shard and not deleted
	received []uint64    // number of the last parcel applied, by sender
}

// NewMail returns the mail of n shards in a folder.
func NewMail(fs durable.FS, dir string, n int) *Mail {
	return &Mail{
		fs: fs, dir: dir, known: make([]contents, n),
		boxes: map[int]*parcel.Folder{}, notify: map[int]func(){},
	}
}

func (m *Mail) folder(shard int) *parcel.Folder {
	return parcel.NewFolder(m.fs, shards.Parcels(shards.Folder(m.dir, shard)))
}

// Own starts the exchange of parcels for a shard that this node owns. notify is called when parcels
// for the shard may have arrived; it must not block.
func (m *Mail) Own(shard int, notify func()) parcel.Post {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes[shard], m.notify[shard] = m.folder(shard), notify
	return &post{m, shard, m.boxes[shard]}
}

// Disown reverses Own.
func (m *Mail) Disown(shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, shard)
	delete(m.notify, shard)
}

// OnCurrent updates the known parcels from g, a valid generation of a shard. The folder of the shard
// is, or was, a copy of g.
func (m *Mail) OnCurrent(shard int, g *replica.Generation) error {
	c := contentsOf(g, shard)
	m.mu.Lock()
	m.known[shard] = c
	boxes, notify := map[int]*parcel.Folder{}, []func(){}
	for own, box := range m.boxes {
		boxes[own] = box
		notify = append(notify, m.notify[own])
	}
	m.mu.Unlock()
	var err error
	for own, box := range boxes {
		err = errors.Join(err, drop(box, own, shard, c.received))
	}
	for _, call := range notify {
		call()
	}
	return err
}

func contentsOf(g *replica.Generation, shard int) contents {
	c := contents{received: g.Received}
	for i := range g.Files {
		if id, ok := parseParcel(g.Files[i].Path); ok && id.From == shard {
			c.parcels = append(c.parcels, id)
		}
	}
	return c
}

// drop deletes the parcels of a shard for a receiver that has applied a later one. It keeps the
// newest, from which the sender reads its last number.
func drop(box *parcel.Folder, from, to int, received []uint64) error {
	ids, err := box.List(to)
	if err != nil || from >= len(received) {
		return err
	}
	for _, id := range ids {
		if id.From == from && id.Number < received[from] {
			err = errors.Join(err, box.Drop(id))
		}
	}
	return err
}

// parseParcel parses the path of a parcel in a generation.
func parseParcel(name string) (id parcel.ID, ok bool) {
	n, err := fmt.Sscanf(name, "parcels/%d/%d-%d.parcel", &id.To, &id.From, &id.Number)
	return id, err == nil && n == 3 && parcelPath(id) == name
}

func parcelPath(id parcel.ID) string {
	return path.Join("parcels", fmt.Sprint(id.To), fmt.Sprintf("%d-%d.parcel", id.From, id.Number))
}

// Waiting returns the number of published parcels for a shard that its last generation does not
// contain.
func (m *Mail) Waiting(shard int) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	received := m.known[shard].received
	for _, c := range m.known {
		for _, id := range c.parcels {
			if id.To == shard && (id.From >= len(received) || id.Number > received[id.From]) {
				n++
			}
		}
	}
	return n
}

// A post implements parcel.Post for one shard.
type post struct {
	*Mail
	shard int
	own   *parcel.Folder
}

func (p *post) Send(id parcel.ID, data []byte) error { return p.own.Send(id, data) }

// List returns the parcels in the shard's folder for another shard, or, for the shard itself, those
// in the last generations of all shards.
func (p *post) List(to int) (ids []parcel.ID, err error) {
	if to != p.shard {
		return p.own.List(to)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.known {
		for _, id := range c.parcels {
			if id.To == to {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

func (p *post) Fetch(id parcel.ID) ([]byte, error) { return p.folder(id.From).Fetch(id) }

// Drop ignores parcels of other shards: their owners delete them, see OnCurrent.
func (p *post) Drop(id parcel.ID) error {
	if id.From == p.shard {
		return p.own.Drop(id)
	}
	return nil
}

// Collect moves the parcels and mention files of all shards of a folder to the layout of a crawl of
// all shards by one process. No node may own any of the shards.
func Collect(fs durable.FS, dir string, n int) error {
	to := shards.Parcels(dir)
	for shard := range n {
		from := shards.Parcels(shards.Folder(dir, shard))
		for receiver := range n {
			box := parcel.NewFolder(fs, from)
			ids, err := box.List(receiver)
			if err != nil {
				return err
			}
			for _, id := range ids {
				name := filepath.FromSlash(path.Base(parcelPath(id)))
				into := filepath.Join(to, fmt.Sprint(receiver))
				if err := durable.MkdirAll(fs, into); err != nil {
					return err
				}
				if err := durable.Rename(fs, filepath.Join(from, fmt.Sprint(receiver), name), filepath.Join(into, name)); err != nil {
					return err
				}
			}
		}
		if err := fs.RemoveAll(from); err != nil {
			return err
		}
		if err := shards.JoinMentions(dir, shard); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether the states of two shards are consistent: senderIsNew, whether the receiver has
// only parcels that the sender has sent, and receiverIsNew, whether the sender has every parcel that
// the receiver lacks.
func fits(sender, receiver *contents, from, to int) (senderIsNew, receiverIsNew bool) {
	if from == to {
		return true, true
	}
	var numbers []uint64
	for _, id := range sender.parcels {
		if id.From == from && id.To == to {
			numbers = append(numbers, id.Number)
		}
	}
	has := uint64(0)
	if from < len(receiver.received) {
		has = receiver.received[from]
	}
	if len(numbers) == 0 {
		return has == 0, true
	}
	return slices.Max(numbers) >= has, slices.Min(numbers) <= has+1
}
