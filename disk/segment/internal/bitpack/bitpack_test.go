package bitpack

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := uint8(0); width <= 56; width++ {
		for _, n := range []int{0, 1, 7, 63, 64, 65, 127, 128} {
			values := make([]uint64, n)
			for i := range values {
				values[i] = r.Uint64() & (1<<width - 1)
			}
			packed := Append(nil, values, width)
			if len(packed) != Len(n, width) {
				t.Fatalf("%d values of %d bits: %d bytes", n, width, len(packed))
			}
			got := make([]uint64, n)
			if Unpack(got, packed, width); !slices.Equal(got, values) {
				t.Fatalf("%d values of %d bits: %v, want %v", n, width, got, values)
			}
			if width <= 32 {
				gaps, want := make([]uint32, n), make([]uint32, n)
				before := uint32(41)
				for i, v := range values {
					before += uint32(v) + 1
					want[i] = before
				}
				if UnpackGaps(gaps, packed, width, 41); !slices.Equal(gaps, want) {
					t.Fatalf("%d gaps of %d bits: %v, want %v", n, width, gaps, want)
				}
			}
			if width <= 8 {
				some, want := make([]uint8, n), make([]uint8, n)
				for i, v := range values {
					values[i] = min(v, 252)
					want[i] = uint8(values[i]) + 3
				}
				packed = Append(packed[:0], values, width)
				if UnpackBytes(some, packed, width, 3); !slices.Equal(some, want) {
					t.Fatalf("%d bytes of %d bits: %v, want %v", n, width, some, want)
				}
			}
		}
	}
}
