package replica

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Collect deletes what is not needed any more.
func (p *Publisher) Collect(ctx context.Context) error { return p.collect(ctx) }

// TestPauseAfter: generations that take long are further apart, up to a bound.
func TestPauseAfter(t *testing.T) {
	for _, c := range []struct{ every, took, want time.Duration }{
		{5 * time.Second, 100 * time.Millisecond, 5 * time.Second},
		{2 * time.Second, 100 * time.Millisecond, 3 * time.Second},
		{2 * time.Second, 2 * time.Second, 15 * time.Second},
		{20 * time.Second, 2 * time.Second, 20 * time.Second},
	} {
		if got := pauseAfter(c.every, c.took); got != c.want {
			t.Errorf("every %v, one took %v: pause %v, want %v", c.every, c.took, got, c.want)
		}
	}
}

// TestNames orders names as their fields, and parses them.
func TestNames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var names []Name
	for range 200 {
		n := Name{Epoch: r.Uint64N(3), Owner: []string{"00000000000000aa", "0123456789abcdef"}[r.IntN(2)], Number: r.Uint64() >> r.IntN(64)}
		n.Sum[0] = byte(r.Uint32())
		if got, err := ParseName(n.String()); err != nil || got != n {
			t.Fatalf("%s: %v, %v", n, got, err)
		}
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b Name) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	for i, n := range names[1:] {
		if before := names[i]; before.Epoch > n.Epoch || before.Epoch == n.Epoch && before.Owner == n.Owner && before.Number > n.Number {
			t.Errorf("%s is before %s", before, n)
		}
	}
}

// TestStay lets a file grow at random. Its parts have its size, are few, and each byte is put a few
// times.
func TestStay(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	var parts []Part
	size, put := int64(0), int64(0)
	for range 20_000 {
		size += 1 + r.Int64N(20_000)
		parts = slices.Clone(keptParts(parts, size))
		for at := sizeOf(parts); at < size; at = sizeOf(parts) {
			n := min(maxPart, size-at)
			put += n
			parts = append(parts, Part{Size: n})
		}
		if n := int64(len(parts)); sizeOf(parts) != size || n > 2*size/maxPart+25 {
			t.Fatalf("%d bytes are in %d parts of %d", size, n, sizeOf(parts))
		}
	}
	if put > 15*size {
		t.Errorf("%d bytes were put for a file of %d", put, size)
	}
}

// FuzzGeneration decodes arbitrary objects. What is accepted is within bounds and encodes to the same.
func FuzzGeneration(f *testing.F) {
	for _, g := range []Generation{
		{Format: Format, Folder: "x", Made: time.Unix(1, 0).UTC(), Files: []File{{"MANIFEST", 3, []Part{{Sum{1}, 3}}}, {"VERSION", 0, nil}}},
		{Format: Format, Files: []File{{"../x", 0, nil}}},
		{Format: Format, Files: []File{{"audit.log", 0, nil}}},
		{Format: Format, Files: []File{{"a", 5, []Part{{Sum{1}, 3}}}}},
		{Format: 2},
	} {
		b, err := encode(&g)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := decode(b)
		if err != nil {
			return
		}
		for i := range g.Files {
			if file := &g.Files[i]; !isLocal(file.Path) || sizeOf(file.Parts) != file.Size {
				t.Errorf("%+v is accepted", file)
			}
		}
		again, err := encode(g)
		if err == nil {
			_, err = decode(again)
		}
		if err != nil {
			t.Error(err)
		}
	})
}
