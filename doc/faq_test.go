package doc_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestErrors: each error of the table is written in the code. "…" stands for what is filled in.
func TestErrors(t *testing.T) {
	text, err := os.ReadFile("faq.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	err = fs.WalkDir(os.DirFS(".."), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			var source []byte
			source, err = os.ReadFile(path.Join("..", name))
			code.WriteString(strings.ReplaceAll(string(source), `\"`, `"`))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	errors := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\|").FindAllSubmatch(text, -1) {
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(string(row[1]), -1) {
			errors++
			for part := range strings.SplitSeq(strings.Trim(quoted, "`"), "…") {
				if part = strings.Trim(part, " .:;?,"); part != "" && !strings.Contains(code.String(), part) {
					t.Errorf("%s: nothing says %q", quoted, part)
				}
			}
		}
	}
	if errors < 35 {
		t.Fatalf("only %d errors found", errors)
	}
}
