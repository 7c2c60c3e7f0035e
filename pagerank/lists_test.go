package pagerank

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
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

// TestLoneNodes: a node without links is part of the graph, and has the rank that the teleport brings.
func TestLoneNodes(t *testing.T) {
	for _, list := range []string{"# node 9\n1 2\n", "1 2\n# node 9", "b a\n# node c\n"} {
		var out strings.Builder
		r, err := RankEdges(t.Context(), strings.NewReader(list), &out, Options{})
		if err != nil || r.Nodes != 3 || r.Links != 1 || r.Dangling != 2 {
			t.Fatalf("%q: %+v, %v", list, r, err)
		}
		lines := strings.Split(out.String(), "\n")
		_, source, _ := strings.Cut(lines[0], "\t")
		_, lone, _ := strings.Cut(lines[2], "\t")
		if source != lone || source == "" {
			t.Errorf("%q: %s", list, out.String())
		}
	}
}
