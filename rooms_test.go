package anatomy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The bounds of a room: a folder that is a package, without its tests and generated files.
const (
	maxRoomLines   = 5000
	maxRoomFiles   = 40
	maxEngineLines = 4000 // engine is the pipeline alone
	maxEngineFiles = 25
	maxTypeMethods = 40
	maxTypeFiles   = 6  // files that the methods of one type are spread over
	maxBackArrows  = 15 // percent
)

// A room is one package of the product as the bounds see it.
type room struct {
	name    string
	files   int
	lines   int
	methods map[string]int             // by type
	spread  map[string]map[string]bool // files that declare methods, by type
	arrows  map[[2]string]bool         // {user, declarer}: a file uses an identifier of another file
}

// A listed package is what "go list -json" prints of it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Main bool }
}

// TestRooms holds every room against the bounds. An arrow runs from a file to another file of its
// package that declares an identifier which the first uses. Back arrows are those against an order
// of the files that leaves few of them, as found by backArrows.
func TestRooms(t *testing.T) {
	rooms := readRooms(t)
	if len(rooms) < 40 {
		t.Fatalf("only %d rooms found", len(rooms))
	}
	lines := 0
	for _, r := range rooms {
		back := backArrows(r.arrows)
		t.Logf("%-36s %2d files %5d lines %3d of %3d arrows run back",
			r.name, r.files, r.lines, back, len(r.arrows))
		lines += r.lines
		wantLines, wantFiles := maxRoomLines, maxRoomFiles
		if r.name == "engine" {
			wantLines, wantFiles = maxEngineLines, maxEngineFiles
		}
		if r.lines > wantLines || r.files > wantFiles {
			t.Errorf("%s has %d lines in %d files, may have %d in %d",
				r.name, r.lines, r.files, wantLines, wantFiles)
		}
		if 100*back > maxBackArrows*len(r.arrows) {
			t.Errorf("%s: %d of %d arrows run back, may be %d %%",
				r.name, back, len(r.arrows), maxBackArrows)
		}
		for name, n := range r.methods {
			if n > maxTypeMethods || len(r.spread[name]) > maxTypeFiles {
				t.Errorf("%s.%s has %d methods in %d files, may have %d in %d", r.name, name,
					n, len(r.spread[name]), maxTypeMethods, maxTypeFiles)
			}
		}
	}
	t.Logf("%d rooms, %d lines", len(rooms), lines)
}

// readRooms type-checks the packages of this module, lab apart.
func readRooms(t *testing.T) (rooms []*room) {
	t.Helper()
	const fields = "ImportPath,Dir,Export,GoFiles,Module"
	list := exec.Command("go", "list", "-deps", "-export", "-json="+fields, "./...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var own []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && !strings.HasPrefix(p.ImportPath, "anatomy/lab/") {
			own = append(own, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range own {
		rooms = append(rooms, readRoom(t, fset, imports, p))
	}
	return rooms
}

func readRoom(t *testing.T, fset *token.FileSet, imports types.Importer, p listed) *room {
	t.Helper()
	r := &room{
		name: strings.TrimPrefix(p.ImportPath, "anatomy/"), methods: map[string]int{},
		spread: map[string]map[string]bool{}, arrows: map[[2]string]bool{},
	}
	var files []*ast.File
	hand := map[string]bool{} // files that are not generated
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		mode := parser.ParseComments | parser.SkipObjectResolution
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), text, mode)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		if !ast.IsGenerated(f) {
			hand[fset.Position(f.Pos()).Filename] = true
			r.files++
			r.lines += bytes.Count(text, []byte("\n"))
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		from := fset.Position(f.Pos()).Filename
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				name := receiver(fn)
				r.methods[name]++
				if r.spread[name] == nil {
					r.spread[name] = map[string]bool{}
				}
				r.spread[name][from] = true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := info.Uses[id]
			if used == nil || used.Pkg() != pkg || !hand[from] {
				return true
			}
			if to := fset.Position(used.Pos()).Filename; to != from && hand[to] {
				r.arrows[[2]string{from, to}] = true
			}
			return true
		})
	}
	return r
}

// receiver returns the name of the type that fn is a method of.
func receiver(fn *ast.FuncDecl) (name string) {
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

// backArrows returns how many arrows run against the best order of the files that it finds: it
// repeatedly moves each file to where that leaves the fewest, from several starts. The least number
// (minimum feedback arc set) may be lower, never higher.
func backArrows(arrows map[[2]string]bool) int {
	nodes := map[string]int{}
	for a := range arrows {
		nodes[a[0]], nodes[a[1]] = 0, 0
	}
	names := slices.Sorted(maps.Keys(nodes))
	for i, name := range names {
		nodes[name] = i
	}
	uses := make([][]bool, len(names))
	out, in := make([]int, len(names)), make([]int, len(names))
	for i := range uses {
		uses[i] = make([]bool, len(names))
	}
	for a := range arrows {
		uses[nodes[a[0]]][nodes[a[1]]] = true
		out[nodes[a[0]]]++
		in[nodes[a[1]]]++
	}
	first := make([]int, len(names))
	for i := range first {
		first[i] = i
	}
	byNet := slices.Clone(first)
	slices.SortStableFunc(byNet, func(a, b int) int { return cmp.Compare(out[b]-in[b], out[a]-in[a]) })
	byOut := slices.Clone(first)
	slices.SortStableFunc(byOut, func(a, b int) int { return cmp.Compare(out[b], out[a]) })
	best := len(arrows)
	for _, order := range [][]int{first, byNet, byOut} {
		best = min(best, improve(order, uses))
	}
	return best
}

// improve reorders files until moving any one of them leaves no fewer arrows back, and returns how
// many there are. uses[i][j] says that file i uses file j.
func improve(order []int, uses [][]bool) int {
	for changed := true; changed; {
		changed = false
		for _, node := range slices.Clone(order) {
			at := slices.Index(order, node)
			order = slices.Delete(order, at, at+1)
			// cost of a position: arrows back that node takes part in, relative to the first position
			cost, least, slot, here := 0, 0, 0, 0
			for i, other := range order {
				if uses[other][node] {
					cost-- // other comes before node: its arrow runs forth
				}
				if uses[node][other] {
					cost++
				}
				if cost < least {
					least, slot = cost, i+1
				}
				if i+1 == at {
					here = cost
				}
			}
			if least == here {
				slot = at
			}
			changed = changed || least < here
			order = slices.Insert(order, slot, node)
		}
	}
	back := 0
	for i, node := range order {
		for _, earlier := range order[:i] {
			if uses[node][earlier] {
				back++
			}
		}
	}
	return back
}
