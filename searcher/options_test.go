package searcher_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"anatomy/analysis"
	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// TestOptions checks that words after a minus are searched for if the pages that have them show
// them as options, and exclude pages otherwise.
func TestOptions(t *testing.T) {
	texts := []string{
		"ant builds with -buildfile FILE", "the buildfile of ant is given by -buildfile", "ant at home",
		"jaguar car", "jaguar car, an e-car", "jaguar cat", "search for jaguar -car",
		"rm -rf removes all", "rm --force and rm alone", "jaguar car 2", "jaguar car 3",
		"tar xzf one", "tar xzf two", "tar xzf three", "tar -xzf four", "tar cf five",
		"pip user", "pip user two", "pip -user three", "pip user four", "pip", "user", "user two", "user three",
		"car", "car two",
		"ls la paz", "ls and la", "la ls", "la, or ls", "ls of la", "la with ls", "ls in la", "la by ls", "la at ls", "run ls -la here",
		"find . -name x", "name to find x", "gcc -c one.c -lm", "gcc one lm c",
		"la", "la two",
	}
	var pages oracle.Segment
	info := map[vocab.DocID]string{}
	for i, text := range texts {
		d := &oracle.Document{
			Doc: vocab.DocID(i + 1), URL: fmt.Sprintf("http://options.org/%d", i+1), Crawled: true,
			Words: map[string][]vocab.Hit{},
		}
		for at, word := range analysis.PhraseTerms(text) {
			hit := vocab.MakeHit(uint32(at), vocab.Plain, false, vocab.NormalSize)
			d.Words[word] = append(d.Words[word], hit)
			d.Length++
		}
		info[d.Doc] = text
		pages.Documents = append(pages.Documents, d)
	}
	f := newFolder(t)
	f.add(pages, func(d *oracle.Document) vocab.DocInfo {
		i := bare(d)
		i.Text = info[d.Doc]
		return i
	})
	f.publish()
	s := f.open(searcher.Options{})
	laPages := []vocab.DocID{27, 28, 29, 30, 31, 32, 33, 34, 35, 36}
	for text, want := range map[string]struct {
		docs       []vocab.DocID
		suggestion string
	}{
		"ant -buildfile":       {[]vocab.DocID{1, 2}, `ant -"buildfile"`},
		`ant -"buildfile"`:     {[]vocab.DocID{3}, ""},
		"rm -rf":               {[]vocab.DocID{8}, `rm -"rf"`},
		"rm -force":            {[]vocab.DocID{8}, ""},                         // --force is another
		"jaguar -car":          {[]vocab.DocID{6}, "jaguar car"},               // one page shows -car
		"jaguar -cat":          {[]vocab.DocID{4, 5, 7, 10, 11}, "jaguar cat"}, // three letters may be three options
		`"jaguar" -car`:        {[]vocab.DocID{6}, ""},
		"-car":                 {nil, "car"},
		"rm -nosuchword":       {[]vocab.DocID{8, 9}, ""},
		"-nosuchword":          {nil, ""},
		"-paz":                 {nil, "paz"},                                  // without it no word is left
		"ls -la":               {laPages, `ls -"la"`},                         // of the pages with "ls la" one in two shows -la
		`find . -name "x"`:     {[]vocab.DocID{37, 38}, `find . -"name" "x"`}, // a command by its path
		"find -name x":         {[]vocab.DocID{37, 38}, `find -"name" x`},
		`find -name "x"`:       {nil, ""},
		"gcc -c -lm":           {[]vocab.DocID{39, 40}, `gcc -c -"lm"`},       // by its other option
		"tar -xzf":             {[]vocab.DocID{12, 13, 14, 15}, `tar -"xzf"`}, // no page has xzf without tar
		"pip -user":            {[]vocab.DocID{21}, "pip user"},               // one page in five shows -user
		"ant -buildfile -home": {nil, ""},
	} {
		req := searcher.Request{Query: text, Strict: true, Within: time.Hour, Explain: true}
		resp := ask(t, s, req)
		var docs []vocab.DocID
		for _, r := range resp.Results {
			docs = append(docs, r.Doc)
			e, err := s.Explain(t.Context(), req, r.URL)
			must(t, err)
			if !e.Matches || e.Score != r.Score {
				t.Errorf("%s: %s is explained as another score", text, r.URL)
			}
		}
		slices.Sort(docs)
		if !slices.Equal(docs, want.docs) || resp.Suggestion != want.suggestion {
			t.Errorf("%s: %v, proposed %q; want %v and %q", text, docs, resp.Suggestion, want.docs, want.suggestion)
		}
	}
	must(t, s.Learn(t.Context()))
	for text, want := range map[string][2]string{
		"fnid . -name x": {"find . -name x", `find . -"name" x`}, // the minus remains
		"find . -nmae x": {"", `find . -"nmae" x`},
	} {
		resp := ask(t, s, searcher.Request{Query: text, Strict: true, Within: time.Hour})
		if resp.Corrected != want[0] || resp.Suggestion != want[1] || want[0] != "" && resp.Total != 2 {
			t.Errorf("%s: answered %q with %d pages, proposed %q; want %q", text, resp.Corrected, resp.Total, resp.Suggestion, want)
		}
	}
}
