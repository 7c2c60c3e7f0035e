package anatomy

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says what each room may import of this module, tests apart. A name ending in /* stands for
// the folders below it. The order is the flow of data: stages do not import stages, they meet in
// files and in the messages of vocab; engine alone knows them all.
var imports = map[string]string{
	"":                 "",
	"vocab":            "",
	"weburl":           "vocab",
	"words":            "",
	"disk/datadir":     "vocab",
	"disk/texts":       "",
	"disk/*":           "vocab weburl words disk/datadir disk/texts",
	"urlserver":        "vocab weburl disk/docindex urlserver/*",
	"urlserver/*":      "vocab",
	"crawler":          "vocab weburl crawler/*",
	"crawler/*":        "",
	"warc":             "",
	"storeserver":      "vocab disk/repository",
	"indexer":          "vocab weburl words disk/barrel",
	"indexer/*":        "",
	"resolver":         "vocab disk/linkdb",
	"sorter":           "vocab weburl words disk/barrel disk/segment disk/texts",
	"pagerank":         "vocab",
	"searcher":         "vocab weburl words searcher/* disk/datadir disk/segment disk/rankvector",
	"searcher/query":   "vocab weburl words",
	"searcher/suggest": "words",
	"searcher/oracle":  "vocab weburl searcher searcher/query disk/segment words", // for tests
	"web":              "vocab searcher words weburl",
	"demo":             ". vocab",
	"eval":             "vocab weburl words searcher",
	"engine":           "vocab weburl words warc urlserver crawler storeserver indexer resolver sorter pagerank searcher web disk/*",
	"cmd/anatomy":      "vocab weburl warc engine eval demo searcher web urlserver crawler crawler/* indexer/* pagerank disk/*",
	"lab/rig":          "",
	"lab/firstbench":   "lab/rig vocab engine searcher disk/*",
	"lab/postings":     "vocab searcher disk/*",
	"lab/floorbench":   "lab/rig vocab disk/*",
	"lab/freshness":    "lab/rig vocab weburl words indexer",
	"lab/load":         "lab/rig",
	"lab/peers":        "eval lab/rig",
	"lab/clients":      "",
	"lab/coverage":     "vocab weburl crawler/robots searcher disk/docindex",
	"lab/pagerank":     "pagerank",
	"lab/crashes":      "vocab disk/docindex",
	"lab/frontier":     "vocab weburl urlserver",
	"lab/urlcache":     "vocab weburl urlserver/* indexer disk/*",
	"lab/scheduling":   "vocab weburl urlserver pagerank disk/datadir disk/linkdb",
	"lab/dns":          "lab/rig crawler/dnsclient",
	"lab/neardup":      "vocab indexer",
	"lab/order":        "words",
	"lab/plot":         "",
	"lab/coroutines":   "lab/plot",
}

func TestImports(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name != "." && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		seen++
		room := path.Dir(filepath.ToSlash(file))
		if room == "." {
			room = ""
		}
		allowed, ok := lookup(room)
		if !ok {
			t.Errorf("%s: room %q is not in the table", file, room)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if imported == "anatomy" {
				imported = "anatomy/."
			}
			if own, ok := strings.CutPrefix(imported, "anatomy/"); ok && !permits(allowed, own) {
				t.Errorf("%s imports %s, which %q may not", file, own, room)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d files were looked at", seen)
	}
}

func lookup(room string) (string, bool) {
	if allowed, ok := imports[room]; ok {
		return allowed, true
	}
	for dir := room; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if allowed, ok := imports[path.Dir(dir)+"/*"]; ok {
			return allowed, true
		}
	}
	return "", false
}

func permits(allowed, own string) bool {
	list := strings.Fields(allowed)
	return slices.Contains(list, own) || slices.ContainsFunc(list, func(a string) bool {
		dir, ok := strings.CutSuffix(a, "*")
		return ok && strings.HasPrefix(own, dir)
	})
}
