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
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSets reads all three forms of judgements, and leaves out queries that the text cannot answer.
func TestSets(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"sets":          "# name\nA\ten\tc\tc\nB\tde\tc\t./b.tsv\n\nC\ten\t/d\tc/queries.tsv,c/qrels.txt\n",
		"c/docs.jsonl":  `{"_id":"1","title":"One\tday","text":"a  b"}` + "\n" + `{"_id":"2","text":"c"}`,
		"c/queries.tsv": "q1\tred\nq2\tblue\n",
		"c/qrels.txt":   "q1 0 1 2\nq2 0 9 1\n",
		"b.tsv":         "green\t2\nnone\t8\n",
	})
	sets, err := readSets(filepath.Join(dir, "sets"))
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 3 || !sets[0].graded || sets[1].graded || sets[2].text != "/d" {
		t.Fatalf("%+v", sets)
	}
	groups := byText(sets)
	if len(groups) != 2 || len(groups[0]) != 2 {
		t.Fatalf("%d texts", len(groups))
	}
	tsv := filepath.Join(dir, "text.tsv")
	if err := writeText(sets[0].text, tsv); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(tsv)
	if want := "1\tOne day\t\ta b\n2\t\t\tc\n"; err != nil || string(text) != want {
		t.Errorf("wrote %q, want %q: %v", text, want, err)
	}
	if err := keepAnswerable(tsv, groups[0]); err != nil {
		t.Fatal(err)
	}
	if a, b := sets[0].judged, sets[1].judged; len(a) != 1 || a[0].Query != "red" || len(b) != 1 || b[0].Query != "green" {
		t.Errorf("kept %+v and %+v", a, b)
	}
	for _, bad := range []string{"", "A\ten\tc\n", "A\ten\tc\tnone.tsv\n"} {
		write(t, dir, map[string]string{"bad": bad})
		if _, err := readSets(filepath.Join(dir, "bad")); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestTable checks that our default is compared with the best of bm25 and Lucene, not with bleve.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"j.tsv": "a\t1\nb\t2\n", "run": "a\t1\t1\t2\nb\t2\n", "short": "a\t1\n"})
	s, err := readSet(dir, []string{"S", "en", dir, "j.tsv"})
	if err != nil {
		t.Fatal(err)
	}
	right, err := readRun(filepath.Join(dir, "run"), s.judged)
	if err != nil || !slices.Equal(right[0], []string{"1", "2"}) {
		t.Fatalf("%v, %v", right, err)
	}
	if _, err := readRun(filepath.Join(dir, "short"), s.judged); err == nil {
		t.Error("a run of one query for two: no error")
	}
	wrong := [][]string{{"3"}, {"3", "2"}}
	r := newRow(s, [][][]string{wrong, wrong, wrong, {{"3"}, {"2"}}, wrong, right, right})
	var out bytes.Buffer
	if err := printTable(&out, []string{"default"}, []row{r}); err != nil {
		t.Fatal(err)
	}
	want := "| S | 2 | MRR | .250 | .250 | .250 | .500 | .250 | 1.000 | 1.000 | -.250 ("
	if last := out.String()[strings.LastIndex(out.String(), "| S"):]; !strings.HasPrefix(last, want) {
		t.Errorf("%s, want %s…", last, want)
	}
	if got := fill([]string{"1", "2"}, []string{"2", "3"}); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("filled %v", got)
	}
}
