package pagerank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestFormsOfEdgeLists writes a random graph in each form that is read: the ranks are those of the plain
// form.
func TestFormsOfEdgeLists(t *testing.T) {
	const nodes = 50
	r := rand.New(rand.NewPCG(5, 6))
	var links, back [][2]int
	for range 300 {
		l := [2]int{1 + r.IntN(nodes), 1 + r.IntN(nodes)}
		links, back = append(links, l), append(back, l, [2]int{l[1], l[0]})
	}
	list := func(links [][2]int, form string) string {
		var b strings.Builder
		for _, l := range links {
			fmt.Fprintf(&b, form, l[0], l[1])
		}
		return b.String()
	}
	plain, both := list(links, "%d\t%d\n"), list(back, "%d\t%d\n")
	ranks := func(name, in string) (lines []string) {
		var out strings.Builder
		if _, err := RankEdges(t.Context(), strings.NewReader(in), &out, Options{Workers: 2}); err != nil {
			t.Fatal(name, err)
		}
		for line := range strings.Lines(out.String()) {
			// Names are those of the numbers: n7 for 7. The order of the summands may differ.
			name, rank, _ := strings.Cut(strings.TrimPrefix(line, "n"), "\t")
			lines = append(lines, fmt.Sprintf("%3s %.8s %s", name, rank, rank[strings.Index(rank, "e"):]))
		}
		slices.Sort(lines)
		return lines
	}
	var zipped, packed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(plain))
	z.Close()
	p, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	p.Write([]byte(plain))
	p.Close()
	head := fmt.Sprintf("%% comment\n\n%d %d %d\n", nodes, nodes, len(links))
	for name, form := range map[string]struct{ in, like string }{
		"gzip":             {zipped.String(), plain},
		"zstd":             {packed.String(), plain},
		"SNAP":             {"# Directed graph\n# FromNodeId ToNodeId\n" + plain, plain},
		"KONECT":           {"% asym unweighted\n% 300 50 50\n" + list(links, "%d %d 1 1174867200\n"), plain},
		"KONECT symmetric": {"% sym unweighted\n" + list(links, "%d %d\n"), both},
		"weights":          {list(links, "%d\t%d\t0.25\n"), plain},
		"byte order mark":  {"\xef\xbb\xbf" + plain, plain},
		"names":            {list(links, "n%d n%d\n"), plain},
		"lone nodes":       {"# node 7\n# node x\n# node 8 9\n" + plain + "#\tnode 50\r\n", plain},
		"lone names":       {"# node n7\n" + list(links, "n%d n%d\n") + "# node n50", plain},
		"commented names":  {"# from to\n" + list(links, "n%d\tn%d\tlabel\r\n"), plain},
		"matrix":           {"%%MatrixMarket matrix coordinate pattern general\n" + head + list(links, "%d %d\n"), plain},
		"weighted matrix":  {"%%MatrixMarket matrix coordinate real general\n" + head + list(links, "%d %d 1e-3\n"), plain},
		"symmetric matrix": {"%%MatrixMarket matrix coordinate pattern Symmetric\n" + head + list(links, "%d %d\n"), both},
	} {
		if got, want := ranks(name, form.in), ranks("plain", form.like); len(want) != nodes || !slices.Equal(got, want) {
			t.Errorf("%s: the ranks are %q, want %q", name, got, want)
		}
	}
}

// TestCutLists: an archive that is cut off is an error that has the last whole line, whatever its size, and so
// are a matrix with fewer entries than its head says and an entry outside the matrix.
func TestCutLists(t *testing.T) {
	const matrix = "%%MatrixMarket matrix coordinate real general\n"
	lists := map[string]string{
		matrix + "3 3 2\n1 2 1\n":                   "line 3: the list ends after 1 entries; its head says 2",
		matrix + "3 3 1\n1 2 1\n2 3 1\n":            "line 4: the list ends after 2 entries; its head says 1",
		matrix + "3 3 1\n1 4 1\n":                   "line 3: 1 4 is not an entry of a matrix of 3 rows",
		matrix + "3 3 1\n0 1 1\n":                   "line 3: 0 1 is not",
		matrix + "3 3 1\n1 2 NaN\n":                 "line 3: weight \"NaN\" is not a number",
		matrix + "4294967296 4294967296 1\n1 2 1\n": "line 2: sizes of the matrix: node 4294967296 is above",
		matrix + "4294967294 4294967294 1\n1 2 1\n": "line 2: a matrix of 4294967294 rows has 1 entries only",
		"1 2 0.5\n2 3 nan\n":                        "line 2: weight",
	}
	r := rand.New(rand.NewPCG(8, 8))
	for _, lines := range []int{1000, 200_000} {
		var plain, zipped, packed bytes.Buffer
		for range lines {
			fmt.Fprintf(&plain, "%d\t%d\n", 100_000+r.IntN(900_000), 100_000+r.IntN(900_000))
		}
		z := gzip.NewWriter(&zipped)
		z.Write(plain.Bytes())
		z.Close()
		p, err := zstd.NewWriter(&packed)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(plain.Bytes())
		p.Close()
		for _, archive := range []*bytes.Buffer{&zipped, &packed} {
			for _, cut := range []int{archive.Len() / 2, archive.Len() - 1} {
				lists[archive.String()[:cut]] = "line "
			}
		}
	}
	for list, want := range lists {
		_, _, err := ReadEdges(t.Context(), strings.NewReader(list), Options{Workers: 2})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", list, err, want)
		}
	}
	g, ids, err := ReadEdges(t.Context(), strings.NewReader(matrix+"4 4 1\n1 2 1\n"), Options{})
	if err != nil || g.Nodes() != 4 || !slices.Equal(ids, []uint32{1, 2, 3, 4}) {
		t.Errorf("a matrix of four rows: %v, %v", ids, err)
	}
}

