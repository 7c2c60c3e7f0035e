package main

import (
	"bytes"
	"os"
	"path/filepath"
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
		files["out/perf."+name+"."+string(m.mode)] = "a\t3\t1000000\nb\t0\t3000000\n"
	}
	for _, set := range sets {
		files["out/run."+set.file+"."+name+".all-then-any"] = "a\thttp://a.test/other http://a.test/right\nb\thttp://a.test/1\n"
	}
	return files
}

// newComparison is one whose programs have run.
func newComparison(t *testing.T) *comparison {
	c := &comparison{programs: filepath.Join(t.TempDir(), "a/b"), work: t.TempDir()}
	write(t, c.work, map[string]string{"text.tsv": strings.Repeat("x", 5_000_000)})
	write(t, c.work, results("lucene"))
	for _, set := range sets {
		write(t, c.programs, map[string]string{"../../data/judged/" + set.file + ".tsv": "a\thttp://a.test/right\nb\thttp://a.test/right\n"})
	}
	return c
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	if err := newComparison(t).print(&out, []string{"lucene"}); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(out.String()) {
		fields := strings.Fields(line)
		want, known := map[string]string{
			"build,": "2.5", "MB": "2.0", "peak": "1", "index,": "3", "without": "2", "share": "0.40",
			"any,": "3.000", "mean": "2.000", "titles:": "0.500", "MRR@10": "0.500", "recall@10": "0.500",
		}[fields[0]]
		if seen++; known && fields[len(fields)-1] != want {
			t.Errorf("%s, want %s", strings.TrimSpace(line), want)
		}
	}
	if want := 1 + 6 + 3*len(modes) + 3*len(sets); seen != want {
		t.Errorf("%d lines, want %d:\n%s", seen, want, &out)
	}
}

func TestDamagedResults(t *testing.T) {
	for name, text := range map[string]string{
		"log/lucene.time":                        "many\n",
		"out/perf.lucene.any":                    "a\t3\n",
		"out/perf.lucene.all":                    "a\t3\tlong\n",
		"out/perf.lucene.phrase":                 "",
		"out/run.index-test.lucene.all-then-any": "a\thttp://a.test/right\n",
		"out/run.title-test.lucene.all-then-any": "b\na\n",
	} {
		c := newComparison(t)
		write(t, c.work, map[string]string{name: text})
		if err := c.print(&bytes.Buffer{}, []string{"lucene"}); err == nil {
			t.Errorf("%s of %q: no error", name, text)
		}
	}
}
