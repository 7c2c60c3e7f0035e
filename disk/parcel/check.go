package parcel

import (
	"errors"
	"fmt"
	"io/fs"

	"anatomy/disk/durable"
)

var errMissing = errors.New("is missing")

// Missing returns the parcels for a shard that should be in a Post but are not: for each sender,
// those after the applied ones, up to the newest. If there are no newer ones, the last applied
// parcel must be there, because the sender reads its number.
func Missing(post Post, to int, applied []uint64) (missing []ID, err error) {
	ids, err := post.List(to)
	if err != nil {
		return nil, err
	}
	newest, found := make([]uint64, len(applied)), map[ID]bool{}
	for _, id := range ids {
		if id.From >= 0 && id.From < len(applied) {
			newest[id.From], found[id] = max(newest[id.From], id.Number), true
		}
	}
	for from, n := range applied {
		if newest[from] < n {
			missing = append(missing, ID{From: from, To: to, Number: n})
		}
		for n++; n <= newest[from]; n++ {
			if id := (ID{From: from, To: to, Number: n}); !found[id] {
				missing = append(missing, id)
			}
		}
	}
	return missing, nil
}

// Check reads all parcels for a shard, and returns the number of pending ones. It calls problem for
// damaged or missing parcels.
func Check(post Post, to int, applied []uint64, problem func(ID, error)) (waiting int, err error) {
	missing, err := Missing(post, to, applied)
	if err != nil {
		return 0, err
	}
	for _, id := range missing {
		problem(id, fmt.Errorf("%v %w", id, errMissing))
	}
	ids, err := post.List(to)
	if err != nil {
		return 0, err
	}
	in := NewInbox(post, to, applied)
	for _, id := range ids {
		if id.From < 0 || id.From >= len(applied) {
			continue
		}
		if _, err := in.open(id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problem(id, err)
		} else if id.Number > applied[id.From] {
			waiting++
		}
	}
	return waiting, nil
}

// Replace puts an empty parcel in the place of a damaged or missing one. The sender must send its
// content again.
func (f *Folder) Replace(id ID) error {
	if err := durable.MkdirAll(f.fs, f.box(id.To)); err != nil {
		return fmt.Errorf("%v: %w", id, err)
	}
	if err := durable.WriteFile(f.fs, f.path(id), (&Parcel{ID: id}).Encode()); err != nil {
		return fmt.Errorf("%v: %w", id, err)
	}
	return nil
}
