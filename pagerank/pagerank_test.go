package pagerank

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// dense is PageRank as a textbook has it: a matrix of links, iterated far beyond need.
func dense(nodes int, links map[[2]uint32]bool, selfLinks bool, damping float64, weights map[uint32]float64) []float64 {
	m := make([][]float64, nodes) // m[t][s] is the probability to go from s to t
	v := make([]float64, nodes)
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for t := range nodes {
		m[t] = make([]float64, nodes)
		v[t] = 1 / float64(nodes)
		if weights != nil {
			v[t] = weights[uint32(t)] / total
		}
	}
	for s := range nodes {
		out := 0
		for t := range nodes {
			if links[[2]uint32{uint32(s), uint32(t)}] && (s != t || selfLinks) {
				out++
			}
		}
		for t := range nodes {
			if out == 0 {
				m[t][s] = v[t]
			} else if links[[2]uint32{uint32(s), uint32(t)}] && (s != t || selfLinks) {
				m[t][s] = 1 / float64(out)
			}
		}
	}
	x := slices.Clone(v)
	for range 2000 {
		y := make([]float64, nodes)
		for t := range nodes {
			for s := range nodes {
				y[t] += damping * m[t][s] * x[s]
			}
			y[t] += (1 - damping) * v[t]
		}
		x = y
	}
	return x
}

func mustGraph(t testing.TB, b *Builder) *Graph {
	t.Helper()
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustCompute(t interface {
	Helper()
	Fatal(...any)
}, g *Graph, o Options) *Result {
	t.Helper()
	r, err := Compute(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d ranks, want %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-9) {
			t.Fatalf("node %d has rank %.12f, want %.12f", i, got[i], want[i])
		}
	}
	if s := sum(got); math.Abs(s-1) > 1e-9 {
		t.Fatalf("ranks sum to %.12f", s)
	}
}

// Any small graph, its links in any order, repeated, with self-links, dangling and isolated nodes,
// plain and personalised.
func TestEqualsTextbook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(t, "nodes")
		node := rapid.Uint32Range(0, uint32(nodes-1))
		b := Builder{SelfLinks: rapid.Bool().Draw(t, "self")}
		b.Grow(nodes)
		links := make(map[[2]uint32]bool)
		for range rapid.IntRange(0, 12).Draw(t, "adds") {
			source := node.Draw(t, "source")
			targets := rapid.SliceOfN(node, 0, 4).Draw(t, "targets")
			b.Add(source, targets)
			for _, target := range targets {
				links[[2]uint32{source, target}] = true
			}
		}
		var weights map[uint32]float64
		if rapid.Bool().Draw(t, "personalised") {
			weights = map[uint32]float64{node.Draw(t, "favourite"): 1}
			weights[node.Draw(t, "second")] = rapid.Float64Range(0.01, 50).Draw(t, "weight")
		}
		damping := rapid.Float64Range(0.1, 0.9).Draw(t, "damping")
		want := dense(nodes, links, b.SelfLinks, damping, weights)
		g, err := b.Graph()
		if err != nil {
			t.Fatal(err)
		}
		last := math.Inf(1)
		o := Options{Damping: damping, Tolerance: 1e-12, MaxIterations: 1000, Personalize: weights, Workers: rapid.IntRange(1, 3).Draw(t, "workers"),
			Progress: func(i int, residual float64) {
				last = residual
			}}
		if rapid.Bool().Draw(t, "warm") {
			o.Warm = rapid.SliceOfN(rapid.Float32Range(0, 5), 0, nodes+2).Draw(t, "vector")
		}
		r := mustCompute(t, g, o)
		near(t, r.Ranks, want)
		if !r.Converged || r.Residual != last {
			t.Fatalf("result %+v, last residual %g", r, last)
		}
	})
}

func TestSmallest(t *testing.T) {
	for name, c := range map[string]struct {
		build func(b *Builder)
		want  []float64
	}{
		"one node":       {func(b *Builder) { b.Grow(1) }, []float64{1}},
		"self-link only": {func(b *Builder) { b.Add(0, []uint32{0}) }, []float64{1}},
		"no links":       {func(b *Builder) { b.Grow(4) }, []float64{.25, .25, .25, .25}},
		"a pair":         {func(b *Builder) { b.Add(0, []uint32{1}); b.Add(1, []uint32{0}) }, []float64{.5, .5}},
		// x = .15/2 + .85 y/2, y = x + .85 x, as y has no links
		"only one link": {func(b *Builder) { b.Add(0, []uint32{1}) }, []float64{1 / 2.85, 1.85 / 2.85}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, self := range []bool{false, true} {
				b := Builder{SelfLinks: self}
				c.build(&b)
				near(t, mustCompute(t, mustGraph(t, &b), Options{}).Ranks, c.want)
			}
		})
	}
}

