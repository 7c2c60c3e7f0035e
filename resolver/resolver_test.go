package resolver

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"anatomy/disk/linkdb"
	"anatomy/vocab"
)

// A web is the naive model: what pages said, and what became of documents.
type web struct {
	pages   map[vocab.DocID][]link // newest version
	aliases map[vocab.DocID]vocab.DocID
}

type link struct {
	target vocab.DocID
	text   string
	flags  vocab.LinkFlags
}

func (w *web) canonical(doc vocab.DocID) (vocab.DocID, bool) {
	for range 16 {
		of, ok := w.aliases[doc]
		if !ok {
			return doc, true
		}
		if of == 0 {
			return 0, false
		}
		doc = of
	}
	return 0, false
}

func (w *web) graph() map[vocab.DocID][]linkdb.Target {
	graph := map[vocab.DocID][]linkdb.Target{}
	for source, links := range w.pages {
		if of, ok := w.canonical(source); !ok || of != source {
			continue
		}
		flags := map[vocab.DocID]vocab.LinkFlags{}
		for _, l := range links {
			of, ok := w.canonical(l.target)
			if !ok || of == source || l.target == source {
				continue
			}
			f := l.flags & (vocab.NoFollow | vocab.Embedded)
			if old, ok := flags[of]; ok {
				f = min(f, old)
			}
			flags[of] = f
		}
		graph[source] = []linkdb.Target{}
		for _, t := range slices.Sorted(maps.Keys(flags)) {
			graph[source] = append(graph[source], linkdb.Target{Doc: t, Flags: flags[t]})
		}
	}
	return graph
}

func (w *web) anchors() map[vocab.DocID][]linkdb.AnchorText {
	credit := map[vocab.DocID]map[anchor]map[vocab.DocID]bool{}
	for source, links := range w.pages {
		if of, ok := w.canonical(source); !ok || of != source {
			continue
		}
		withText := map[vocab.DocID]bool{}
		for _, l := range links {
			if l.text != "" && l.flags&vocab.NoFollow == 0 {
				withText[l.target] = true
			}
		}
		for _, l := range links {
			of, ok := w.canonical(l.target)
			if !ok || of == source || l.target == source || l.text == "" && withText[l.target] || l.flags&vocab.NoFollow != 0 {
				continue
			}
			withText[l.target] = true // of several without text, the first one
			key := anchor{l.text, l.flags&vocab.OffSite != 0}
			if credit[of] == nil {
				credit[of] = map[anchor]map[vocab.DocID]bool{}
			}
			if credit[of][key] == nil {
				credit[of][key] = map[vocab.DocID]bool{}
			}
			credit[of][key][source] = true
		}
	}
	all := map[vocab.DocID][]linkdb.AnchorText{}
	for target, texts := range credit {
		for key, sources := range texts {
			all[target] = append(all[target], linkdb.AnchorText{Text: key.text, OffSite: key.offSite, Sources: slices.Sorted(maps.Keys(sources))})
		}
		slices.SortFunc(all[target], func(a, b linkdb.AnchorText) int {
			if c := cmp.Compare(a.Text, b.Text); c != 0 || a.OffSite == b.OffSite {
				return c
			}
			if a.OffSite {
				return 1
			}
			return -1
		})
	}
	return all
}

