package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes files of a folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// results are those of one library for the queries "a" and "b", the second of which is answered wrongly.
func results(name string) map[string]string {
	files := map[string]string{
		"log/" + name + ".time":    "2.00 0.50 3.00 1000\n",
		"idx/" + name + "/hits":    strings.Repeat("h", 2_000_000),
		"idx/" + name + "/1/texts": strings.Repeat("t", 1_000_000),
	}
	for _, m := range modes {
		file := "out/perf." + name + "." + string(m.mode)
		if n := nativeOf(name); n != nil {
			for _, count := range n.counts {
				files[file+"."+count] = "a\t3\t1000000\nb\t0\t3000000\n"
			}
			continue
		}
		files[file] = "a\t3\t1000000\nb\t0\t3000000\n"
	}
	for _, set := range sets {
		files["out/run."+set.file+"."+name+".all-then-any"] = "a\thttp://a.test/other http://a.test/right\nb\thttp://a.test/1\n"
	}
	return files
}

// newComparison is one whose programs have run.
func newComparison(t *testing.T) *comparison {
	c := &comparison{programs: filepath.Join(t.TempDir(), "a/b"), work: t.TempDir(), engines: []string{"lucene", "tantivy"}}
	write(t, c.work, map[string]string{"text.tsv": strings.Repeat("x", 5_000_000)})
	write(t, c.work, results("lucene"))
	write(t, c.work, results("tantivy"))
	for _, set := range sets {
		write(t, c.programs, map[string]string{"../../data/judged/" + set.file + ".tsv": "a\thttp://a.test/right\nb\thttp://a.test/right\n"})
	}
	return c
}

// TestTable checks that a library has times under the way that it counts, and quality if it was asked.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := newComparison(t).print(&out, []string{"lucene", "tantivy"}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if want := 1 + 6 + 2*len(modes)*len(counts) + 3*len(sets); len(lines) != want {
		t.Errorf("%d lines, want %d:\n%s", len(lines), want, &out)
	}
	for _, want := range []string{
		"build, CPU s 2.5 2.5", "MB of text a CPU second 2.0 2.0", "peak memory, MB 1 1", "index, MB 3 3",
		"without texts for snippets 2 2", "share of the text 0.40 0.40",
		"any, count none, ms: median - 3.000", "any, count 1000, ms: median 3.000 -", "any, count all, ms: median - 3.000",
		"phrase, count all, ms: median - 3.000",
		"titles: first 0.500 -", "MRR@10 0.500 -", "recall@10 0.500 -",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, &out)
		}
	}
}

func TestDamagedResults(t *testing.T) {
	for name, text := range map[string]string{
		"log/lucene.time":                        "many\n",
		"out/perf.lucene.any":                    "a\t3\n",
		"out/perf.lucene.all":                    "a\t3\tlong\n",
		"out/perf.lucene.phrase":                 "",
		"out/perf.tantivy.any.none":              "a\t3\n",
		"out/run.index-test.lucene.all-then-any": "a\thttp://a.test/right\n",
		"out/run.title-test.lucene.all-then-any": "b\na\n",
	} {
		c := newComparison(t)
		write(t, c.work, map[string]string{name: text})
		if err := c.print(&bytes.Buffer{}, []string{"lucene", "tantivy"}); err == nil {
			t.Errorf("%s of %q: no error", name, text)
		}
	}
}
