package parcel

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"anatomy/disk/durable"
)

// A Post carries parcels between shards. Its methods are safe for concurrent use. parceltest.Run
// tests the requirements on implementations.
type Post interface {
	// Send durably sends a parcel. It fails if one with that ID exists.
	Send(id ID, data []byte) error
	// List returns the parcels for a shard that were sent and not dropped, in any order. It may
	// repeat a parcel, and may list one late, but not to its sender.
	List(to int) ([]ID, error)
	// Fetch returns the content of a parcel. The error wraps fs.ErrNotExist if there is none.
	Fetch(id ID) ([]byte, error)
	// Drop deletes an applied parcel, if it still exists. Earlier parcels of its sender were
	// dropped before.
	Drop(id ID) error
}

// A Folder is a Post in a folder of the file system. Each parcel is a file
// FOLDER/TO/FROM-NUMBER.parcel.
type Folder struct {
	fs   durable.FS
	dir  string
	made sync.Map // folders that exist
}

// NewFolder returns the Post in the folder dir, which Send creates.
func NewFolder(fs durable.FS, dir string) *Folder { return &Folder{fs: fs, dir: dir} }

func (f *Folder) box(to int) string { return filepath.Join(f.dir, fmt.Sprint(to)) }

func (f *Folder) path(id ID) string {
	return filepath.Join(f.box(id.To), fmt.Sprintf("%d-%d.parcel", id.From, id.Number))
}

// Send writes the file of a parcel.
func (f *Folder) Send(id ID, data []byte) error {
	if _, ok := f.made.Load(id.To); !ok {
		if err := durable.MkdirAll(f.fs, f.box(id.To)); err != nil {
			return fmt.Errorf("%v: %w", id, err)
		}
		f.made.Store(id.To, true)
	}
	if _, err := f.fs.Stat(f.path(id)); err == nil {
		return fmt.Errorf("%v: %w", id, fs.ErrExist)
	}
	if err := durable.WriteFile(f.fs, f.path(id), data); err != nil {
		return fmt.Errorf("%v: %w", id, err)
	}
	return nil
}

// List returns the parcels whose files exist. It skips incomplete files left by a crash.
func (f *Folder) List(to int) (ids []ID, err error) {
	entries, err := f.fs.ReadDir(f.box(to))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("parcels: %w", err)
	}
	for _, e := range entries {
		id := ID{To: to}
		n, err := fmt.Sscanf(e.Name(), "%d-%d.parcel", &id.From, &id.Number)
		if err == nil && n == 2 && filepath.Base(f.path(id)) == e.Name() {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Fetch reads the file of a parcel.
func (f *Folder) Fetch(id ID) ([]byte, error) {
	b, err := durable.ReadFile(f.fs, f.path(id))
	if err != nil {
		return nil, fmt.Errorf("%v: %w", id, err)
	}
	return b, nil
}

// Drop deletes the file of a parcel.
func (f *Folder) Drop(id ID) error {
	if err := f.fs.Remove(f.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%v: %w", id, err)
	}
	return nil
}

// An Outbox numbers the parcels of one shard. It is not safe for concurrent use.
type Outbox struct {
	post Post
	from int
	last []uint64 // number of the newest parcel, by receiver
}

// NewOutbox returns the outbox of a shard among n. It continues after the newest existing parcel:
// an Inbox keeps the newest of each pair of shards.
func NewOutbox(post Post, from, n int) (*Outbox, error) {
	o := &Outbox{post: post, from: from, last: make([]uint64, n)}
	for to := range n {
		ids, err := post.List(to)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if id.From == from {
				o.last[to] = max(o.last[to], id.Number)
			}
		}
	}
	return o, nil
}

// Send numbers and sends a parcel to the shard that p.To names.
func (o *Outbox) Send(p *Parcel) error {
	p.From, p.Number = o.from, o.last[p.To]+1
	if err := o.post.Send(p.ID, p.Encode()); err != nil {
		return err
	}
	o.last[p.To]++
	return nil
}

// An Inbox returns the parcels for one shard: those of each sender in the order of their numbers,
// each once. It is not safe for concurrent use.
//
// A parcel stays in the Post until a later one of its sender is acknowledged, so that the sender
// can read its number.
type Inbox struct {
	post   Post
	to     int
	handed []uint64 // number of the last parcel returned, by sender
}

// NewInbox returns the inbox of a shard that has applied the parcels up to the given numbers, by
// sender.
func NewInbox(post Post, to int, applied []uint64) *Inbox {
	return &Inbox{post: post, to: to, handed: slices.Clone(applied)}
}

// Next returns the next parcel to apply, or nil.
func (b *Inbox) Next() (*Parcel, error) {
	ids, err := b.post.List(b.to)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if id.From < 0 || id.From >= len(b.handed) || id.Number != b.handed[id.From]+1 {
			continue // an earlier one is missing, or it was already returned
		}
		p, err := b.open(id)
		if err != nil {
			return nil, err
		}
		b.handed[id.From]++
		return p, nil
	}
	return nil, nil
}

func (b *Inbox) open(id ID) (*Parcel, error) {
	data, err := b.post.Fetch(id)
	if err != nil {
		return nil, err
	}
	p, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", id, err)
	}
	if p.ID != id {
		return nil, fmt.Errorf("%v: it holds %v", id, p.ID)
	}
	return p, nil
}

// Waiting returns the number of parcels for the shard that were not returned yet.
func (b *Inbox) Waiting() (n int, err error) {
	ids, err := b.post.List(b.to)
	seen := map[ID]bool{}
	for _, id := range ids {
		if id.From >= 0 && id.From < len(b.handed) && id.Number > b.handed[id.From] && !seen[id] {
			seen[id] = true
			n++
		}
	}
	return n, err
}

// Applied returns the number of the last parcel returned, by sender.
func (b *Inbox) Applied() []uint64 { return slices.Clone(b.handed) }

// Acknowledge drops parcels that were applied durably, given the result of an earlier Applied.
func (b *Inbox) Acknowledge(applied []uint64) error {
	ids, err := b.post.List(b.to)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if id.From >= 0 && id.From < len(applied) && id.Number < applied[id.From] {
			err = errors.Join(err, b.post.Drop(id))
		}
	}
	return err
}