// TestLoneNodes: a node without links is part of the graph, and has the rank that the teleport brings.
func TestLoneNodes(t *testing.T) {
	for _, list := range []string{"# node 9\n1 2\n", "1 2\n# node 9", "b a\n# node c\n", strings.Repeat("# node c\n", maxHead/8) + "b a\n"} {
		var out strings.Builder
		r, err := RankEdges(t.Context(), strings.NewReader(list), &out, Options{})
		if err != nil || r.Nodes != 3 || r.Links != 1 || r.Dangling != 2 {
			t.Fatalf("%.20q: %+v, %v", list, r, err)
		}
		var ranks []string
		for line := range strings.Lines(out.String()) {
			_, rank, _ := strings.Cut(line, "\t")
			ranks = append(ranks, rank)
		}
		slices.Sort(ranks) // those of the source and the lone node, then that of the target
		if ranks[0] != ranks[1] || ranks[1] == ranks[2] {
			t.Errorf("%.20q: %s", list, out.String())
		}
	}
	var out strings.Builder
	if r, err := RankEdges(t.Context(), strings.NewReader("# node http://a/\n"), &out, Options{}); err != nil || r.Nodes != 1 || !strings.HasPrefix(out.String(), "http://a/\t1.0") {
		t.Errorf("one node: %+v, %v, %s", r, err, out.String())
	}
}

// TestTeleportToNodes: ranks of an edge list with a teleport to some nodes, by number or by name, are those of
// the graph; so is harmonic centrality.
func TestTeleportToNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var numbers, names strings.Builder
	for range 400 {
		from, to := 3*r.IntN(60), 3*r.IntN(60)
		fmt.Fprintf(&numbers, "%d %d\n", from, to)
		fmt.Fprintf(&names, "n%d n%d\n", from, to)
	}
	g, ids, err := ReadEdges(t.Context(), strings.NewReader(numbers.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	weights, byNumber, byName := map[uint32]float64{}, map[string]float64{}, map[string]float64{}
	for _, node := range []int{1, 7, 20} {
		weights[uint32(node)] = float64(node)
		byNumber[fmt.Sprint(ids[node])] = float64(node)
		byName[fmt.Sprintf("n%d", ids[node])] = float64(node)
	}
	personal, err := Compute(t.Context(), g, Options{Personalize: weights})
	if err != nil {
		t.Fatal(err)
	}
	harmonic, err := Harmonic(t.Context(), g, HarmonicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale(harmonic, sum(harmonic))
	for _, test := range []struct {
		name, list string
		teleport   map[string]float64
		rank       func(context.Context, io.Reader, io.Writer, Options) (*Result, error)
		want       []float64
	}{
		{"numbers", numbers.String(), byNumber, RankEdges, personal.Ranks},
		{"names", names.String(), byName, RankEdges, personal.Ranks},
		{"harmonic", numbers.String(), nil, HarmonicOfEdges, harmonic},
	} {
		var out strings.Builder
		got, err := test.rank(t.Context(), strings.NewReader(test.list), &out, Options{Teleport: test.teleport})
		if err != nil || got.Nodes != len(ids) || got.Links != g.Links() || got.Dangling != g.Dangling() {
			t.Fatalf("%s: %+v, %v", test.name, got, err)
		}
		want := map[string]float64{}
		for i, id := range ids {
			want[fmt.Sprint(id)] = test.want[i]
		}
		n := 0
		for line := range strings.Lines(out.String()) {
			node, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "n"), "\t")
			rank, err := strconv.ParseFloat(value, 64)
			if n++; err != nil || math.Abs(rank-want[node]) > 1e-9 {
				t.Errorf("%s: node %s has %s, want %g", test.name, node, value, want[node])
			}
		}
		if n != len(ids) {
			t.Errorf("%s: %d lines for %d nodes", test.name, n, len(ids))
		}
	}
	if _, err := RankEdges(t.Context(), strings.NewReader("1 2\n"), io.Discard, Options{Teleport: map[string]float64{"3": 1}}); !errors.Is(err, ErrNoSuchNode) {
		t.Errorf("to a node that is not there: %v", err)
	}
}
