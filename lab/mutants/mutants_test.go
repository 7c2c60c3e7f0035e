package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// module makes a module under git with one function and its test.
func module(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range map[string]string{
		"go.mod":      "module sum\n\ngo 1.26\n",
		"sum.go":      "package sum\n\nfunc Sum(a, b int) int { return a + b } // one\n\nconst Limit = 7\n",
		"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Skipf("git init: %v\n%s", err, out)
	}
	return root
}

// A fault that a test notices is killed, another one survives; the tree itself stays as it was.
func TestRunAll(t *testing.T) {
	root := module(t)
	survived, err := runAll(t.Context(), root, []mutant{
		{"noticed", "sum.go", "a + b", "a - b", "./..."},
		{"not noticed", "sum.go", "Limit = 7", "Limit = 8", "./..."},
	}, time.Minute)
	if err != nil || survived != 1 {
		t.Errorf("%d survived, %v; want 1", survived, err)
	}
	source, err := os.ReadFile(filepath.Join(root, "sum.go"))
	if err != nil || !strings.Contains(string(source), "a + b") {
		t.Errorf("the tree was changed: %q, %v", source, err)
	}
}

// Mutants that say nothing about the tests are errors.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		m     mutant
		stale bool
	}{
		{mutant{"gone", "sum.go", "a * b", "a - b", "./..."}, true},
		{mutant{"twice", "sum.go", "int", "uint", "./..."}, true},
		{mutant{"no change", "sum.go", "a + b", "a + b", "./..."}, true},
		{mutant{"no file", "product.go", "a + b", "a - b", "./..."}, false},
		{mutant{"does not compile", "sum.go", "a + b", "a + c", "./..."}, false},
	} {
		survived, err := runAll(t.Context(), module(t), []mutant{c.m}, time.Minute)
		if err == nil || errors.Is(err, errStale) != c.stale {
			t.Errorf("%s: %d survived, error %v", c.m.name, survived, err)
		}
	}
	if _, err := runAll(t.Context(), ".", nil, time.Minute); err == nil {
		t.Error("no mutants is no error")
	}
}

// Each mutant of the table applies to the tree as it is, and no two have one name.
func TestTable(t *testing.T) {
	names := make(map[string]bool)
	for _, m := range mutants {
		if _, err := m.mutate("../.."); err != nil {
			t.Error(err)
		}
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
	}
	if len(mutants) < 15 {
		t.Errorf("only %d mutants", len(mutants))
	}
}
