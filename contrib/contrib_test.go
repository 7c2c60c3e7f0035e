// Package contrib_test holds what is not built against the program.
package contrib_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

var metric = regexp.MustCompile(`\banatomy_[a-z_]+[a-z]\b`)

// The board asks for metrics that doc/operations.md has, and every metric there is one of the program.
func TestBoard(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	board, doc := read("grafana.json"), read("../doc/operations.md")
	if !json.Valid([]byte(board)) {
		t.Fatal("grafana.json is no JSON")
	}
	asked := metric.FindAllString(board, -1)
	if len(asked) < 10 {
		t.Fatalf("only %d metrics on the board", len(asked))
	}
	for _, name := range asked {
		if name = strings.TrimSuffix(name, "_bucket"); !strings.Contains(doc, name) {
			t.Errorf("the board asks for %s, which doc/operations.md does not have", name)
		}
	}
	source := read("../web/metrics.go")
	for _, name := range metric.FindAllString(doc, -1) {
		if plain := strings.TrimPrefix(name, "anatomy_crawl_"); !strings.Contains(source, `"`+name+`"`) && !strings.Contains(source, `"`+plain+`"`) {
			t.Errorf("doc/operations.md has %s, web/metrics.go does not", name)
		}
	}
}
