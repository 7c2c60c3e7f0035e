// Package resolver is the URLresolver of BP98 §4.1: it takes the links of pages, whose targets have
// their docIDs by now, credits anchor text to the document that it points to, and writes the link
// database that PageRank is computed from.
package resolver

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"anatomy/disk/linkdb"
	"anatomy/vocab"
)

// maxText bounds an anchor, in bytes. Longer ones are whole paragraphs made clickable, and are cut.
const maxText = 256

// A Batch gathers the links of some pages until it is written as one run of the link database. The
// zero Batch is empty and ready. It belongs to one goroutine.
type Batch struct {
	sources map[vocab.DocID][]linkdb.Target
	anchors map[vocab.DocID]map[wording][]vocab.DocID
	aliases map[vocab.DocID]vocab.DocID // 0: the document does not exist
	hidden  map[vocab.DocID]bool
	worded  map[vocab.DocID]bool // of the page at hand: targets that it links to with words

	released map[vocab.DocID]bool
}

type wording struct {
	text    string
	offSite bool
}

// Page adds the links of a page; targets[i] is the docID of links[i].Target. Nofollow links are kept
// in the graph, with their flag, and their words are credited to nobody. A target that the page
// links to without any words is credited with the empty text. A batch speaks of a document once: see
// [Batch.Holds].
func (b *Batch) Page(source vocab.DocID, links []vocab.Link, targets []vocab.DocID) {
	b.begin()
	clear(b.worded)
	found := make([]linkdb.Target, 0, len(links))
	for i, l := range links {
		target := targets[i]
		if target == 0 || target == source {
			continue
		}
		found = append(found, linkdb.Target{Doc: target, Flags: l.Flags & (vocab.NoFollow | vocab.Embedded)})
		if l.Text != "" && l.Flags&vocab.NoFollow == 0 {
			b.credit(target, wording{text: cut(l.Text), offSite: l.Flags&vocab.OffSite != 0}, source)
			b.worded[target] = true
		}
	}
	for i, l := range links {
		if target := targets[i]; target != 0 && target != source && l.Flags&vocab.NoFollow == 0 && !b.worded[target] {
			b.credit(target, wording{offSite: l.Flags&vocab.OffSite != 0}, source)
			b.worded[target] = true
		}
	}
	slices.SortFunc(found, func(x, y linkdb.Target) int {
		return cmp.Or(cmp.Compare(x.Doc, y.Doc), cmp.Compare(x.Flags, y.Flags))
	})
	found = slices.CompactFunc(found, func(x, y linkdb.Target) bool { return x.Doc == y.Doc })
	b.sources[source] = found
}

func (b *Batch) begin() {
	if b.sources == nil {
		b.sources = map[vocab.DocID][]linkdb.Target{}
		b.anchors = map[vocab.DocID]map[wording][]vocab.DocID{}
		b.released = map[vocab.DocID]bool{}
		b.worded = map[vocab.DocID]bool{}
	}
}

// Release says that doc, which was a page, an alias or gone, is now known by the links to it alone.
func (b *Batch) Release(doc vocab.DocID) {
	b.begin()
	b.sources[doc] = nil // an empty record ends what older runs say
	b.released[doc] = true
}

// Holds says whether the batch speaks of a document already.
func (b *Batch) Holds(doc vocab.DocID) bool {
	_, page := b.sources[doc]
	_, settled := b.aliases[doc]
	return page || settled || b.hidden[doc]
}

func (b *Batch) credit(target vocab.DocID, words wording, source vocab.DocID) {
	texts := b.anchors[target]
	if texts == nil {
		texts = map[wording][]vocab.DocID{}
		b.anchors[target] = texts
	}
	if sources := texts[words]; len(sources) == 0 || sources[len(sources)-1] != source {
		texts[words] = append(sources, source)
	}
}

// cut bounds a text, at a whole character.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Alias says that doc is another URL of the document of: a redirect or a duplicate.
func (b *Batch) Alias(doc, of vocab.DocID) { b.settle(doc, of) }

// Drop says that doc does not exist.
func (b *Batch) Drop(doc vocab.DocID) { b.settle(doc, 0) }

func (b *Batch) settle(doc, of vocab.DocID) {
	if b.aliases == nil {
		b.aliases = map[vocab.DocID]vocab.DocID{}
	}
	b.aliases[doc] = of
}

// Hide says that doc asks not to be shown.
func (b *Batch) Hide(doc vocab.DocID) {
	if b.hidden == nil {
		b.hidden = map[vocab.DocID]bool{}
	}
	b.hidden[doc] = true
}

// Removed lists the documents that Alias, Drop, Hide and Release named, ascending: those whose pages an
// index must not show.
func (b *Batch) Removed() []vocab.DocID {
	all := slices.Concat(slices.Collect(maps.Keys(b.aliases)), slices.Collect(maps.Keys(b.hidden)), slices.Collect(maps.Keys(b.released)))
	slices.Sort(all)
	return slices.Compact(all)
}

// Empty says whether there is anything to write.
func (b *Batch) Empty() bool {
	return len(b.sources) == 0 && len(b.aliases) == 0 && len(b.hidden) == 0
}

// Write publishes the batch as a run at path. The names are those of documents that no earlier run
// has, ascending.
func (b *Batch) Write(path string, names iter.Seq2[linkdb.Name, error]) error {
	w, err := linkdb.Create(path)
	if err != nil {
		return err
	}
	for n, err := range names {
		if err != nil {
			w.Abandon()
			return err
		}
		w.Name(n)
	}
	settled := slices.Sorted(maps.Keys(b.aliases))
	for _, doc := range settled {
		if of := b.aliases[doc]; of != 0 {
			w.Alias(linkdb.Alias{Doc: doc, Of: of})
		}
	}
	for _, doc := range settled {
		if b.aliases[doc] == 0 {
			w.Drop(doc)
		}
	}
	for _, doc := range slices.Sorted(maps.Keys(b.hidden)) {
		w.Hide(doc)
	}
	for _, source := range slices.Sorted(maps.Keys(b.sources)) {
		w.Links(linkdb.Source{Doc: source, Targets: b.sources[source]})
	}
	for _, target := range slices.Sorted(maps.Keys(b.anchors)) {
		w.Anchors(linkdb.Anchors{Doc: target, Texts: texts(b.anchors[target])})
	}
	return w.Finish()
}

// texts orders the wordings of one target, so that the same links make the same bytes.
func texts(found map[wording][]vocab.DocID) []linkdb.AnchorText {
	all := make([]linkdb.AnchorText, 0, len(found))
	for words, sources := range found {
		slices.Sort(sources)
		all = append(all, linkdb.AnchorText{Text: words.text, OffSite: words.offSite, Sources: slices.Compact(sources)})
	}
	slices.SortFunc(all, func(x, y linkdb.AnchorText) int {
		if c := cmp.Compare(x.Text, y.Text); c != 0 || x.OffSite == y.OffSite {
			return c
		}
		if x.OffSite {
			return 1
		}
		return -1
	})
	return all
}
