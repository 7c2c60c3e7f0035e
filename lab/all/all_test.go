package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// small are arguments that make an experiment quick, in place of those of the report, by source.
var small = map[string][]string{
	"Broder, Najork and Wiener 2003, figures 2 to 5": {"--links", "200000", "--svg", "PLOTS/hits.svg"},
	"Cao, Jiang and Singh, figures 3 to 5":           {"--speed", "--servers", "200", "--pages", "400", "--plots", "PLOTS"},
	"Cao, Jiang and Singh, figures 6 and 7":          {"--servers", "20", "--pages", "400", "--plots", "PLOTS"},
	"Cao, Jiang and Singh, with a delay":             {"--polite", "--servers", "20", "--pages", "400"},
	"Brin and Page 1998, §2.1":                       {"-nodes", "20000", "-links", "200000", "-runs", "1"},
	"Yang and others 2014, figure 5":                 {"--paper", "--latency", "10ms", "--period", "100ms", "--line", "10", "--svg", "PLOTS/line.svg"},
}

// TestReport runs experiments whose size can be small and reads the report: each figure has a value.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	work := t.TempDir()
	var results []*result
	for _, e := range experiments {
		args, ok := small[e.Source]
		if !ok || e.missing(&options{}) != "" {
			continue
		}
		e.args = args
		r, err := e.run(t.Context(), work, options{})
		if err != nil {
			t.Fatalf("%s: %v\n%s", e.program, err, r.Output)
		}
		if draws := strings.Contains(strings.Join(args, " "), "PLOTS"); draws != (len(r.Plots) > 0) {
			t.Errorf("%s: %d plots", e.program, len(r.Plots))
		}
		results = append(results, r)
	}
	if len(results) != len(small) {
		t.Fatalf("%d experiments, want %d", len(results), len(small))
	}
	var page bytes.Buffer
	if err := write(&page, results); err != nil {
		t.Fatal(err)
	}
	if _, err := html.Parse(bytes.NewReader(page.Bytes())); err != nil {
		t.Error(err)
	}
	for _, row := range rows(results) {
		if !regexp.MustCompile(`\d`).MatchString(row.Ours) || !strings.Contains(page.String(), "<td>"+row.Ours) {
			t.Errorf("%s: the report has %q", row.What, row.Ours)
		}
	}
}

// TestFailure looks for an experiment that fails in the report.
func TestFailure(t *testing.T) {
	e := experiment{program: "urlcache", Source: "nobody", figures: []figure{{"a figure", "1", `(\d+)`}}, args: []string{"--links", "0"}}
	r, err := e.run(t.Context(), t.TempDir(), options{})
	if err == nil || !strings.Contains(err.Error(), "--links must be") {
		t.Fatalf("got %v", err)
	}
	r.Trouble = err.Error()
	var page bytes.Buffer
	if err := write(&page, []*result{r}); err != nil {
		t.Fatal(err)
	}
	if s := page.String(); !strings.Contains(s, "<td>failed") || !strings.Contains(s, "--links must be") {
		t.Error(s)
	}
	r.Output = "no number"
	if err := r.find(); err == nil {
		t.Error("a figure was found in nothing")
	}
}

// TestExperiments looks whether each program is there, and that docsweb is asked for.
func TestExperiments(t *testing.T) {
	for _, e := range experiments {
		if _, err := os.Stat(filepath.Join("..", e.program)); err != nil {
			t.Error(err)
		}
	}
	for _, o := range []options{{only: "firstbench"}, {only: "nothing"}, {docsweb: "docsweb"}} {
		if err := run(t.Context(), io.Discard, o); err == nil {
			t.Errorf("%+v runs", o)
		}
	}
}

// TestMissing: an experiment on data of the caller runs only if that is given, and --only says so.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string // programs on data of the caller, in their order
	}{
		{options{}, ""},
		{options{docsweb: "docsweb", pages: "small"}, "firstbench urlcache urlcache scheduling spam"},
		{options{docsweb: "docsweb", pages: "small", only: "firstbench,spam"}, "firstbench spam"},
		{options{data: "crawl"}, "urlcache urlcache spam"},
		{options{data: "crawl", translations: "sites", truth: "pages.tsv"}, "urlcache urlcache spam parallel"},
	} {
		chosen, err := c.o.chosen()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range chosen {
			if e.missing(&options{}) != "" {
				got = append(got, e.program)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v: %q runs, want %q", c.o, s, c.want)
		}
	}
	o := options{only: "spam"}
	if _, err := o.chosen(); err == nil || !strings.Contains(err.Error(), "needs --data") {
		t.Errorf("spam without data: %v", err)
	}
	o = options{docsweb: "docsweb", pages: "small", only: "spam"}
	if _, err := o.chosen(); err == nil || !strings.Contains(err.Error(), "needs --data, or firstbench") {
		t.Errorf("spam without a crawl of docsweb: %v", err)
	}
	o = options{truth: "pages.tsv"}
	if _, err := o.chosen(); err == nil {
		t.Error("--truth alone is taken")
	}
}
