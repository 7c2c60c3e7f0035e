package eval

import (
	"bytes"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"anatomy/searcher"
	"anatomy/vocab"
)

// TestMeasure compares measures with those computed by hand.
func TestMeasure(t *testing.T) {
	graded := map[string]int{"a": 2, "b": 1, "c": 1}
	lg3 := math.Log2(3)
	for _, c := range []struct {
		name  string
		any   bool
		pages string
		want  Measures
	}{
		{"perfect", false, "a b c", Measures{1, 1, 1, 1, 1, 1, 0}},
		{"second and fourth", false, "x a y b", Measures{1, 0, 0.5, 2. / 3, (2/lg3 + 1/math.Log2(5)) / (2 + 1/lg3 + 0.5), (1./2 + 2./4) / 3, 0}},
		{"past the tenth", false, "1 2 3 4 5 6 7 8 9 10 a", Measures{1, 0, 0, 0, 0, 1. / 11 / 3, 0}},
		{"nothing", false, "", Measures{1, 0, 0, 0, 0, 0, 1}},
		{"one is enough", true, "x b a c", Measures{1, 0, 0.5, 1, 0, 0.5, 0}},
	} {
		if c.any {
			graded, c.want.NDCG10 = map[string]int{"a": 1, "b": 1, "c": 1}, 1/lg3
		}
		got := Measure([]Judged{{"q", graded, c.any}}, [][]string{strings.Fields(c.pages)})
		for i, pair := range [][2]float64{{got.Success1, c.want.Success1}, {got.MRR10, c.want.MRR10}, {got.Recall10, c.want.Recall10}, {got.NDCG10, c.want.NDCG10}, {got.MAP, c.want.MAP}, {got.Empty, c.want.Empty}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%s: measure %d is %v, want %v", c.name, i, pair[0], pair[1])
			}
		}
	}
	two := Measure([]Judged{{"q", graded, true}, {"r", graded, true}}, [][]string{{"a"}, {}})
	if two.Queries != 2 || two.Success1 != 0.5 || two.Empty != 0.5 {
		t.Errorf("two queries: %+v", two)
	}
}

func TestPage(t *testing.T) {
	for _, same := range [][]string{
		{"http://a.test/x/", "https://a.test/x/index.html", "http://A.test/x/#y"},
		{"d7"},
	} {
		for _, url := range same[1:] {
			if Page(url) != Page(same[0]) {
				t.Errorf("%s is %s, %s is %s", url, Page(url), same[0], Page(same[0]))
			}
		}
	}
	if Page("http://a.test/x") == Page("http://a.test/x/") || Page("d7") != "d7" {
		t.Error("different pages are one")
	}
}