// TestSetEqualsWeb writes a random web as several runs, reads them as one set, merged or not, and
// compares graph, anchors and names with the model.
func TestSetEqualsWeb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "links")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		model := &web{pages: map[vocab.DocID][]link{}, aliases: map[vocab.DocID]vocab.DocID{}}
		doc := rapid.Custom(func(t *rapid.T) vocab.DocID { return vocab.DocID(rapid.IntRange(1, 30).Draw(t, "doc")) })
		var paths []string
		known := vocab.DocID(0)
		for run := range rapid.IntRange(1, 4).Draw(t, "runs") {
			var b Batch
			for range rapid.IntRange(0, 8).Draw(t, "pages") {
				source := doc.Draw(t, "source")
				var links []vocab.Link
				var targets []vocab.DocID
				var said []link
				for range rapid.IntRange(0, 6).Draw(t, "links") {
					l := link{doc.Draw(t, "target"), rapid.SampledFrom([]string{"", "home", "next page", "索引"}).Draw(t, "text"), vocab.LinkFlags(rapid.IntRange(0, 7).Draw(t, "flags"))}
					said = append(said, l)
					links, targets = append(links, vocab.Link{Text: l.text, Flags: l.flags}), append(targets, l.target)
				}
				if b.Contains(source) {
					continue // one batch has a page once
				}
				delete(model.aliases, source)
				if rapid.IntRange(0, 5).Draw(t, "released") == 0 {
					b.AddLinkedOnly(source)
					model.pages[source] = nil
					continue
				}
				b.AddPage(source, links, targets)
				model.pages[source] = said
			}
			for range rapid.IntRange(0, 3).Draw(t, "aliases") {
				a, of := doc.Draw(t, "alias"), vocab.DocID(rapid.IntRange(0, 30).Draw(t, "of"))
				if a == of || b.Contains(a) {
					continue
				}
				b.AddAlias(a, of)
				model.aliases[a] = of
			}
			newest := known + vocab.DocID(rapid.IntRange(0, 5).Draw(t, "new"))
			path := filepath.Join(dir, string(rune('a'+run)))
			if err := b.Write(path, named(known+1, newest)); err != nil {
				t.Fatal(err)
			}
			known = newest
			paths = append(paths, path)
		}
		compare(t, model, known, paths)
		merged := filepath.Join(dir, "merged")
		n := rapid.IntRange(1, len(paths)).Draw(t, "merged") // those before the last stay unmerged
		if err := linkdb.Merge(paths[:n], merged); err != nil {
			t.Fatal(err)
		}
		compare(t, model, known, append([]string{merged}, paths[n:]...))
		if _, err := linkdb.Check(merged); err != nil {
			t.Fatal(err)
		}
	})
}

func named(from, to vocab.DocID) func(func(linkdb.Name, error) bool) {
	return func(yield func(linkdb.Name, error) bool) {
		for doc := from; doc <= to; doc++ {
			if !yield(linkdb.Name{Doc: doc, URL: "http://a.test/"}, nil) {
				return
			}
		}
	}
}

func compare(t *rapid.T, model *web, known vocab.DocID, paths []string) {
	s, err := linkdb.OpenSet(paths)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	graph := map[vocab.DocID][]linkdb.Target{}
	for source, err := range s.Links() {
		if err != nil {
			t.Fatal(err)
		}
		graph[source.Doc] = append([]linkdb.Target{}, source.Targets...)
	}
	if want := model.graph(); !reflect.DeepEqual(graph, want) {
		t.Fatalf("graph of %d runs:\n%v\nwant\n%v", len(paths), graph, want)
	}
	anchors, last := map[vocab.DocID][]linkdb.AnchorText{}, vocab.DocID(0)
	for a, err := range s.Anchors() {
		if err != nil {
			t.Fatal(err)
		}
		if a.Doc <= last {
			t.Fatalf("anchors of %d come after those of %d", a.Doc, last)
		}
		last = a.Doc
		anchors[a.Doc] = a.Texts
	}
	if want := model.anchors(); !reflect.DeepEqual(anchors, want) {
		t.Fatalf("anchors of %d runs:\n%v\nwant\n%v", len(paths), anchors, want)
	}
	left := maps.Clone(anchors)
	for a, err := range s.AnchorsOf(func(doc vocab.DocID) bool { return doc%2 == 0 }) {
		if err != nil || a.Doc%2 != 0 || !reflect.DeepEqual(a.Texts, anchors[a.Doc]) {
			t.Fatalf("anchors of %d alone: %v, %v", a.Doc, a.Texts, err)
		}
		delete(left, a.Doc)
	}
	for doc := range left {
		if doc%2 == 0 {
			t.Fatalf("anchors of %d are left out", doc)
		}
	}
	lookUp(t, s, graph, anchors, known)
	n := vocab.DocID(0)
	for name, err := range s.Names() {
		if n++; err != nil || name.Doc != n {
			t.Fatalf("name %d is of %d, %v", n, name.Doc, err)
		}
	}
	if n != known {
		t.Fatalf("%d names, want %d", n, known)
	}
}

