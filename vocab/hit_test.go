package vocab

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHitPaper: BP98 §4.2.5 packs capitalisation, font size, type and position into one integer. Ours
// gives all of them back, at positions where the paper's would say 4,096.
func TestHitPaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.Uint32Range(0, MaxPosition).Draw(t, "position")
		kind := HitType(rapid.IntRange(0, int(HitTypes)-1).Draw(t, "type"))
		capital := rapid.Bool().Draw(t, "capital")
		size := rapid.Uint8Range(0, 7).Draw(t, "size")
		h := MakeHit(position, kind, capital, size)
		if h.Position() != position || h.Type() != kind || h.Capital() != capital || h.Size() != size {
			t.Fatalf("%v, made of %d %v %v %d", h, position, kind, capital, size)
		}
	})
}

// TestHitOrder: hits of a posting are ordered by field, and within a field by position.
func TestHitOrder(t *testing.T) {
	sorted := []Hit{
		MakeHit(0, Heading1, true, 5), MakeHit(1, Plain, false, NormalSize), MakeHit(1, Emphasis, false, NormalSize), MakeHit(70_000, Plain, false, NormalSize),
		MakeHit(0, Title, true, NormalSize), MakeHit(3, Meta, false, NormalSize), MakeHit(0, URLWord, false, NormalSize), MakeHit(2, AnchorOut, false, 1), MakeHit(9, Anchor, false, 7),
	}
	rapid.Check(t, func(t *rapid.T) {
		mixed := rapid.Permutation(sorted).Draw(t, "hits")
		slices.SortFunc(mixed, func(a, b Hit) int {
			switch {
			case a.Before(b):
				return -1
			case b.Before(a):
				return 1
			}
			return 0
		})
		if !slices.Equal(mixed, sorted) {
			t.Fatalf("sorted: %v", mixed)
		}
	})
}

func TestAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.Uint32Range(1, 1<<20-1).Draw(t, "file")
		offset := rapid.Int64Range(0, MaxAddressOffset).Draw(t, "offset")
		slot := rapid.IntRange(0, MaxAddressSlot).Draw(t, "slot")
		p := MakeAddress(file, offset, slot)
		if p.File() != file || p.Offset() != offset || p.Slot() != slot || p == 0 {
			t.Fatalf("%v, made of %d:%d:%d", p, file, offset, slot)
		}
	})
	if a, b := MakeAddress(1, MaxAddressOffset, 5), MakeAddress(2, 0, 0); a >= b {
		t.Errorf("%v is not before %v", a, b)
	}
}
