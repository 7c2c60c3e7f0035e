package indexer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"anatomy/analysis"
	"anatomy/indexer/internal/decode"
	"anatomy/vocab"
)

// treeWords is the oracle of the state machine: the words of the body by way of the tree that the
// HTML standard makes of a page.
func treeWords(t testing.TB, body []byte) []string {
	t.Helper()
	body, err := decode.UTF8(body, "text/html", "")
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
			return
		}
		k := kindOf(n.DataAtom)
		if n.Type == html.ElementNode {
			if k&(block|spacer) != 0 {
				text.WriteString("\n")
				defer text.WriteString("\n")
			}
			if n.DataAtom == atom.Img {
				text.WriteString(nodeAttr(n, "alt"))
			}
			if k&skipped != 0 || n.DataAtom == atom.Title || k&void == 0 && n.DataAtom != atom.Body && n.DataAtom != atom.Html && nodeHides(n) {
				return
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return allWords(text.String())
}

// allWords are the words that are found in a text.
func allWords(text string) (all []string) {
	var cut analysis.Tokenizer
	cut.EachTerm([]byte(text), func(word []byte, _, _ int) { all = append(all, string(word)) })
	return all
}

// nodeAttr is the value of an attribute of n, "" where there is none.
func nodeAttr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// nodeHides says whether the attributes of n hide it.
func nodeHides(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "hidden" && a.Val != "until-found" {
			return true
		}
	}
	return displaysNone([]byte(nodeAttr(n, "style")))
}

// hitWords returns the terms of the body without those with signs.
func hitWords(d *Document) (all []string) {
	for word, hit := range d.Hits() {
		if hit.Field() == vocab.Body && !hasSigns(string(word)) {
			all = append(all, string(word))
		}
	}
	return all
}

func hasSigns(term string) bool {
	return strings.ContainsFunc(term, func(r rune) bool {
		return r < utf8.RuneSelf && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// TestAgainstTree compares on pages whose elements are nested as they should be.
func TestAgainstTree(t *testing.T) {
	inline := []string{"b", "i", "em", "code", "span", "a href=x", "font size=5", "small", "span hidden", "a", "u"}
	blocks := []string{"div", "p", "h1", "h3", "ul", "section", "blockquote", "pre", "div hidden", "div style='display:none'", "table", "svg", "noscript", "script", "template", "select", "p hidden"}
	outsideList := append([]string{"li hidden"}, blocks...) // within a list it would end elements between, which takes a tree
	text := []string{"word ", "wo", "d\u00e9j\u00e0", "\n", "&amp;", "Two words", "<br>", "<img alt='an image'>", "東京", "<!-- no -->"}
	rapid.Check(t, func(rt *rapid.T) {
		var page strings.Builder
		var element func(depth int, inlineOnly bool)
		lists := 0 // that are open
		element = func(depth int, inlineOnly bool) {
			for range rapid.IntRange(1, 3).Draw(rt, "children") {
				switch kind := rapid.IntRange(0, 2).Draw(rt, "kind"); {
				case kind == 0 || depth == 0:
					page.WriteString(rapid.SampledFrom(text).Draw(rt, "text"))
				case kind == 1 || inlineOnly:
					tag := rapid.SampledFrom(inline).Draw(rt, "inline")
					name, _, _ := strings.Cut(tag, " ")
					fmt.Fprintf(&page, "<%s>", tag)
					if name == "a" {
						page.WriteString("anchor")
					} else {
						element(depth-1, true)
					}
					fmt.Fprintf(&page, "</%s>", name)
				default:
					possible := outsideList
					if lists > 0 {
						possible = blocks
					}
					tag := rapid.SampledFrom(possible).Draw(rt, "block")
					name, _, _ := strings.Cut(tag, " ")
					fmt.Fprintf(&page, "<%s>", tag)
					switch name {
					case "ul":
						page.WriteString("<li>")
						lists++
						element(depth-1, false)
						lists--
						page.WriteString("<li hidden>")
						element(depth-1, true)
						page.WriteString("<li>")
						element(depth-1, true)
					case "table":
						page.WriteString("<tr><td>")
						element(depth-1, true)
						page.WriteString("<td hidden>")
						element(depth-1, true)
						page.WriteString("<tr><th>")
						element(depth-1, true)
					case "svg", "select", "script":
						page.WriteString("inner")
					case "div", "section", "blockquote", "template":
						element(depth-1, false)
					default:
						element(depth-1, true)
					}
					fmt.Fprintf(&page, "</%s>", name)
				}
			}
		}
		element(5, false)
		body := page.String()
		if got, want := hitWords(parseHTML(t, body)), treeWords(t, []byte(body)); !slices.Equal(got, want) {
			rt.Fatalf("%s:\n got %q\nwant %q", body, got, want)
		}
	})
}

// TestAgainstTreeOnPages compares on the pages of the folder that ANATOMY_PAGES names.
func TestAgainstTreeOnPages(t *testing.T) {
	dir := os.Getenv("ANATOMY_PAGES")
	if dir == "" {
		t.Skip("ANATOMY_PAGES names no folder of pages")
	}
	pages, different := 0, 0
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(path, ".html") {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		got, want := hitWords(parseHTML(t, string(body))), treeWords(t, body)
		if len(got) == len(want) && !slices.Equal(got, want) { // the tree moves stray text in front of its table
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			different++
			if different < 20 {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				t.Logf("%s: %d words, should be %d; from word %d on %q, should be %q", path, len(got), len(want), i, got[max(i-5, 0):min(i+8, len(got))], want[max(i-5, 0):min(i+8, len(want))])
			}
		}
		return nil
	})
	t.Logf("%d of %d pages differ", different, pages)
	if pages == 0 || different > 0 {
		t.Fail()
	}
}
