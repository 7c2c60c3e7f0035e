package rig

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestRunningCPU(t *testing.T) {
	before, err := RunningCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
	}
	if after, err := RunningCPU(os.Getpid()); err != nil || after <= before || after > before+5 {
		t.Errorf("%v s, then %v s, %v", before, after, err)
	}
	if _, err := RunningCPU(-1); err == nil {
		t.Error("a process that does not run has CPU time")
	}
}

func TestQueries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queries")
	for text, want := range map[string][]string{
		"a b\t3\n\n# no\n c \n": {"a b", "c"},
		"#\n\t\n":               nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Queries(file); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
