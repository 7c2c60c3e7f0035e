package searcher_test

import (
	"fmt"
	"slices"
	"testing"

	"anatomy/analysis"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// TestCorrectionsInContext checks that words are corrected by their neighbours: to a rarer word if
// that occurs beside them, several at once, words of the collection too, and spaces.
func TestCorrectionsInContext(t *testing.T) {
	var pages oracle.Segment
	doc := vocab.DocID(0)
	add := func(n int, text string) {
		for range n {
			doc++
			d := &oracle.Document{
				Doc: doc, URL: fmt.Sprintf("http://books.org/%d", doc), Crawled: true,
				Words: map[string][]vocab.Hit{},
			}
			for i, word := range analysis.PhraseTerms(text) {
				hit := vocab.MakeHit(uint32(i), vocab.Plain, false, vocab.NormalSize)
				d.Words[word] = append(d.Words[word], hit)
				d.Length++
			}
			pages.Documents = append(pages.Documents, d)
		}
	}
	add(60, "git rebase moves commits")
	add(300, "reuse of old things with git or without")
	add(300, "every commit message is read, says git")
	add(30, "read csv files of all kinds")
	add(40, "the database was empty")
	add(2, "somebody wrote git comit once, and a message")
	slices.SortFunc(pages.Documents, func(a, b *oracle.Document) int { return int(a.Doc) - int(b.Doc) })
	f := newFolder(t)
	f.add(pages, bare)
	f.publish()
	s := learned(t, f)
	for text, want := range map[string]struct{ corrected, suggestion string }{
		"git rebse":                     {corrected: "git rebase"},
		"rebse":                         {corrected: "reuse"}, // which more pages have
		"Git Rebse":                     {corrected: "Git Rebase"},
		"evry comit mesage":             {corrected: "every commit message"},
		"every comit":                   {corrected: "every commit"}, // no page has both
		"comit message":                 {suggestion: "commit message"},
		"git comit":                     {}, // a page has these words side by side
		"how evry comit mesage is read": {corrected: "how every commit message is read"},
		"readcsv":                       {corrected: "read csv"},
		"Readcsv fles":                  {corrected: "Read csv files"},
		"empty data base":               {corrected: "empty database"},
		"git things":                    {},
	} {
		resp := ask(t, s, searcher.Request{Query: text})
		if resp.Corrected != want.corrected || resp.Suggestion != want.suggestion {
			t.Errorf("%s: answered %q, proposed %q; want %q and %q",
				text, resp.Corrected, resp.Suggestion, want.corrected, want.suggestion)
		}
	}
}
