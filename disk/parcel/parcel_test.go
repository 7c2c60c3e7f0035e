package parcel_test

import (
	"bytes"
	"errors"
	"io/fs"
	"reflect"
	"testing"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
	"anatomy/disk/parcel"
	"anatomy/disk/parcel/parceltest"
	"anatomy/vocab"
)

func TestFolder(t *testing.T) {
	parceltest.Run(t, func(t *testing.T) func() parcel.Post {
		dir := t.TempDir()
		return func() parcel.Post { return parcel.NewFolder(durable.OS, dir) }
	})
}

// TestFolderAfterCrash stops Send between any two calls of the file system and has the disk forget
// what was not synced: the parcel is whole, or it is not there.
func TestFolderAfterCrash(t *testing.T) {
	id := parcel.ID{From: 2, To: 1, Number: 7}
	data := example().Encode()
	durabletest.EachStop(t, func(*durabletest.Disk) error { return nil },
		func(d *durabletest.Disk) error { return parcel.NewFolder(d, "parcels").Send(id, data) },
		func(d *durabletest.Disk, done bool) {
			f := parcel.NewFolder(d, "parcels")
			ids, err := f.List(id.To)
			if err != nil || len(ids) > 1 || done && len(ids) == 0 {
				t.Fatalf("done: %v, listed: %v, %v", done, ids, err)
			}
			found, err := f.Fetch(id)
			switch {
			case len(ids) == 1 && !bytes.Equal(found, data):
				t.Errorf("the parcel that is listed has %d bytes of %d, %v", len(found), len(data), err)
			case len(ids) == 0 && !errors.Is(err, fs.ErrNotExist):
				t.Errorf("a parcel that is not listed: %d bytes, %v", len(found), err)
			}
		})
}

func example() *parcel.Parcel {
	return &parcel.Parcel{
		ID: parcel.ID{From: 2, To: 1, Number: 7},
		Names: []parcel.Name{
			{Doc: 3, URL: "https://a.test/", Depth: 300, Hops: 2, Kind: vocab.SitemapTarget},
			{Doc: 9, URL: "https://b.test/?q=1", Flags: parcel.NoFollow},
			{Doc: 1 << 39, URL: "", Flags: parcel.IfKnown},
		},
		Aliases: []parcel.Alias{{Doc: 3, Of: 9}},
		Missing: []vocab.DocID{9},
		Sources: []parcel.Source{
			{Doc: 3},
			{Doc: 9, Links: []parcel.Link{{To: 3, Flags: vocab.OffSite, Text: "δοκιμή"}, {To: 3}}},
		},
	}
}

func TestEncode(t *testing.T) {
	p := example()
	found, err := parcel.Decode(p.Encode())
	if err != nil || !reflect.DeepEqual(found, p) {
		t.Errorf("%+v\n%+v, %v", p, found, err)
	}
	b := p.Encode()
	for i := range b {
		damaged := bytes.Clone(b)
		damaged[i] ^= 1 << (i % 8)
		if _, err := parcel.Decode(damaged); err == nil {
			t.Errorf("bit %d of byte %d may be wrong", i%8, i)
		}
		if _, err := parcel.Decode(b[:i]); err == nil {
			t.Errorf("%d of %d bytes suffice", i, len(b))
		}
	}
	unnamed := example()
	unnamed.Missing = []vocab.DocID{10}
	if _, err := parcel.Decode(unnamed.Encode()); err == nil {
		t.Error("a document without a name is accepted")
	}
}

// FuzzDecode decodes bytes with right checksums and any content.
func FuzzDecode(f *testing.F) {
	f.Add(example().Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parcel.Decode(b)
		if err != nil {
			return
		}
		again, err := parcel.Decode(p.Encode())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v becomes %+v, %v", p, again, err)
		}
	})
}
