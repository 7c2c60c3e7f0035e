package audit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anatomy/disk/audit"
	"anatomy/disk/datadir"
)

func newFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	w, err := datadir.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, name string) (all []audit.Entry) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e audit.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%.100q: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// TestAppend: each entry is one line, whatever its texts hold, from however many goroutines, in a
// file for its owner alone. Where there is no data folder no file is made.
func TestAppend(t *testing.T) {
	dir := newFolder(t)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			e := audit.Entry{Who: "ada (uid 1)\n{", What: "remove", Target: []string{"a\n\"b\xff"}, Result: audit.Done}
			if err := audit.Append(dir, e); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	all := read(t, audit.Path(dir))
	if len(all) != 20 || all[0].Who != "ada (uid 1)\n{" || all[0].Target[0] != "a\n\"b\uFFFD" || all[0].Time.IsZero() {
		t.Errorf("%d entries, the first %+v", len(all), all[0])
	}
	if info, err := os.Stat(audit.Path(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, none := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if err := audit.Append(none, audit.Entry{What: "remove"}); err != nil {
			t.Error(err)
		}
		if files, _ := os.ReadDir(none); len(files) > 0 {
			t.Errorf("%s has %v", none, files)
		}
	}
}

// TestBounds: a full file becomes the older one, which is replaced; and a line is short.
func TestBounds(t *testing.T) {
	dir := newFolder(t)
	for _, what := range []string{"first", "second", "third"} {
		many := make([]string, 1000)
		many[0] = strings.Repeat("é", 10_000)
		if err := audit.Append(dir, audit.Entry{What: what, Target: many}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(audit.Path(dir))
		if err != nil || info.Size() > 4000 {
			t.Errorf("%s: %v, %v", what, info.Size(), err)
		}
		if all := read(t, audit.Path(dir)); len(all) != 1 || all[0].What != what || all[0].Target[20] != "and 980 more" {
			t.Errorf("%s: %+v", what, all)
		}
		if what == "third" {
			break
		}
		f, err := os.OpenFile(audit.Path(dir), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(strings.Repeat(" ", audit.MaxBytes) + "{}\n"); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	b, err := os.ReadFile(audit.Path(dir) + ".1")
	if err != nil || !strings.Contains(string(b), `"second"`) {
		t.Errorf("the older file: %.100s, %v", b, err)
	}
}
