package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"anatomy/web/internal/reported"
)

// TestTemplatesAreTranslated: no template has visible text outside messages, but names and examples.
func TestTemplatesAreTranslated(t *testing.T) {
	names, _ := filepath.Glob("../internal/frame/templates/*.html")
	if len(names) < 20 {
		t.Fatalf("only %d templates", len(names))
	}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range untranslated(string(source)) {
			t.Errorf("%s has %q, which is no message", filepath.Base(name), text)
		}
	}
	for source, want := range map[string]string{
		`<p>{{t "Search"}} <code>anatomy crawl</code> {{.N}} · <kbd>Enter</kbd></p>`:     "",
		`<p>{{if .N}}Nothing{{else}}{{t "Search"}}{{end}}</p>`:                           "Nothing",
		`<input aria-label="Page limit" placeholder="{{t "Search"}}">`:                   "Page limit",
		`<input placeholder="page {{.N}}"><textarea>{{.Text}}</textarea>`:                "page",
		`<h1>API</h1><th>MRR@10</th><input placeholder="https://example.org/" name="q">`: "",
	} {
		if got := strings.Join(untranslated(source), ", "); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

var (
	actionInTemplate = regexp.MustCompile("\\{\\{(?:\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|[^}\"`])*\\}\\}")
	bodyClass        = regexp.MustCompile(`\{\{define "kind"\}\}.*?\{\{end\}\}`)
	word             = regexp.MustCompile(`\p{L}{2}`)
)

// sameInAll are names and examples that a template may have as they are.
var sameInAll = []string{
	"API", "JSON", "PageRank", "PageRank:", "MRR@10", "success@1", "nDCG@10", "postgres = PostgreSQL", "spam.example",
	"example.org/calendar/*", "https://example.org/", "https://example.org/page", "de, pt",
}

// untranslated returns the visible texts of a template outside its actions and elements of code.
func untranslated(source string) (all []string) {
	source = bodyClass.ReplaceAllString(source, "")
	z := html.NewTokenizer(strings.NewReader(actionInTemplate.ReplaceAllString(source, " ")))
	add := func(text string) {
		text = strings.Join(strings.Fields(text), " ")
		if word.MatchString(text) && !slices.Contains(sameInAll, text) {
			all = append(all, text)
		}
	}
	code := 0 // open elements of code
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return all
		case html.TextToken:
			if text := string(z.Text()); code == 0 {
				add(text)
			}
		default:
			token := z.Token()
			if token.Data == "noscript" {
				z.NextIsNotRawText()
			}
			if slices.Contains([]string{"code", "kbd", "pre", "script", "style"}, token.Data) {
				switch kind {
				case html.StartTagToken:
					code++
				case html.EndTagToken:
					code--
				}
			}
			for _, a := range token.Attr {
				if slices.Contains([]string{"aria-label", "placeholder", "title", "alt"}, a.Key) {
					add(a.Val)
				}
			}
		}
	}
}

// TestProblemsAreTranslated: the message of each problem that a page can show is among the formats that
// the catalogues translate.
func TestProblemsAreTranslated(t *testing.T) {
	argument := map[string]int{"BadParameter": 0, "NotFound": 0, "Forbidden": 0, "Fail": 0, "NewProblem": 3, "orNotFound": 1}
	found := 0
	for _, folder := range []string{".", "../admin", "../internal/access", "../internal/address", "../internal/frame",
		"../internal/params", "../internal/reader", "../internal/respond", "../internal/session"} {
		names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/body.go") { // for programs
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				_, called := nameOf(call.Fun)
				at, known := argument[called]
				if !known || at >= len(call.Args) {
					return true
				}
				literal, ok := call.Args[at].(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				text = strings.ReplaceAll(text, "%q", `"%s"`)
				if found++; !slices.Contains(reported.Formats, text) {
					t.Errorf("%s: package reported lacks %q", name, text)
				}
				return true
			})
		}
	}
	if found < 50 {
		t.Errorf("only %d problems", found)
	}
}
