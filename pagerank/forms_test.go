package pagerank

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anatomy/pagerank/bvgraph"
)

// parsedRanks returns ranks by name, of lines of node and rank.
func parsedRanks(t testing.TB, lines string) map[string]float64 {
	t.Helper()
	ranks := map[string]float64{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rank, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ranks[name] = rank
	}
	return ranks
}

// edgeLines returns the links of a graph, and a line for each node.
func edgeLines(g *Graph) string {
	var b strings.Builder
	for node := range uint32(g.Nodes()) {
		fmt.Fprintf(&b, "# node %d\n", node)
		for _, s := range g.In(node) {
			fmt.Fprintf(&b, "%d\t%d\n", s, node)
		}
	}
	return b.String()
}

// The ranks of a graph are the same from its edge list, from what is written of it in BV format, in
// memory and from disk.
func TestBVRanks(t *testing.T) {
	g := mustGraph(t, webLike(3000, 8))
	var want, got, graph, offsets bytes.Buffer
	if _, err := RankEdges(t.Context(), strings.NewReader(edgeLines(g)), &want, Options{}); err != nil {
		t.Fatal(err)
	}
	p, err := g.WriteBV(&graph, &offsets)
	if err != nil {
		t.Fatal(err)
	}
	if p.Nodes != int64(g.Nodes()) || p.Arcs != int64(g.Links()) || offsets.Len() == 0 {
		t.Errorf("properties of %d nodes and %d links: %+v", g.Nodes(), g.Links(), p)
	}
	if _, err := RankEdges(t.Context(), bytes.NewReader(graph.Bytes()), &got, Options{BV: &p}); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Error("the BV graph has other ranks than the edge list")
	}
	got.Reset()
	o := Options{BV: &p, Memory: 100_000, Dir: t.TempDir()}
	r, err := RankEdges(t.Context(), bytes.NewReader(graph.Bytes()), &got, o)
	if err != nil || !r.OnDisk {
		t.Fatalf("from disk: %+v, %v", r, err)
	}
	a, b := parsedRanks(t, want.String()), parsedRanks(t, got.String())
	for name, rank := range a {
		if math.Abs(b[name]-rank) > 1e-9 {
			t.Fatalf("node %s has rank %v in memory, %v from disk", name, rank, b[name])
		}
	}
	cut := bytes.NewReader(graph.Bytes()[:graph.Len()/2])
	if _, err := RankEdges(t.Context(), cut, &got, Options{BV: &p}); err == nil || !strings.Contains(err.Error(), "node ") {
		t.Errorf("a graph cut off: %v", err)
	}
}

// A host graph of Common Crawl: names come from the vertices, also of nodes without links, and a rank
// file that is written is one to start from.
func TestHostGraph(t *testing.T) {
	const edges = "0\t1\n1\t2\n2\t0\n3\t0\n"
	const vertices = "0\torg.example\n1\torg.example.www\n2\tcom.other\n3\tnet.third\n4\tnet.alone\n"
	options := func() Options { return Options{Vertices: strings.NewReader(vertices), Tolerance: 1e-12} }
	var ranks, file strings.Builder
	if _, err := RankEdges(t.Context(), strings.NewReader(edges), &ranks, options()); err != nil {
		t.Fatal(err)
	}
	want := parsedRanks(t, ranks.String())
	if len(want) != 5 || want["net.alone"] == 0 {
		t.Fatalf("ranks %v", want)
	}
	if _, err := HostRanks(t.Context(), strings.NewReader(edges), &file, options()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(file.String()), "\n")
	if len(lines) != 6 || lines[0]+"\n" != hostRankTitles {
		t.Fatalf("rank file %q", file.String())
	}
	var positions []int
	for i, line := range lines[1:] {
		f := strings.Split(line, "\t")
		rank, err := strconv.ParseFloat(f[3], 64)
		if err != nil || math.Abs(rank-want[f[4]]) > 1e-11 || f[0] != strconv.Itoa(i+1) {
			t.Errorf("line %q, want rank %v", line, want[f[4]])
		}
		position, _ := strconv.Atoi(f[2])
		positions = append(positions, position)
	}
	slices.Sort(positions)
	if !slices.Equal(positions, []int{1, 2, 3, 4, 5}) {
		t.Errorf("positions by PageRank %v", positions)
	}
	for name, earlier := range map[string]string{"rank file": file.String(), "lines": ranks.String()} {
		o := options()
		o.Tolerance, o.Earlier = 1e-6, strings.NewReader(earlier)
		var again strings.Builder
		r, err := RankEdges(t.Context(), strings.NewReader(edges), &again, o)
		if err != nil || r.Iterations > 2 {
			t.Errorf("%d iterations from a %s, %v", r.Iterations, name, err)
		}
	}
}