// lookUp finds single documents, in any order, and compares them with the walks.
func lookUp(t *rapid.T, s *linkdb.Set, graph map[vocab.DocID][]linkdb.Target, anchors map[vocab.DocID][]linkdb.AnchorText, known vocab.DocID) {
	f := s.Finder()
	for range 40 {
		doc := vocab.DocID(rapid.IntRange(1, 33).Draw(t, "looked up"))
		source, err := f.Links(doc)
		if err != nil {
			t.Fatal(err)
		}
		existing := slices.DeleteFunc(slices.Clone(source.Targets), func(l linkdb.Target) bool { _, ok := s.Canonical(l.Doc); return !ok })
		if want := graph[doc]; !slices.Equal(existing, want) {
			t.Fatalf("links of %d: %v, want %v", doc, existing, want)
		}
		if a, err := f.Anchors(doc); err != nil || s.IsCanonical(doc) && !(len(a.Texts) == 0 && len(anchors[doc]) == 0) && !reflect.DeepEqual(a.Texts, anchors[doc]) {
			t.Fatalf("anchors of %d: %v, %v, want %v", doc, a.Texts, err, anchors[doc])
		}
		if url, ok, err := f.URL(doc); err != nil || ok != (doc <= known) || ok && url != "http://a.test/" {
			t.Fatalf("URL of %d: %q, %v, %v", doc, url, ok, err)
		}
	}
}

func TestDump(t *testing.T) {
	var b Batch
	b.AddPage(7, []vocab.Link{{Text: "home"}, {Text: "away", Flags: vocab.OffSite}, {Text: "ad", Flags: vocab.NoFollow}, {Text: "top"}}, []vocab.DocID{9, 3, 12, 7})
	b.AddPage(8, []vocab.Link{{Text: "home"}}, []vocab.DocID{9})
	b.AddAlias(4, 9)
	b.AddNotFound(5)
	b.AddNoIndex(8)
	path := filepath.Join(t.TempDir(), "run")
	if err := b.Write(path, named(1, 2)); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := linkdb.Dump(&out, path); err != nil {
		t.Fatal(err)
	}
	const want = `name 1 http://a.test/
name 2 http://a.test/
alias 4 of 9
dropped 5
hidden 8
links 7 to 3 9 12(nofollow)
links 8 to 9
anchor 3 web "away" from [7]
anchor 9 site "home" from [7 8]
`
	if out.String() != want {
		t.Errorf("dump:\n%s\nwant:\n%s", out.String(), want)
	}
}

// TestDamage flips every byte of a run in turn: each must be noticed, or change nothing.
func TestDamage(t *testing.T) {
	var b Batch
	for doc := range vocab.DocID(20) {
		b.AddPage(doc+1, []vocab.Link{{Text: "next"}, {Text: "home"}}, []vocab.DocID{doc + 2, 1})
	}
	b.AddAlias(30, 2)
	path := filepath.Join(t.TempDir(), "run")
	if err := b.Write(path, named(1, 20)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	quiet := 0
	for i := range whole {
		damaged := slices.Clone(whole)
		damaged[i] ^= 0x41
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := linkdb.Check(path)
		var corrupt *linkdb.CorruptError
		if err == nil {
			quiet++
		} else if !errors.As(err, &corrupt) {
			t.Fatalf("byte %d: %v, want a CorruptError", i, err)
		}
	}
	if quiet > len("anatlnk1") { // the first magic is for people: the directory has its own
		t.Errorf("%d of %d flipped bytes went unnoticed", quiet, len(whole))
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := linkdb.Check(path); err == nil {
			t.Fatalf("cut at %d: no error", n)
		}
	}
}