func TestParallelAndSelfLinks(t *testing.T) {
	for _, self := range []bool{false, true} {
		b := Builder{SelfLinks: self}
		b.Add(2, []uint32{0, 0, 2})
		b.Add(0, []uint32{1})
		b.Add(2, []uint32{1, 0})
		g := mustGraph(t, &b)
		want := map[bool]string{false: "[2] [0 2] [] 3", true: "[2] [0 2] [2] 4"}[self]
		if got := fmt.Sprint(g.In(0), g.In(1), g.In(2), g.Links()); got != want {
			t.Errorf("self-links %v: in-links %s, want %s", self, got, want)
		}
		if out := g.Out(2); out != g.Links()-1 {
			t.Errorf("self-links %v: %d links leave node 2", self, out)
		}
	}
}

// webLike makes a graph in the order of URLs: three links of four stay near, the rest follow
// popularity; one node in six has no links.
func webLike(nodes int, degree int) *Builder {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.3, 8, uint64(nodes-1))
	b := &Builder{}
	b.Grow(nodes)
	var targets []uint32
	for s := range nodes {
		if random.IntN(6) == 0 {
			continue
		}
		targets = targets[:0]
		for range 1 + random.IntN(2*degree) {
			target := uint32(zipf.Uint64() * 2654435761 % uint64(nodes))
			if random.IntN(4) > 0 {
				target = uint32((s + nodes + int(random.NormFloat64()*200)) % nodes)
			}
			targets = append(targets, target)
		}
		b.Add(uint32(s), targets)
	}
	return b
}

func TestWorkersDoNotChangeTheResult(t *testing.T) {
	g := mustGraph(t, webLike(50_000, 8))
	one := mustCompute(t, g, Options{Workers: 1})
	if c := newComputation(g, false, 0.85, nil, 3); len(c.sums) < 5 || c.layout.lanes < 3 {
		t.Fatalf("%d pieces are too few for this test", len(c.sums))
	}
	if !one.Converged || math.Abs(sum(one.Ranks)-1) > 1e-9 {
		t.Fatalf("residual %g after %d iterations, sum %v", one.Residual, one.Iterations, sum(one.Ranks))
	}
	for _, workers := range []int{2, 3, 16} {
		if r := mustCompute(t, g, Options{Workers: workers}); !slices.Equal(r.Ranks, one.Ranks) || r.Iterations != one.Iterations {
			t.Errorf("%d workers have another result than one", workers)
		}
	}
	warm := make([]float32, len(one.Ranks))
	for i, r := range one.Ranks {
		warm[i] = float32(r)
	}
	if r := mustCompute(t, g, Options{Warm: warm}); r.Iterations >= one.Iterations*3/4 {
		t.Errorf("%d iterations from the old vector, %d from none", r.Iterations, one.Iterations)
	}
}

// The answer on a graph of several pieces and blocks of sources is that of the plain loop, with
// float32 contributions to 1e-6 (L1), with float64 to 6 times the tolerance.
func TestEqualsPlainLoop(t *testing.T) {
	g := mustGraph(t, webLike(300_000, 2))
	if l := newLayout(g, false, 1); l.lanes < 3 || len(l.steps) < 3 {
		t.Fatalf("%d lanes and %d steps are too few for this test", l.lanes, len(l.steps))
	}
	want, next := make([]float64, g.Nodes()), make([]float64, g.Nodes())
	for i := range want {
		want[i] = 1 / float64(len(want))
	}
	for range 140 {
		plainIteration(g, want, next)
		want, next = next, want
	}
	for tolerance, within := range map[float64]float64{1e-7: 1e-6, 1e-9: 6e-9} {
		r := mustCompute(t, g, Options{Tolerance: tolerance})
		distance := difference(r.Ranks, want)
		plainIteration(g, r.Ranks, next)
		residual := difference(r.Ranks, next)
		t.Logf("tolerance %g: residual %.2g, of the plain loop %.2g, distance %.2g", tolerance, r.Residual, residual, distance)
		if distance > within || residual > tolerance || math.Abs(sum(r.Ranks)-1) > 1e-9 || !r.Converged {
			t.Errorf("tolerance %g: %g from the plain loop after %d iterations, residual %g, sum %v", tolerance, distance, r.Iterations, residual, sum(r.Ranks))
		}
	}
}

// difference is the L1 distance.
func difference(a, b []float64) (d float64) {
	for i := range a {
		d += math.Abs(a[i] - b[i])
	}
	return d
}

func TestBadOptions(t *testing.T) {
	b := Builder{}
	b.Grow(3)
	g := mustGraph(t, &b)
	for want, o := range map[string]Options{
		"damping 1":         {Damping: 1},
		"damping -0.5":      {Damping: -0.5},
		"damping NaN":       {Damping: math.NaN()},
		"tolerance -1":      {Tolerance: -1},
		"-1 iterations":     {MaxIterations: -1},
		"node 3 of a graph": {Personalize: map[uint32]float64{3: 1}},
		"weight NaN":        {Personalize: map[uint32]float64{1: math.NaN()}},
		"weight -1":         {Personalize: map[uint32]float64{1: -1}},
		"weight +Inf":       {Personalize: map[uint32]float64{1: math.Inf(1)}},
		"sum to 0":          {Personalize: map[uint32]float64{}},
		"has rank NaN":      {Warm: []float32{float32(math.NaN())}},
	} {
		if _, err := Compute(context.Background(), g, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Compute(context.Background(), &Graph{first: []uint64{0}}, Options{}); !errors.Is(err, ErrNoNodes) {
		t.Errorf("no nodes: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g = mustGraph(t, webLike(1000, 8))
	_, err := Compute(ctx, g, Options{Progress: func(i int, _ float64) {
		if i == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "after 3 iterations") {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRankEdges(t *testing.T) {
	list := "# a comment\n4294967294\t7\n\n7 4294967294\r\n 7\t7 \n7\t4294967294\n70000\t7"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(list))
	z.Close()
	want := dense(3, map[[2]uint32]bool{{2, 0}: true, {0, 2}: true, {1, 0}: true}, false, 0.85, nil)
	lines := fmt.Sprintf("7\t%.9e\n70000\t%.9e\n4294967294\t%.9e\n", want[0], want[1], want[2])
	for name, in := range map[string]string{"plain": list, "gzip": packed.String()} {
		var out strings.Builder
		if _, err := RankEdges(context.Background(), strings.NewReader(in), &out, Options{Tolerance: 1e-13, MaxIterations: 1000}); err != nil {
			t.Fatal(name, err)
		}
		var rounded strings.Builder
		for line := range strings.Lines(out.String()) {
			var node uint32
			var rank float64
			if _, err := fmt.Sscan(line, &node, &rank); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&rounded, "%d\t%.9e\n", node, rank)
		}
		if rounded.String() != lines {
			t.Errorf("%s: ranks are\n%s, want\n%s", name, rounded.String(), lines)
		}
	}
}

// A list of one node has one rank, whether its link to itself counts or not, and however often it comes.
func TestOneNodeList(t *testing.T) {
	for _, list := range []string{"5 5", "5 5\n5\t5\n"} {
		for _, selfLinks := range []bool{false, true} {
			var out strings.Builder
			r, err := RankEdges(t.Context(), strings.NewReader(list), &out, Options{SelfLinks: selfLinks})
			if err != nil || out.String() != "5\t1.000000000000e+00\n" || !r.Converged {
				t.Errorf("%q, self-links %v: %q, %+v, %v", list, selfLinks, out.String(), r, err)
			}
		}
	}
}

func TestBadEdgeLists(t *testing.T) {
	for in, want := range map[string]string{
		"1 2\nx 2":                           `line 2: "x" is not the number of a node`,
		"1 2\n3 -1":                          `line 2: "-1" is not the number of a node`,
		"1.5 2":                              `line 1: "1.5" is not the number of a node`,
		"a b\n\nc\n":                         `line 3: there must be two nodes`,
		"a b\n" + strings.Repeat("c", 2<<20): `line 2: longer than`,
		"# x\nSource Target\n\n1 2\n":        `line 2 has names and line 4 numbers`,
		"%%matrixMarket matrix coordinate real general\n3 5 2\n1 5\n": `line 2: a matrix of 3 rows and 5 columns`,
		"% bip unweighted\n1 1":                                       `line 1: the graph is bipartite`,
		"%%MatrixMarket matrix array real general\n1 1\n":             `line 1: a Matrix Market file`,
		"%%MatrixMarket matrix coordinate real general\n% x\n3 3\n":   `line 3: there must be three sizes`,
		"%%MatrixMarket matrix coordinate real general\n%":            `line 2: the sizes of the matrix are missing`,
		"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 x\n": `line 3: "x" is not the number`,
		"\x28\xb5\x2f\xfd torn":                                       `edge list: `,
		"1 2\n\n4294967295 1":                                         `line 3: node 4294967295 is above 4294967294`,
		"1 99999999999999999999999999":                                `line 1: node 99999999999999999999999999 is above 4294967294`,
		"1 2\n1\n":                                                    `line 2: there must be two nodes`,
		"1 " + strings.Repeat("2", 2<<20):                             `line 1: longer than`,
		"":                                                            `empty`,
		"# nothing":                                                   `empty`,
		"\x1f\x8b\x08 torn":                                           `edge list: `,
	} {
		_, err := RankEdges(context.Background(), strings.NewReader(in), &strings.Builder{}, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", in, err, want)
		}
	}
}

// A list of several parts, its links in any order, contributions the graph that the builder makes of them,
// and an error far down names its line.
func TestLongEdgeList(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var list []byte
	var want Builder
	const lines, nodes = 800_000, 70_000
	for range lines {
		s, u := uint32(random.IntN(nodes)), uint32(random.IntN(nodes))
		if s == u {
			s++
		}
		want.Add(s, []uint32{u})
		list = fmt.Appendf(list, "%d\t%d\n", 3*s, 3*u)
	}
	if len(list) < 2*partSize {
		t.Fatalf("%d bytes are too few for this test", len(list))
	}
	remote := mustGraph(t, &want)
	for _, workers := range []int{1, 3} {
		read := 0
		g, ids, err := ReadEdges(t.Context(), bytes.NewReader(list), Options{Workers: workers, Reading: func(links int) { read = links }})
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) != remote.Nodes() || ids[1000] != 3000 || read != lines {
			t.Fatalf("%d nodes, the 1000th %d, %d links read", len(ids), ids[1000], read)
		}
		if !slices.Equal(g.first, remote.first) || !slices.Equal(g.sources, remote.sources) || !slices.Equal(g.out, remote.out) {
			t.Errorf("%d workers read another graph", workers)
		}
	}
	_, _, err := ReadEdges(t.Context(), strings.NewReader(string(list)+"7 x\n"), Options{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`line %d: "x"`, lines+1)) {
		t.Errorf("a bad line at the end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, _, err := ReadEdges(ctx, bytes.NewReader(list), Options{Reading: func(int) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzReadEdges(f *testing.F) {
	f.Add("1 2\n2 1\n")
	f.Add("# x\n4294967294\t0")
	f.Add("% sym\n1 2 0.5")
	f.Add("a b\nb c d")
	f.Add("# node 7\n1 2")
	f.Add("a b\n# node c")
	f.Add("%%MatrixMarket matrix coordinate pattern symmetric\n% x\n2 2 1\n2 1")
	f.Fuzz(func(t *testing.T, in string) {
		g, ids, err := ReadEdges(t.Context(), strings.NewReader(in), Options{SelfLinks: true})
		if err == nil && (g.Nodes() != len(ids) || !slices.IsSorted(ids)) {
			t.Fatalf("%d nodes, %v", g.Nodes(), ids)
		}
	})
}

// BenchmarkIteration compares ours with the plain loop over the same graph.
func BenchmarkIteration(b *testing.B) {
	g := mustGraph(b, webLike(1_000_000, 8))
	perLink := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Links()), "ns/link")
	}
	b.Run("plain", func(b *testing.B) {
		ranks, next := make([]float64, g.Nodes()), make([]float64, g.Nodes())
		for i := range ranks {
			ranks[i] = 1 / float64(len(ranks))
		}
		for b.Loop() {
			plainIteration(g, ranks, next)
			ranks, next = next, ranks
		}
		perLink(b)
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			c := newComputation(g, false, 0.85, nil, workers)
			if err := cmp.Or(c.start(nil), c.narrow(b.Context())); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.iterate(b.Context())
			}
			perLink(b)
		})
	}
}

// plainIteration is what one writes first: divide on every link.
func plainIteration(g *Graph, ranks, next []float64) {
	dangling := 0.0
	for s, r := range ranks {
		if g.out[s] == 0 {
			dangling += r
		}
	}
	for t := range next {
		total := 0.0
		for _, s := range g.In(uint32(t)) {
			total += ranks[s] / float64(g.out[s])
		}
		next[t] = (0.15+0.85*dangling)/float64(len(ranks)) + 0.85*total
	}
}

func BenchmarkReadEdges(b *testing.B) {
	var list bytes.Buffer
	g := mustGraph(b, webLike(20_000, 8))
	for t := range g.Nodes() {
		for _, s := range g.In(uint32(t)) {
			fmt.Fprintf(&list, "%d\t%d\n", s, t)
		}
	}
	b.SetBytes(int64(list.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ReadEdges(b.Context(), bytes.NewReader(list.Bytes()), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