// What is wrong in vertices and earlier ranks is said with its line.
func TestBadHostGraph(t *testing.T) {
	for vertices, want := range map[string]string{
		"0\ta\n2\tb\n":            "line 2: node 2 comes where 1 should",
		"0\n":                     "line 1: there must be a number and a name",
		"x\ta\n":                  "line 1: \"x\" is not the number",
		"0\ta\n":                  "2 nodes have links, and the vertices have 1 names",
		strings.Repeat("a", 9000): "line 1: longer than",
	} {
		o := Options{Vertices: strings.NewReader(vertices)}
		_, err := RankEdges(t.Context(), strings.NewReader("0\t1\n"), new(strings.Builder), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("vertices %.20q: %v, want %q", vertices, err, want)
		}
	}
	for ranks, want := range map[string]string{
		"0\t0.5\n1\tNaN\n": "line 2: \"NaN\" is not a rank", "0 -1": "line 1", "0\t1\t2\n": "line 1", "0\tInf": "line 1",
	} {
		o := Options{Earlier: strings.NewReader(ranks)}
		_, err := RankEdges(t.Context(), strings.NewReader("0\t1\n"), new(strings.Builder), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ranks %q: %v, want %q", ranks, err, want)
		}
	}
	for _, ranks := range []string{"2\t0.5\n3\t0.5\n", "a\t1\n", "# nothing\n"} {
		_, err := RankEdges(t.Context(), strings.NewReader("0\t1\n"), new(strings.Builder), Options{Earlier: strings.NewReader(ranks)})
		if !errors.Is(err, ErrNoSuchNode) {
			t.Errorf("ranks %q: %v", ranks, err)
		}
	}
	o := Options{Memory: 300}
	_, err := HarmonicOfEdges(t.Context(), strings.NewReader("0\t1\n"), new(strings.Builder), o)
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("harmonic centrality in 300 bytes: %v", err)
	}
	if _, err := RankEdges(t.Context(), strings.NewReader(""), nil, Options{BV: &bvgraph.Properties{Nodes: 1 << 32}}); err == nil {
		t.Error("a BV graph of 2^32 nodes is accepted")
	}
}

// Files that are no text are errors, and are not read as names.
func TestNotText(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "m.mtx"+strings.Repeat("\x00", 252)+"ustar  a b\n")
	z.Close()
	for list, want := range map[string]string{
		"\xfd7zXZ\x00\x00 a\nb c\n": "compressed with xz", "BZh91AY&SY a\nb c\n": "compressed with bzip2",
		"PK\x03\x04 a\n": "ZIP archive", packed.String(): "archive of tar",
		"\xff\xfea\x00 \x00b\x00\n\x00": "line 1: the file is not a text", "a b\nc \x00\n": "line 2: the file is not a text",
		packed.String()[:5]: "unexpected EOF",
	} {
		_, err := RankEdges(t.Context(), strings.NewReader(list), new(strings.Builder), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.12q: %v, want %q", list, err, want)
		}
	}
	if _, err := RankEdges(t.Context(), strings.NewReader("BZh a\na PK\n"), new(strings.Builder), Options{}); err != nil {
		t.Error(err)
	}
}

// Any bytes give ranks that sum to 1, or an error: as an edge list, as vertices and as earlier ranks.
func FuzzEdgeList(f *testing.F) {
	for _, list := range []string{
		"0\t1\n1\t2\n", "# node 4294967294\n5 5\n", "a b\nb c 7\n", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
		"% sym\n1 2\n", "4294967295 1\n", "4294967296 1\n", "1 2\n1\n", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd\x00", "1\t2", "-1 2\n",
	} {
		f.Add(list, "", "")
	}
	f.Add("0\t1\n", "0\ta\n1\tb\n", "a\t0.5\n")
	f.Add("0 1", "", "\v") // white space to Unicode, a word to an edge list
	f.Add("a b\n", "", "a\u00a0\t0.5\n")
	f.Fuzz(func(t *testing.T, list, vertices, earlier string) {
		o := Options{Tolerance: 1e-6, Workers: 1}
		if vertices != "" {
			o.Vertices = strings.NewReader(vertices)
		}
		if earlier != "" {
			o.Earlier = strings.NewReader(earlier)
		}
		var out strings.Builder
		r, err := RankEdges(t.Context(), strings.NewReader(list), &out, o)
		if err != nil {
			return
		}
		total, lines := 0.0, 0
		for line := range strings.Lines(out.String()) {
			value := line[strings.LastIndexByte(line, '\t')+1:]
			rank, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			total += rank
			lines++
		}
		if lines != r.Nodes || math.Abs(total-1) > 1e-6 {
			t.Fatalf("%d nodes, %d lines, ranks sum to %v", r.Nodes, lines, total)
		}
	})
}
