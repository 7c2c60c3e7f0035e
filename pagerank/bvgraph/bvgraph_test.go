package bvgraph

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// encode returns the properties, graph and offsets files of lists.
func encode(t testing.TB, lists [][]uint32) (properties, graph, offsets *bytes.Buffer) {
	t.Helper()
	properties, graph, offsets = new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer)
	w := NewWriter(graph, offsets)
	for _, l := range lists {
		if err := w.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.Close()
	if err == nil {
		err = p.Write(properties)
	}
	if err != nil {
		t.Fatal(err)
	}
	return properties, graph, offsets
}

// decode reads all lists.
func decode(properties, graph io.Reader) (lists [][]uint32, err error) {
	p, err := ReadProperties(properties)
	if err != nil {
		return nil, err
	}
	r := NewReader(p, graph)
	for {
		l, err := r.Next()
		if err == io.EOF {
			return lists, nil
		}
		if err != nil {
			return lists, err
		}
		lists = append(lists, slices.Clone(l))
	}
}

// random returns lists with the habits of the web: runs, lists like those before, and lone links.
func random(r *rand.Rand, nodes int) [][]uint32 {
	lists := make([][]uint32, nodes)
	for x := range lists {
		set := map[uint32]bool{}
		if x > 0 && r.IntN(3) > 0 {
			for _, s := range lists[x-1-r.IntN(min(x, 9))] {
				if r.IntN(5) > 0 {
					set[s] = true
				}
			}
		}
		for range r.IntN(4) {
			set[uint32(r.IntN(nodes))] = true
		}
		if r.IntN(4) == 0 {
			from := r.IntN(nodes)
			for s := from; s < min(from+r.IntN(20), nodes); s++ {
				set[uint32(s)] = true
			}
		}
		for s := range set {
			lists[x] = append(lists[x], s)
		}
		slices.Sort(lists[x])
	}
	return lists
}

func equal(a, b [][]uint32) bool { return slices.EqualFunc(a, b, slices.Equal[[]uint32]) }

// What is written reads back the same.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(40) {
		lists := random(rand.New(rand.NewPCG(seed, 1)), 1+int(seed)*7)
		properties, graph, _ := encode(t, lists)
		if got, err := decode(properties, graph); err != nil || !equal(got, lists) {
			t.Fatalf("seed %d: %v read back as %v, %v", seed, lists, got, err)
		}
	}
}

// parseBits turns ones and zeros into bytes; blanks are skipped.
func parseBits(s string) []byte {
	s = strings.ReplaceAll(s, " ", "")
	out := make([]byte, (len(s)+7)/8)
	for i, c := range s {
		if c == '1' {
			out[i/8] |= 0x80 >> (i % 8)
		}
	}
	return out
}

// A graph that was compressed by hand, after §3 and §4 of the paper, with ζ_3 for residuals.
func TestByHand(t *testing.T) {
	const properties = "graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes=20\narcs=16\n" +
		"windowsize=7\nmaxrefcount=3\nminintervallength=4\nzetak=3\ncompressionflags=\n"
	graph := parseBits(
		// 0: successors 1, 2, 3, 4, 7, 9. Degree γ(6), no reference, γ(1) interval from zigzag(1-0) =
		// 2 of 4-4, residuals zigzag(7) = 14, 9-7-1 = 1.
		"00111 1 010 011 1 01 0 0111 1 010" +
			// 1: 1, 2, 3, 4, 9, 12. Degree γ(6), reference 1, blocks: 4 copied, 1 skipped, the rest copied;
			// no interval, residual zigzag(12-1) = 22.
			"00111 01 011 00101 1 1 01 0 10111" +
			// 2: none
			"1" +
			// 3: 1, 2, 3, 4: reference 2 to node 1, one block of 4.
			"00101 001 010 00101")
	p, err := ReadProperties(strings.NewReader(properties))
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(p, bytes.NewReader(graph))
	for x, want := range [][]uint32{{1, 2, 3, 4, 7, 9}, {1, 2, 3, 4, 9, 12}, nil, {1, 2, 3, 4}} {
		if got, err := r.Next(); err != nil || !slices.Equal(got, want) {
			t.Errorf("node %d has %v, %v, want %v", x, got, err, want)
		}
	}
}

