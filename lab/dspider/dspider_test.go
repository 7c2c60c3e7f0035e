package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// findable returns for each file whether there is a way to it from a start host, over hosts that
// answer some node within the timeout.
func findable(w *web, n *network, s setting) []bool {
	found := make([]bool, len(w.size))
	var queue []int
	add := func(file int) {
		reached := slices.ContainsFunc(n.latency[:s.nodes], func(of []time.Duration) bool {
			return of[w.host(file)] <= s.timeout
		})
		if !found[file] && reached {
			found[file] = true
			queue = append(queue, file)
		}
	}
	for _, starts := range n.starts[:s.nodes] {
		for _, host := range starts {
			add(w.home(host))
		}
	}
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		for _, to := range w.links(nil, file) {
			add(to)
		}
	}
	return found
}

// TestEveryFile: by both protocols every file is fetched that can be found, and no other one; ours
// fetches each once. What was fetched is what is counted.
func TestEveryFile(t *testing.T) {
	repeated := 0
	for seed := range uint64(4) {
		w := makeWeb(40, 4000, seed)
		for _, wide := range []bool{false, true} {
			n := makeNetwork(wide, w.hosts, seed)
			for _, s := range []setting{
				{nodes: 1, timeout: 9 * period, connections: 3, perHost: 2},
				{nodes: 3, timeout: 3 * period, connections: 2, perHost: 1},
				{nodes: 7, timeout: 5 * period, connections: 16, perHost: 32},
			} {
				paper := crawlAsPaper(w, n, s)
				ours, err := crawlAsOurs(w, n, s)
				if err != nil {
					t.Fatal(err)
				}
				want := findable(w, n, s)
				for who, got := range map[string]*world{"W11": paper, "ours": ours} {
					where := fmt.Sprintf("seed %d, wide %v, %+v, %s", seed, wide, s, who)
					files, fetches, units := 0, 0, 0
					for file, times := range got.times {
						if (times > 0) != want[file] {
							t.Fatalf("%s: file %d was fetched %d times, want %v", where, file, times, want[file])
						}
						files += min(1, int(times))
						fetches += int(times)
						units += int(times) * int(w.size[file])
					}
					if files != got.files || fetches != got.fetches || units != got.units {
						t.Errorf("%s: %d files, %d fetches, %d units; counted %+v",
							where, files, fetches, units, got.measures)
					}
				}
				if ours.fetches > ours.files {
					t.Errorf("seed %d, wide %v, %+v: ours fetched %d files %d times",
						seed, wide, s, ours.files, ours.fetches)
				}
				repeated += paper.fetches - paper.files
			}
		}
	}
	if repeated == 0 {
		t.Error("the paper's protocol repeats nothing")
	}
}

// TestMoreIsFetched: longer timeouts and more nodes leave fewer files that nobody fetches.
func TestMoreIsFetched(t *testing.T) {
	w := makeWeb(100, 50_000, 1)
	for _, wide := range []bool{false, true} {
		n := makeNetwork(wide, w.hosts, 1)
		for _, f := range figures(16, 1) {
			before := 1.0
			for _, s := range f.points {
				got := crawlAsPaper(w, n, s).unfetched()
				if got > before {
					t.Errorf("wide %v, %+v: %.2f is fetched by nobody, %.2f before", wide, s, got, before)
				}
				before = got
			}
			if before == 1 {
				t.Errorf("wide %v, figure %d: nothing is fetched", wide, f.number)
			}
		}
	}
}

