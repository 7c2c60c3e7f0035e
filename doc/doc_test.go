// Package doc_test checks that what the documents name is there.
package doc_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anatomy"
)

var (
	fileName = regexp.MustCompile(`[\w.-]+(?:/[\w.-]+)+\.go\b|\b\w+_test\.go\b`)
	testName = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	function = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	link     = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
)

// A tree is what the repository holds.
type tree struct {
	files map[string]bool // by their paths, folders too
	tests map[string]bool // names of test, fuzz and benchmark functions
}

// grow reads the repository, of which doc is a folder.
func grow(t *testing.T) tree {
	t.Helper()
	grown := tree{files: make(map[string]bool), tests: make(map[string]bool)}
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(name, ".git") {
			return fs.SkipDir
		}
		grown.files[name] = true
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := fs.ReadFile(root, name)
		for _, match := range function.FindAllSubmatch(source, -1) {
			grown.tests[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return grown
}

// missing lists what a document names and the tree lacks, and counts what it names.
func (g tree) missing(name, text string) (missing []string, named int) {
	seen := make(map[string]bool)
	check := func(what string, there bool) {
		if seen[what] {
			return
		}
		seen[what] = true
		named++
		if !there {
			missing = append(missing, what)
		}
	}
	for _, file := range fileName.FindAllString(text, -1) {
		check(file, g.files[file])
	}
	for _, test := range testName.FindAllString(text, -1) {
		check(test, g.tests[test])
	}
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		target := path.Join(path.Dir(name), match[1])
		check(fmt.Sprintf("link to %s", target), g.files[target])
	}
	return missing, named
}

// Every file, test and link that a document names is there.
func TestNames(t *testing.T) {
	grown := grow(t)
	documents, named := 0, 0
	err := fs.WalkDir(anatomy.Docs, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(anatomy.Docs, name)
		missing, n := grown.missing(name, string(text))
		for _, what := range missing {
			t.Errorf("%s names %s, which does not exist", name, what)
		}
		documents, named = documents+1, named+n
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if documents < 5 || named < 100 {
		t.Errorf("%d documents with %d names: the patterns no longer fit", documents, named)
	}
}

// A name that does not exist is found out.
func TestMissingNames(t *testing.T) {
	grown := grow(t)
	text := "`vocab/hit.go` `vocab/gone.go` TestNames `TestGone` `imports_test.go` `gone_test.go` [a](formats.md#x) [b](gone.md) [c](https://example.org/gone.md)"
	missing, named := grown.missing("doc/x.md", text)
	want := []string{"vocab/gone.go", "gone_test.go", "TestGone", "link to doc/gone.md"}
	if !slices.Equal(missing, want) || named != 8 {
		t.Errorf("missing %q of %d names, want %q of 8", missing, named, want)
	}
}

// The concordance has each section of the paper once, and the formats each package of disk.
func TestComplete(t *testing.T) {
	paper := text(t, "doc/paper.md")
	for _, section := range []string{
		"§2.1", "§2.2", "§2.3", "§4.1", "§4.2.1", "§4.2.2", "§4.2.3", "§4.2.4", "§4.2.5", "§4.2.6", "§4.2.7", "§4.3", "§4.4", "§4.5",
		"§4.5.1", "§4.5.2", "§5",
	} {
		if n := strings.Count(paper, "\n## "+section+" "); n != 1 {
			t.Errorf("section %s stands in the concordance %d times", section, n)
		}
	}
	formats, architecture := text(t, "doc/formats.md"), text(t, "ARCHITECTURE.md")
	packages := folders(t, "../disk")
	for _, name := range packages {
		if !strings.Contains(formats, "`disk/"+name+"/") {
			t.Errorf("doc/formats.md lacks disk/%s", name)
		}
		if !strings.Contains(architecture, "`disk/"+name+"`") {
			t.Errorf("ARCHITECTURE.md lacks disk/%s", name)
		}
	}
	for _, room := range folders(t, "..") {
		if room != "doc" && !strings.HasPrefix(room, ".") && !strings.Contains(architecture, "\n### "+room) {
			t.Errorf("ARCHITECTURE.md has no heading for %s", room)
		}
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := anatomy.Docs.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// folders lists the folders in dir that hold Go files, at whatever depth.
func folders(t *testing.T, dir string) []string {
	t.Helper()
	found := make(map[string]bool)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if top, _, below := strings.Cut(name, "/"); below && strings.HasSuffix(name, ".go") {
			found[top] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no folders in %s", dir)
	}
	return slices.Sorted(maps.Keys(found))
}