// Other codes than the default ones are read: those of each flag are swapped in turn.
func TestCodes(t *testing.T) {
	values := []uint64{0, 1, 2, 3, 7, 8, 9, 100, 4095, 1 << 20, 1<<32 + 5}
	var out bytes.Buffer
	w := bitWriter{}
	w.out = bufio.NewWriter(&out)
	for _, v := range values {
		w.gamma(v)
		w.zeta(v, 3)
		w.zeta(v, 1)
		w.zeta(v, 7)
		w.unary(v % 200)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(DefaultProperties(), &out).in
	for _, v := range values {
		for i, got := range []uint64{r.gamma(), r.zeta(3), r.zeta(1), r.zeta(7)} {
			if got != v {
				t.Errorf("code %d of %d reads as %d", i, v, got)
			}
		}
		if got := r.unary(); got != v%200 {
			t.Errorf("unary %d reads as %d", v%200, got)
		}
	}
	if r.err != nil {
		t.Error(r.err)
	}
	for v := range uint64(3000) {
		for k := 1; k < 6; k++ {
			w := bitWriter{out: bufio.NewWriter(io.Discard)}
			w.zeta(v, k)
			if int(w.total) != zetaLen(v, k) {
				t.Fatalf("ζ_%d of %d has %d bits, computed %d", k, v, w.total, zetaLen(v, k))
			}
		}
	}
	in := func(bits string) *bitReader {
		return &NewReader(DefaultProperties(), bytes.NewReader(parseBits(bits))).in
	}
	if got := in("00100 010").delta(); got != 9 { // γ(3), then 10 without its highest bit
		t.Errorf("δ reads %d", got)
	}
	if got := in("0001 1010").nibbles(); got != 10 {
		t.Errorf("nibbles read %d", got)
	}
}

// Damage gives an error or other lists, never a panic or lists out of bounds.
func FuzzReader(f *testing.F) {
	properties, graph, _ := encode(f, random(rand.New(rand.NewPCG(3, 1)), 50))
	f.Add(properties.String(), graph.Bytes())
	f.Add("nodes=3\narcs=9\ncompressionflags=OUTDEGREES_DELTA|RESIDUALS_NIBBLE", []byte{0, 1, 2, 255})
	f.Add("nodes=4294967295\narcs=9223372036854775807\n", []byte{0, 0, 0, 0, 0, 0, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, properties string, graph []byte) {
		p, err := ReadProperties(strings.NewReader(properties))
		if err != nil || p.Nodes > 1<<16 || p.Arcs > 1<<20 {
			return
		}
		r := NewReader(p, bytes.NewReader(graph))
		for {
			l, err := r.Next()
			if err != nil {
				return
			}
			if len(l) > 0 && int64(l[len(l)-1]) >= p.Nodes || !slices.IsSorted(l) {
				t.Fatalf("list %v of a graph of %d nodes", l, p.Nodes)
			}
		}
	})
}

// A graph file that ends early, or has other links than its properties say, is an error that names the
// node.
func TestDamaged(t *testing.T) {
	lists := random(rand.New(rand.NewPCG(5, 1)), 60)
	properties, graph, _ := encode(t, lists)
	_, err := decode(bytes.NewReader(properties.Bytes()), bytes.NewReader(graph.Bytes()[:graph.Len()/2]))
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "node ") {
		t.Errorf("a graph cut off: %v", err)
	}
	for _, damaged := range []string{
		"nodes=61\narcs=1\n", "nodes=x\n", "nodes=-1\narcs=0", "nodes=5\n", "nodes=4294967296\narcs=1",
		"nodes=60\narcs=5\nwindowsize=100000", "nodes=1\narcs=1\ngraphclass=it.unimi.dsi.webgraph.EFGraph",
		"nodes=1\narcs=1\ncompressionflags=OUTDEGREES_FOO", "nodes=1\narcs=1\nzetak=0", "nodes=1\narcs=1\nversion=1",
	} {
		if _, err := decode(strings.NewReader(damaged), bytes.NewReader(graph.Bytes())); err == nil {
			t.Errorf("properties %q are accepted", damaged)
		}
	}
	if err := NewWriter(io.Discard, io.Discard).Add([]uint32{3, 3}); err == nil {
		t.Error("a list with a successor twice is written")
	}
}

// Writing errors are kept until Close.
func TestFullDisk(t *testing.T) {
	w := NewWriter(brokenWriter{}, io.Discard)
	for range 100_000 {
		w.Add([]uint32{1, 5, 1000, 123456})
	}
	if _, err := w.Close(); err == nil {
		t.Error("the error of the disk is lost")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }
