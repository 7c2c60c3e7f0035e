package pagerank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// urlGraph returns an edge list of URLs on a few hosts.
func urlGraph(random *rand.Rand) (list string, names []string) {
	page := func() string { return fmt.Sprintf("http://host%d.test/%d", random.IntN(6), random.IntN(20)) }
	var b strings.Builder
	for range 400 {
		from, to := page(), page()
		fmt.Fprintf(&b, "%s\t%s\n", from, to)
		names = append(names, from, to)
	}
	slices.Sort(names)
	return b.String(), slices.Compact(names)
}

func hostOf(name string) (string, error) {
	u, err := url.Parse(name)
	return u.Host, err
}

// methodRanks returns what a method writes, and its result with the ranks kept, which must be the same.
func methodRanks(t *testing.T, rank func(*strings.Builder, Options) (*Result, error)) map[string]float64 {
	t.Helper()
	var out strings.Builder
	r, err := rank(&out, Options{Tolerance: 1e-13, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	ranks := parsedRanks(t, out.String())
	all := 0.0
	for node, rank := range r.Ranks {
		if math.Abs(ranks[r.Name(node)]-rank) > 1e-12 {
			t.Fatalf("%s: %v is written, %v kept", r.Name(node), ranks[r.Name(node)], rank)
		}
		all += rank
	}
	if len(ranks) != len(r.Ranks) || r.Nodes != len(ranks) || math.Abs(all-1) > 1e-6 {
		t.Fatalf("%d nodes, %d ranks, sum %v", r.Nodes, len(ranks), all)
	}
	return ranks
}

// TestEdgeMethods: the ranks of hosts are those of the edge list of hosts, divided among their nodes;
// ranks are weighed as Vouchers weigh those of RankEdges; and a topic is RankEdges with its teleport.
func TestEdgeMethods(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		list, names := urlGraph(random)
		plain := methodRanks(t, func(out *strings.Builder, o Options) (*Result, error) {
			return RankEdges(t.Context(), strings.NewReader(list), out, o)
		})

		var hostList strings.Builder
		for line := range strings.Lines(list) {
			f := strings.Fields(line)
			from, _ := hostOf(f[0])
			to, _ := hostOf(f[1])
			fmt.Fprintf(&hostList, "%s\t%s\n", from, to)
		}
		byHost := methodRanks(t, func(out *strings.Builder, o Options) (*Result, error) {
			return RankEdges(t.Context(), strings.NewReader(hostList.String()), out, o)
		})
		hosts := methodRanks(t, func(out *strings.Builder, o Options) (*Result, error) {
			return HostsOfEdges(t.Context(), strings.NewReader(list), out, o, hostOf)
		})
		all := 0.0
		for _, name := range names {
			host, _ := hostOf(name)
			all += byHost[host]
		}
		siteOf, numbers := make([]uint32, len(names)), map[string]uint32{}
		for i, name := range names {
			host, _ := hostOf(name)
			if want := byHost[host] / all; math.Abs(hosts[name]-want) > 1e-9 {
				t.Fatalf("%s has the rank %v of its host, want %v", name, hosts[name], want)
			}
			if _, known := numbers[host]; !known {
				numbers[host] = uint32(len(numbers))
			}
			siteOf[i] = numbers[host]
		}

		v := NewVouchers(siteOf, len(numbers))
		want := make([]float32, len(names))
		for i, name := range names {
			want[i] = float32(plain[name])
		}
		number := func(name string) uint32 {
			i, _ := slices.BinarySearch(names, name)
			return uint32(i)
		}
		for line := range strings.Lines(list) {
			if f := strings.Fields(line); f[0] != f[1] {
				v.Add(number(f[0]), []uint32{number(f[1])})
			}
		}
		v.Weigh(want)
		for name, rank := range methodRanks(t, func(out *strings.Builder, o Options) (*Result, error) {
			return VouchedOfEdges(t.Context(), strings.NewReader(list), out, o, hostOf)
		}) {
			if math.Abs(rank-float64(want[number(name)])) > 1e-6 {
				t.Fatalf("%s has the weighed rank %v, want %v", name, rank, want[number(name)])
			}
		}

		topics := []EdgeTopic{{"one", map[string]float64{names[0]: 1}}, {"two", map[string]float64{names[1]: 1, names[2]: 3}}}
		var out strings.Builder
		results, err := TopicsOfEdges(t.Context(), strings.NewReader(list), &out, Options{Tolerance: 1e-13, Keep: true}, topics)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if lines[0] != "#node\tone\ttwo" || len(lines) != len(names)+1 {
			t.Fatalf("%d lines, the first %q", len(lines), lines[0])
		}
		for i, topic := range topics {
			want := methodRanks(t, func(out *strings.Builder, o Options) (*Result, error) {
				o.Teleport = topic.Weights
				return RankEdges(t.Context(), strings.NewReader(list), out, o)
			})
			for _, line := range lines[1:] {
				f := strings.Split(line, "\t")
				got := parsedRanks(t, f[0]+"\t"+f[i+1])[f[0]]
				if math.Abs(got-want[f[0]]) > 1e-9 {
					t.Fatalf("topic %s: %s has rank %v, want %v", topic.Name, f[0], got, want[f[0]])
				}
			}
			for node, rank := range results[i].Ranks {
				if math.Abs(rank-want[results[i].Name(node)]) > 1e-9 {
					t.Fatalf("topic %s: node %d has rank %v", topic.Name, node, rank)
				}
			}
		}
	}
}
