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
	"unicode/utf8"

	"anatomy"
)

const maxLine = 120 // characters in a line of a document

var (
	fileName      = regexp.MustCompile(`[\w.-]+(?:/[\w.-]+)+\.go\b|\b\w+_test\.go\b`)
	testName      = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	function      = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	citedDecision = regexp.MustCompile(`\bdecision ([0-9]{4})\b`)
	link          = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
)

// A tree is what the repository holds.
type tree struct {
	files     map[string]bool // by path, folders included
	tests     map[string]bool // names of test, fuzz and benchmark functions
	documents []string        // paths of Markdown files at the root and below doc
	cited     map[string]int  // decisions that Go files cite, by number
}

// readTree reads the repository, of which doc is a folder.
func readTree(t *testing.T) tree {
	t.Helper()
	repository := tree{
		files: make(map[string]bool),
		tests: make(map[string]bool),
		cited: make(map[string]int),
	}
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(name, ".git") {
			return fs.SkipDir
		}
		repository.files[name] = true
		switch dir := path.Dir(name); path.Ext(name) {
		case ".md":
			if dir == "." || dir == "doc" || strings.HasPrefix(dir, "doc/") {
				repository.documents = append(repository.documents, name)
			}
		case ".go":
			source, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			for _, match := range citedDecision.FindAllSubmatch(source, -1) {
				repository.cited[string(match[1])]++
			}
			if strings.HasSuffix(name, "_test.go") {
				for _, match := range function.FindAllSubmatch(source, -1) {
					repository.tests[string(match[1])] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return repository
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

// Every file, test and link that a document names exists.
func TestNames(t *testing.T) {
	repository := readTree(t)
	named := 0
	for _, name := range repository.documents {
		missing, n := repository.missing(name, read(t, name))
		for _, what := range missing {
			t.Errorf("%s names %s, which does not exist", name, what)
		}
		named += n
	}
	if len(repository.documents) < 20 || named < 100 {
		t.Errorf("%d documents with %d names: the patterns no longer fit", len(repository.documents), named)
	}
}

// Lines of documents end at 120 characters, those of tables and code included.
func TestLineLength(t *testing.T) {
	lines := 0
	for _, name := range readTree(t).documents {
		for i, line := range strings.Split(read(t, name), "\n") {
			if n := utf8.RuneCountInString(line); n > maxLine {
				t.Errorf("%s:%d has %d characters, at most %d", name, i+1, n, maxLine)
			}
			lines++
		}
	}
	if lines < 1000 {
		t.Errorf("only %d lines of documents", lines)
	}
}

// The documents that the binary carries are those of the repository, single decisions apart.
func TestEmbedded(t *testing.T) {
	embedded := 0
	for _, name := range readTree(t).documents {
		_, err := fs.Stat(anatomy.Docs, name)
		if single := decisionFile.MatchString(path.Base(name)); single == (err == nil) {
			t.Errorf("%s: embedded %v", name, err == nil)
		}
		if err == nil {
			embedded++
		}
	}
	if embedded < 10 {
		t.Errorf("only %d documents are embedded", embedded)
	}
}

// TestNames would notice names that do not exist.
func TestMissingNames(t *testing.T) {
	repository := readTree(t)
	text := "`vocab/hit.go` `vocab/gone.go` TestNames `TestGone` `imports_test.go` `gone_test.go` " +
		"[a](design/formats.md#x) [b](gone.md) [c](https://example.org/gone.md)"
	missing, named := repository.missing("doc/x.md", text)
	want := []string{"vocab/gone.go", "gone_test.go", "TestGone", "link to doc/gone.md"}
	if !slices.Equal(missing, want) || named != 8 {
		t.Errorf("missing %q of %d names, want %q of 8", missing, named, want)
	}
}

// The concordance has each section of the paper once, and the table of formats each package of disk.
func TestComplete(t *testing.T) {
	paper := read(t, "doc/design/paper.md")
	for _, section := range []string{
		"§2.1", "§2.2", "§2.3", "§4.1", "§4.2.1", "§4.2.2", "§4.2.3", "§4.2.4", "§4.2.5", "§4.2.6", "§4.2.7", "§4.3", "§4.4", "§4.5",
		"§4.5.1", "§4.5.2", "§5",
	} {
		if n := strings.Count(paper, "\n## "+section+" "); n != 1 {
			t.Errorf("section %s is in the concordance %d times", section, n)
		}
	}
	formats, architecture := read(t, "doc/design/formats.md"), read(t, "ARCHITECTURE.md")
	packages := folders(t, "../disk")
	for _, name := range packages {
		if !strings.Contains(formats, "`disk/"+name+"/") {
			t.Errorf("doc/design/formats.md lacks disk/%s", name)
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

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../" + name)
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
