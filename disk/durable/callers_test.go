package durable_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hasty are functions of package os for which this package has a durable one.
var hasty = []string{"Rename", "CreateTemp"}

// openers are functions of package os that return a file.
var openers = []string{"Open", "Create", "OpenFile", "NewFile"}

// TestNobodyElseSyncs fails where product code outside this package renames files, makes temporary
// ones, or syncs an *os.File. An *os.File is known by the declared types of the package's fields, and
// of a function's parameters and variables, and by the function of package os that returned it.
func TestNobodyElseSyncs(t *testing.T) {
	parsed := 0
	for _, files := range productFiles(t) {
		parsed += len(files)
		for _, found := range hastyCalls(files) {
			t.Errorf("%s: use package disk/durable", found)
		}
	}
	if parsed < 100 {
		t.Errorf("only %d files were looked at", parsed)
	}
}

// The test above recognizes what it looks for.
func TestHastyCallsAreFound(t *testing.T) {
	const source = `package p
import "os"
type w struct { file *os.File; db database }
func (x w) a() error { return x.file.Sync() }
func (x w) b() error { return x.db.Sync() }
func c(name string) { f, _ := os.Open(name); f.Sync() }
func d() { os.Rename("a", "b"); os.CreateTemp("", "") }
func e(out *os.File) { out.Sync() }
func f(out database) { out.Sync() }
`
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := hastyCalls([]sourceFile{{set, f}})
	want := []string{"p.go:4:31: file.Sync", "p.go:6:46: f.Sync", "p.go:7:12: os.Rename", "p.go:7:33: os.CreateTemp", "p.go:8:24: out.Sync"}
	if !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// hastyCalls returns the calls in a package for which there is a durable function, with their places.
func hastyCalls(files []sourceFile) []string {
	fields := map[string]bool{} // of structs, that are an *os.File
	for _, f := range files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					noteFiles(field, fields)
				}
			}
			return true
		})
	}
	var found []string
	for _, f := range files {
		for _, d := range f.syntax.Decls {
			local := map[string]bool{}
			ast.Inspect(d, func(n ast.Node) bool { noteFiles(n, local); return true })
			ast.Inspect(d, func(n ast.Node) bool {
				if call := hastyCall(n, local, fields); call != "" {
					found = append(found, f.set.Position(n.Pos()).String()+": "+call)
				}
				return true
			})
		}
	}
	return found
}

type sourceFile struct {
	set    *token.FileSet
	syntax *ast.File
}

// productFiles parses the files of the module that are part of the product, by folder.
func productFiles(t *testing.T) map[string][]sourceFile {
	all := map[string][]sourceFile{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if below == "lab" || below == filepath.Join("disk", "durable") || name == "testdata" ||
				below != "." && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		all[filepath.Dir(below)] = append(all[filepath.Dir(below)], sourceFile{set, syntax})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// noteFiles notes names that n declares or assigns to be an *os.File.
func noteFiles(n ast.Node, osFiles map[string]bool) {
	note := func(e ast.Expr) {
		if name := lastName(e); name != "" && name != "_" {
			osFiles[name] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 {
			return
		}
		if call, ok := n.Rhs[0].(*ast.CallExpr); ok && slices.Contains(openers, ofOS(call.Fun)) {
			note(n.Lhs[0])
		}
	case *ast.Field:
		if star, ok := n.Type.(*ast.StarExpr); ok && ofOS(star.X) == "File" {
			for _, name := range n.Names {
				note(name)
			}
		}
	case *ast.ValueSpec:
		if star, ok := n.Type.(*ast.StarExpr); ok && ofOS(star.X) == "File" {
			for _, name := range n.Names {
				note(name)
			}
		}
	}
}

// hastyCall returns the call that n is, if this package has a durable function for it.
func hastyCall(n ast.Node, local, fields map[string]bool) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if name := ofOS(call.Fun); slices.Contains(hasty, name) {
		return "os." + name
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Sync" {
		return ""
	}
	switch x := s.X.(type) {
	case *ast.Ident:
		if local[x.Name] {
			return x.Name + ".Sync"
		}
	case *ast.SelectorExpr:
		if fields[x.Sel.Name] {
			return x.Sel.Name + ".Sync"
		}
	}
	return ""
}

// ofOS returns the name of what e is of package os, or "".
func ofOS(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" {
			return s.Sel.Name
		}
	}
	return ""
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
