package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromises requires that what anatomy keeps is shown and tested, that nothing else claims to be,
// and that each test exists.
func TestPromises(t *testing.T) {
	for _, p := range promises {
		ours := p.keeper == anatomy
		if (p.show != nil) != ours || (len(p.tests) > 0) != ours {
			t.Errorf("%s is kept by %s, is shown: %v, and has %d tests", p.name, p.keeper, p.show != nil, len(p.tests))
		}
		for _, test := range p.tests {
			at := strings.LastIndex(test, ".")
			if !declared(t, test[:at], test[at+1:]) {
				t.Errorf("%s: there is no test %s", p.name, test)
			}
		}
	}
	if declared(t, "cluster/replica", "TestNothing") {
		t.Error("a test is found that does not exist")
	}
}

// declared reports whether a test of a package exists.
func declared(t *testing.T, room, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(room), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// TestWalk goes on after a broken promise, and fails.
func TestWalk(t *testing.T) {
	shown := 0
	kept := promise{name: "kept", keeper: anatomy, show: func(*bench) (string, error) { shown++; return "", nil }}
	broken := promise{name: "broken", keeper: anatomy, show: func(*bench) (string, error) { return "", errors.New("lost") }}
	if err := walk(nil, []promise{kept, {keeper: theBucket}, {keeper: nobody}}); err != nil {
		t.Error(err)
	}
	if err := walk(nil, []promise{broken, kept}); err == nil || shown != 2 {
		t.Errorf("%d shown: %v", shown, err)
	}
}
