package texts

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Texts come back from their blocks, and a damaged block or place is an error.
func TestRoundTrip(t *testing.T) {
	u, err := NewUnpacker()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	rapid.Check(t, func(t *rapid.T) {
		p, err := NewPacker()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var blocks []string
		var places []Span
		var scratch []byte
		end := func() {
			frame, raw := p.Flush()
			content, err := u.Unpack(frame, raw)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := u.Unpack(frame, raw+1); err == nil {
				t.Fatal("a wrong length was believed")
			}
			if _, err := u.Unpack(frame[:len(frame)-1], raw); err == nil {
				t.Fatal("a block that is cut was believed")
			}
			n := rapid.IntRange(0, raw).Draw(t, "head")
			scratch, err = u.UnpackPrefix(scratch, frame, raw, n)
			if err != nil || len(scratch) < n || !strings.HasPrefix(content, string(scratch)) {
				t.Fatalf("%d bytes of %d: %d, %v", n, raw, len(scratch), err)
			}
			blocks = append(blocks, content)
		}
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.String().Draw(t, "piece"), rapid.SampledFrom([]int{0, 1, 30, 1000, 5000, 80_000}).Draw(t, "times"))
		}), 1, 12).Draw(t, "texts")
		for _, text := range all {
			places = append(places, Span{uint32(len(blocks)), p.Add(text), uint32(len(text))})
			if p.Full() {
				end()
			}
		}
		if !p.Empty() {
			end()
		}
		for i, at := range places {
			if at.N == 0 {
				continue
			}
			if got, err := at.Slice(blocks[at.Block]); err != nil || got != all[i] {
				t.Fatalf("text %d: %d bytes of %d, %v", i, len(got), len(all[i]), err)
			}
			at.N = uint32(len(blocks[at.Block])) - at.Start + 1
			if _, err := at.Slice(blocks[at.Block]); err == nil {
				t.Fatal("a text reaches over the end of its block")
			}
		}
	})
}

// TestHeadsAreShort: the beginning of a long block is not all of it.
func TestHeadsAreShort(t *testing.T) {
	p, err := NewPacker()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	u, err := NewUnpacker()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	p.Add(strings.Repeat("0123456789abcdef", 1<<16))
	frame, raw := p.Flush()
	if head, err := u.UnpackPrefix(nil, frame, raw, 1000); err != nil || len(head) >= raw/2 {
		t.Errorf("%d bytes of %d, %v", len(head), raw, err)
	}
	if _, err := u.UnpackPrefix(nil, frame[:20], raw, raw/4); err == nil {
		t.Error("a block that is cut was believed")
	}
}

func TestWorth(t *testing.T) {
	for _, c := range []struct {
		raw, live uint64
		want      bool
	}{{64 << 10, 64 << 10, true}, {64 << 10, 48 << 10, true}, {64 << 10, 47 << 10, false}, {16 << 10, 16 << 10, true}, {15 << 10, 15 << 10, false}, {0, 0, false}} {
		if got := WorthCopying(c.raw, c.live); got != c.want {
			t.Errorf("%d of %d bytes: %v", c.live, c.raw, got)
		}
	}
}

func BenchmarkPack(b *testing.B) {
	p, err := NewPacker()
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < blockSize {
		fmt.Fprintf(&text, "word%d ", int(r.ExpFloat64()*300))
	}
	b.SetBytes(int64(text.Len()))
	size := 0
	for b.Loop() {
		p.Add(text.String())
		frame, _ := p.Flush()
		size = len(frame)
	}
	b.ReportMetric(float64(size)/float64(text.Len()), "B/B")
}

// BenchmarkUnpackPrefix decompresses what is read of a text of 190 KB.
func BenchmarkUnpackPrefix(b *testing.B) {
	p, err := NewPacker()
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	u, err := NewUnpacker()
	if err != nil {
		b.Fatal(err)
	}
	defer u.Close()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 3*window-1 {
		fmt.Fprintf(&text, "word%d ", int(r.ExpFloat64()*300))
	}
	p.Add(text.String())
	frame, raw := p.Flush()
	var content []byte
	b.ReportAllocs()
	for b.Loop() {
		if content, err = u.UnpackPrefix(content, frame, raw, window); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(content)), "bytes")
}
