package postings

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"anatomy/disk/segment/internal/bitpack"
)

// makeOrdinals makes n of them behind before, each of them by a chance of one in every.
func makeOrdinals(r *rand.Rand, n, every int, before uint32) (ordinals []uint32) {
	for ord := before + 1; len(ordinals) < n; ord++ {
		if r.IntN(every) == 0 {
			ordinals = append(ordinals, ord)
		}
	}
	return ordinals
}

// TestBitmap: a dense block is a bitmap, in which each ordinal is found with its number, and no other.
func TestBitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		n, before := rapid.IntRange(64, BlockSize).Draw(t, "n"), rapid.SampledFrom([]uint32{NoOrdinal, 0, 6, 7, 8, 1000, 1<<32 - 3000}).Draw(t, "before")
		ordinals, impacts := makeOrdinals(r, n, rapid.IntRange(2, 4).Draw(t, "every"), before), make([]uint8, n)
		for i := range impacts {
			impacts[i] = uint8(r.IntN(256))
		}
		last := ordinals[n-1]
		if width := gapsOf(make([]uint32, n), ordinals, before); !bitmapIsBetter(bitmapLen(before, last), bitpack.Len(n, width)) {
			t.Skip("not dense")
		}
		src := AppendBlock(nil, ordinals, impacts, before)
		var b Block
		for range 2 { // what an earlier block left makes no difference
			if size, err := b.Decode(src, n, before, last); err != nil || size != len(src) || !b.IsBitmap {
				t.Fatalf("%d of %d bytes, bitmap %v, %v", size, len(src), b.IsBitmap, err)
			}
			for k, ord := 0, before+1; ord != last+1; ord++ {
				at, yes := b.Bitmap.Has(ord)
				next, number := b.Bitmap.next(ord)
				if yes != (ordinals[k] == ord) || yes && at != k || next != ordinals[k] || number != k {
					t.Fatalf("%d: number %d, %v, next %d, number %d, want %d, number %d", ord, at, yes, next, number, ordinals[k], k)
				}
				if yes {
					k++
				}
			}
			for i, want := range impacts {
				if got := b.Packed.At(i); got != want {
					t.Fatalf("impact %d: %d, want %d", i, got, want)
				}
			}
			if b.UnpackOrdinals(); !slices.Equal(b.Ordinals[:n], ordinals) {
				t.Fatalf("%v, want %v", b.Ordinals[:n], ordinals)
			}
			longer := makeOrdinals(r, BlockSize, 5, 0)
			b.Decode(AppendBlock(nil, longer, make([]uint8, BlockSize), 0), BlockSize, 0, longer[BlockSize-1])
		}
	})
}

// A bitmap with any one bit changed is an error, as is one under another directory or of another number.
func TestDamagedBitmap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, before := range []uint32{NoOrdinal, 2, 1000} {
		ordinals := makeOrdinals(r, 100, 3, before)
		last := ordinals[99]
		src := AppendBlock(nil, ordinals, make([]uint8, 100), before)
		decode := func(n int, before, last uint32) error {
			_, err := new(Block).Decode(src, n, before, last)
			return err
		}
		if err := decode(100, before, last); err != nil {
			t.Fatal(err)
		}
		for bit := 8 * blockHead; bit < 8*(blockHead+bitmapLen(before, last)); bit++ {
			src[bit/8] ^= 1 << (bit % 8)
			if err := decode(100, before, last); !errors.Is(err, errBitmap) {
				t.Errorf("behind %d, bit %d changed: %v", before, bit, err)
			}
			src[bit/8] ^= 1 << (bit % 8)
		}
		for _, err := range []error{
			decode(99, before, last), decode(101, before, last), decode(100, before, last-1), decode(100, before, last+1), decode(100, ordinals[0], last),
			decode(100, before, last+1_000_000), decode(100, last, last), decode(100, last+1000, last), decode(100, before, before),
		} {
			if err == nil {
				t.Error("not noticed")
			}
		}
	}
}
