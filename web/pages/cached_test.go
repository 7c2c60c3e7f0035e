package pages

import (
	"bytes"
	"strings"
	"testing"

	"anatomy/collection"
	"anatomy/vocab"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/text"
)

// TestMarks goes from mark to mark of pages, forth and back, and from a section to its neighbours.
func TestMarks(t *testing.T) {
	for n := range 5 {
		page := numberMarks([]byte(strings.Repeat("a <mark>b</mark>", n)))
		seen, mark := 1, 0
		for {
			before, after := marksAround(page, "", mark)
			if want := max(mark, 1) - 1; before != want {
				t.Errorf("%d marks: before %d is %d", n, mark, before)
			}
			if after == 0 {
				break
			}
			if mark = after; after != seen+1 {
				t.Fatalf("%d marks: after %d is %d", n, seen, after)
			}
			seen++
		}
		if seen != max(n, 1) {
			t.Errorf("%d of %d marks were reached", seen, n)
		}
		if before, after := marksAround(page, "", n+7); before != n || after != 0 {
			t.Errorf("%d marks: far after the last, %d and %d", n, before, after)
		}
	}
	page := numberMarks([]byte(`<mark>a</mark><h2 id="b&#34;c">d</h2><mark>e</mark>`))
	if before, after := marksAround(page, `b"c`, 0); before != 1 || after != 2 {
		t.Errorf("around a section: %d and %d", before, after)
	}
	if got := passageID(`b"c`, 0) + " " + passageID("b", 3) + " " + passageID("", 0); got != "b%22c anatomy-mark-3 anatomy-mark-1" {
		t.Error(got)
	}
}

// TestCutFrame: the note at the end of a page that is too long is in the reader's language.
func TestCutFrame(t *testing.T) {
	page := &reader.Page{Page: &vocab.Page{URL: "http://a.test/", ContentType: "text/plain", Body: bytes.Repeat([]byte("word "), 4<<20)}}
	got := string(renderCached(messages.For("de"), page, text.NewMarker(nil), ""))
	if want := `<hr><p lang="de" dir="ltr">Der Rest dieser Seite wird nicht gezeigt, weil er zu lang ist.</p></body></html>`; !strings.Contains(got[len(got)-200:], want) {
		t.Errorf("no %s at the end: %s", want, got[len(got)-200:])
	}
}

// TestOperations: the page of a service begins with a list of its operations, which has no marks.
func TestOperations(t *testing.T) {
	const operation = `<section id="operation-a"><h2>Read <mark>a</mark></h2>` + "\n" + `<p><code>GET /a</code> <code>a</code></p></section>`
	content := []byte("<h1>A</h1>" + operation + strings.ReplaceAll(operation, "operation-a", "operation-b"))
	got := string(withOperations(messages.English(), &reader.Page{Life: &collection.Life{}}, content))
	want := `<h1>A</h1><nav lang="en"><details open><summary>operations: 2</summary><ul><li><a href="#operation-a">Read a</a> <code>GET /a</code></li>` +
		`<li><a href="#operation-b">Read a</a> <code>GET /a</code></li></ul></details></nav>` + "\n" + operation
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if other := withOperations(messages.English(), &reader.Page{}, content); !bytes.Equal(other, content) {
		t.Errorf("another page is changed: %s", other)
	}
}
