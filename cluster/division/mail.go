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

// Mail carries the parcels of the shards of a node. What a shard sends is kept within it, and is seen
// by the others when a generation has it. Its methods may be called by any goroutine.
type Mail struct {
	fs  durable.FS
	dir string // the folder of shards

	mu     sync.Mutex
	known  []contents             // by shard: its last generation that counts
	boxes  map[int]*parcel.Folder // of the shards that this node owns
	notify map[int]func()         // called when there may be parcels for them
}

// Contents are what other shards need to know of a generation.
type contents struct {
	parcels  []parcel.ID // that the shard has sent and not dropped
	received []uint64    // numbers of the last parcels that are in the shard, by sender
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

// Own begins to carry parcels of a shard that this node owns. Notify is called when there may be
// parcels for it; it must not block.
func (m *Mail) Own(shard int, notify func()) parcel.Post {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes[shard], m.notify[shard] = m.folder(shard), notify
	return &post{m, shard, m.boxes[shard]}
}

// Disown ends what Own began.
func (m *Mail) Disown(shard int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.boxes, shard)
	delete(m.notify, shard)
}

// InForce takes over what a generation of a shard has, which counts. The folder of the shard is a copy
// of it, or has been.
func (m *Mail) InForce(shard int, g *replica.Generation) error {
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

// drop deletes the parcels of a shard for a receiver that has a later one. The newest stays, so that
// the sender knows its number.
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

// parseParcel returns the parcel that a file of a generation is.
func parseParcel(name string) (id parcel.ID, ok bool) {
	n, err := fmt.Sscanf(name, "parcels/%d/%d-%d.parcel", &id.To, &id.From, &id.Number)
	return id, err == nil && n == 3 && parcelPath(id) == name
}

func parcelPath(id parcel.ID) string {
	return path.Join("parcels", fmt.Sprint(id.To), fmt.Sprintf("%d-%d.parcel", id.From, id.Number))
}

// Waiting returns how many parcels of generations a shard has not applied, as its own last generation
// says.
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

// A post is the parcel.Post of one shard.
type post struct {
	*Mail
	shard int
	own   *parcel.Folder
}

func (p *post) Send(id parcel.ID, data []byte) error { return p.own.Send(id, data) }

// List returns the parcels of the shard itself, or those for it that generations of the others have.
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

// Drop does nothing for what others have sent: they do it, see InForce.
func (p *post) Drop(id parcel.ID) error {
	if id.From == p.shard {
		return p.own.Drop(id)
	}
	return nil
}

// Collect moves the parcels of all shards of a folder, and their files of mentions, to where one crawl
// of all shards has them. Nobody may own any of them.
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

// fits reports whether states of two shards belong together: the receiver has nothing that the sender
// has not sent, and the sender has all that the receiver lacks.
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
	slices.Sort(numbers)
	has := uint64(0)
	if from < len(receiver.received) {
		has = receiver.received[from]
	}
	if len(numbers) == 0 {
		return has == 0, true
	}
	return numbers[len(numbers)-1] >= has, numbers[0] <= has+1
}