func TestReadTSV(t *testing.T) {
	got, err := ReadTSV(strings.NewReader("q one\thttp://a.test/ http://a.test/index.html\thttp://b.test/\n\nr\td1\r\n"), "f")
	if err != nil || len(got) != 2 || len(got[0].Grades) != 2 || got[1].Grades["d1"] != 1 || !got[0].Any {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = ReadTSV(strings.NewReader("q\t-http://a.test/\thttp://a.test/index.html\t-http://b.test/ http://b.test/index.html\nr\t-http://a.test/\n"), "f")
	if want := map[string]int{"https://a.test/": 1, "https://b.test/": 0}; err != nil || len(got) != 2 || !maps.Equal(got[0].Grades, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if with := WithRelevant(got); len(with) != 1 || with[0].Query != "q" {
		t.Errorf("with a relevant page: %+v", with)
	}
	for _, bad := range []string{"q\n", "\thttp://a.test/\n", "ok\tu\nq\t \n", "q\t-\n"} {
		if _, err := ReadTSV(strings.NewReader(bad), "f"); err == nil || !strings.Contains(err.Error(), "f, line ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestReadTREC(t *testing.T) {
	const queries, qrels = "1\tone\n2\ttwo\n3\tthree\n", "1 0 a 2\n1 0 b 0\n1 0 c -1\n2 0 a 0\n"
	got, err := ReadTREC(strings.NewReader(queries), "q", strings.NewReader(qrels), "r", false)
	if err != nil || len(got) != 1 || got[0].Query != "one" || len(got[0].Grades) != 1 || got[0].Grades["a"] != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = ReadTREC(strings.NewReader(queries), "q", strings.NewReader(qrels), "r", true)
	if err != nil || len(got) != 1 || got[0].Grades["a"] != 1 || got[0].Grades["c"] != 1 || got[0].Grades["b"] != 0 {
		t.Errorf("binary: %+v, %v", got, err)
	}
	for _, bad := range [][2]string{{"1 one\n", qrels}, {queries, "1 0 a\n"}, {queries, "1 0 a x\n"}} {
		if _, err := ReadTREC(strings.NewReader(bad[0]), "q", strings.NewReader(bad[1]), "r", false); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode        Mode
		query, want string
	}{
		{All, "a -b", "a -b"}, {Fill, "a b", "a b"}, {Phrase, `a "b`, `"a  b"`},
		{Any, "new york", "new OR york"}, {Any, "this OR -that", `this OR "OR" OR that`}, {Any, "...", ""},
	} {
		if got := c.mode.Text(c.query); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.mode, c.query, got, c.want)
		}
	}
}

// A table is a Searcher that returns given documents, a page of results at a time.
type table map[string][]vocab.DocID

func (t table) Search(_ context.Context, r searcher.Request) (*searcher.Response, error) {
	all := t[r.Query]
	from, to := min(r.Offset, len(all)), min(r.Offset+max(r.Limit, 1), len(all))
	resp := &searcher.Response{Total: len(all), Next: to < len(all), Partial: r.Query == "slow"}
	for _, doc := range all[from:to] {
		resp.Results = append(resp.Results, searcher.Result{Doc: doc, Score: 1_500_000})
	}
	return resp, nil
}

func (t table) Document(_ context.Context, doc vocab.DocID) (vocab.DocInfo, error) {
	return vocab.DocInfo{URL: string(rune('a' + doc))}, nil
}

// TestRun checks that results of any words follow those of all words, that no page occurs twice,
// and that Read reads what Write wrote.
func TestRun(t *testing.T) {
	asked := table{"x y": {3, 1}, "x OR y": {1, 2, 3, 4}, "z": {5}, "OR": {9}}
	judged := []Judged{{Query: "x y"}, {Query: "z"}, {Query: "none"}}
	r := &Runner{Searcher: asked, Depth: 3}
	run, err := r.Run(t.Context(), judged)
	if err != nil {
		t.Fatal(err)
	}
	pages := Pages(run)
	if !slices.Equal(pages[0], []string{"d", "b", "c"}) || !slices.Equal(pages[1], []string{"f"}) || len(pages[2]) != 0 {
		t.Errorf("run %v", pages)
	}
	var b bytes.Buffer
	if err := Write(&b, judged, run); err != nil || !strings.HasPrefix(b.String(), "x y\t1\td\t1.500000\nx y\t2\tb\t") {
		t.Errorf("%q, %v", b.String(), err)
	}
	again, err := Read(&b, "f", judged)
	if err != nil || !slices.EqualFunc(again, run, slices.Equal[[]Entry]) {
		t.Errorf("read %v, %v", again, err)
	}
	if _, err := Read(strings.NewReader("q\tfirst\tu\t1\n"), "f", judged); err == nil {
		t.Error("a run without ranks is read")
	}
	if _, err := r.Run(t.Context(), []Judged{{Query: "slow"}}); err == nil {
		t.Error("a partial answer counts")
	}
}

// TestCompare has three queries that improved: two swaps of eight gain as much.
func TestCompare(t *testing.T) {
	judged := make([]Judged, 4)
	for i := range judged {
		judged[i] = Judged{Grades: map[string]int{"a": 1}, Any: true}
	}
	after := [][]string{{"a"}, {"a"}, {"a"}, {"a"}}
	before := [][]string{{"x", "a"}, {}, {"x", "a"}, {"a"}}
	c := Compare(judged, before, after, 1)
	if c.Better != 3 || c.Worse != 0 || c.Mean != 0.5 || math.Abs(c.P-0.25) > 0.02 {
		t.Errorf("%+v", c)
	}
	if c := Compare(judged, after, before, 1); c.Better != 0 || c.Worse != 3 || c.Mean != -0.5 {
		t.Errorf("the other way round: %+v", c)
	}
	if c := Compare(judged, after, after, 1); c.P != 1 || c.Gain != (Gain{}) || c.NDCG10 != (Gain{}) {
		t.Errorf("no change: %+v", c)
	}
}

// TestGain compares the interval of a mean with that of a normal distribution.
func TestGain(t *testing.T) {
	const n = 400
	judged, before, after := make([]Judged, n), make([][]string, n), make([][]string, n)
	for i := range judged {
		judged[i] = Judged{Grades: map[string]int{"a": 1}, Any: true}
		before[i], after[i] = []string{"x"}, []string{"a"}
		if i%4 == 0 { // a quarter of the queries lose what the others gain
			before[i], after[i] = after[i], before[i]
		}
	}
	c := Compare(judged, before, after, 1)
	want := 1.96 * math.Sqrt((1-0.5*0.5)/n)
	for _, g := range []Gain{c.Gain, c.NDCG10} {
		if g.Mean != 0.5 || math.Abs(g.Mean-g.Low-want) > want/10 || math.Abs(g.High-g.Mean-want) > want/10 {
			t.Errorf("%+v, want 0.5 and %.4f to either side", g, want)
		}
	}
}

func TestBench(t *testing.T) {
	timings, err := Bench(t.Context(), table{"a OR b": {1, 2}}, []string{"a b", "c"}, BenchOptions{Mode: Any, Passes: 2})
	if err != nil || len(timings) != 2 || timings[0].Hits != 2 || timings[1].Hits != 0 || timings[0].Best == math.MaxInt64 {
		t.Errorf("%+v, %v", timings, err)
	}
	l := Summary([]Timing{{Best: 4 * time.Second, Hits: 1}, {Best: time.Second}, {Best: 2 * time.Second, Hits: 2}, {Best: 3 * time.Second}})
	if l != (Latency{2500 * time.Millisecond, 3 * time.Second, 4 * time.Second, 4 * time.Second, 3}) {
		t.Errorf("%+v", l)
	}
}