// TestClaims: with two connections a node the paper's protocol shows what the paper says of figures
// 8 and 9 (W11, simulation).
func TestClaims(t *testing.T) {
	w := makeWeb(paperHosts, paperFiles, 1)
	ends := map[string][2]*world{}
	for i, name := range networks {
		n := makeNetwork(i == 1, w.hosts, 1)
		for _, f := range figures(2, 1) {
			last := len(f.points) - 1
			ends[name+f.x] = [2]*world{crawlAsPaper(w, n, f.points[0]), crawlAsPaper(w, n, f.points[last])}
		}
	}
	ratio := func(of string, measure func(*measures) float64) float64 {
		return measure(&ends[of][1].measures) / measure(&ends[of][0].measures)
	}
	for _, c := range []struct {
		claim string
		holds bool
	}{
		{"speed rises with nodes", ratio("LANnodes", (*measures).speed) > 1},
		{"faster in a WAN", ratio("WANnodes", (*measures).speed) > ratio("LANnodes", (*measures).speed)},
		{"srcuse falls slightly in a LAN", ratio("LANnodes", (*measures).srcuse) < 1},
		{"and rises slightly in a WAN", ratio("WANnodes", (*measures).srcuse) > 1},
		{"duplicates are fewer in a LAN",
			ends["LANnodes"][1].duplicate() <= ends["WANnodes"][1].duplicate()},
		{"speed falls with the timeout in a LAN", ratio("LANtimeout, T", (*measures).speed) < 1},
		{"and in a WAN", ratio("WANtimeout, T", (*measures).speed) < 1},
		{"requests fall in a WAN", ratio("WANtimeout, T", (*measures).communicate) < 1},
		{"more so in a LAN",
			ratio("LANtimeout, T", (*measures).communicate) < ratio("WANtimeout, T", (*measures).communicate)},
	} {
		if !c.holds {
			t.Errorf("%s: does not hold", c.claim)
		}
	}
}

// TestSimulate runs a small web: the same seed gives the same tables and figures, another one does
// not.
func TestSimulate(t *testing.T) {
	o := options{hosts: 20, files: 1000, figures: []int{8, 9}, connections: []int{4}, perHost: 1, webs: 2}
	var outs []string
	for _, seed := range []uint64{3, 3, 4} {
		o.seed, o.plots = seed, t.TempDir()
		var out strings.Builder
		if err := simulate(&out, o); err != nil {
			t.Fatal(err)
		}
		drawn, err := filepath.Glob(filepath.Join(o.plots, "figure[89]-*"))
		if err != nil || len(drawn) != 4 {
			t.Fatalf("figures: %v, %v", drawn, err)
		}
		for _, name := range drawn {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(b)
		}
		outs = append(outs, out.String())
	}
	if outs[0] != outs[1] || outs[0] == outs[2] {
		t.Error("the seed does not decide what is printed")
	}
	if n := strings.Count(outs[0], "the paper"); n != 4 {
		t.Errorf("%d lines of the paper, want 4", n)
	}
	var out strings.Builder
	o.seed, o.figures, o.plots = 4, []int{8}, ""
	if err := simulate(&out, o); err != nil || !strings.Contains(outs[2], out.String()) || strings.Contains(out.String(), "figure 9") {
		t.Errorf("figure 8 alone: %v\n%s", err, &out)
	}
	if o.figures = []int{7}; simulate(&out, o) == nil {
		t.Error("figure 7 is drawn")
	}
}

// TestReadLog: the measures of processes are those of the pages in an access log, robots.txt and
// redirects apart.
func TestReadLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "access.log")
	log := "1000\t500\ta.test\t/robots.txt\t200\t90\t1\tx\n" +
		"25000\t1000\ta.test\t/1\t200\t3000\t1\tx\n" +
		"30000\t1000\ta.test\t/2\t301\t10\t1\tx\n" +
		"50000\t25000\tb.test\t/1\t200\t4000\t1\tx\n" +
		"60000\t1000\ta.test\t/1\t200\t3000\t1\tx\n"
	if err := os.WriteFile(name, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	r := realCrawl{measures: measures{setting: setting{nodes: 2}, total: 4, messages: 6}}
	if err := r.readLog(name, 1000); err != nil {
		t.Fatal(err)
	}
	got := []float64{r.periods(), r.speed(), r.srcuse(), r.communicate(), r.duplicate(), r.unfetched()}
	if want := []float64{2, 5, 2.5, 3, 1. / 3, 0.5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := os.WriteFile(name, []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r.readLog(name, 1000) == nil {
		t.Error("a log of another form is accepted")
	}
}
