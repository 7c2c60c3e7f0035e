// Package resolver is the URLresolver of BP98 §4.1. It takes the links of pages, whose targets have
// docIDs, credits anchor text to the target, and writes runs of the link database, from which PageRank
// is computed.
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

// maxText bounds an anchor text, in bytes. Longer ones, mostly clickable paragraphs, are cut.
const maxText = 256

// A Batch collects the links of some pages until it is written as one run of the link database. It
// has at most one entry for a document: a page, an alias, not found, noindex, or known only from
// links. The zero Batch is empty and ready. A Batch is not safe for concurrent use.
type Batch struct {
	sources    map[vocab.DocID][]linkdb.Target
	anchors    map[vocab.DocID]map[anchor][]vocab.DocID // sources by target and anchor
	aliases    map[vocab.DocID]vocab.DocID              // 0: not found
	noIndex    map[vocab.DocID]bool
	linkedOnly map[vocab.DocID]bool // known only from links

	credited map[vocab.DocID]bool // targets credited by the page that is being added
}

// An anchor is an anchor text from the target's site or from others.
type anchor struct {
	text    string
	offSite bool
}

// AddPage adds the links of a page; targets[i] is the docID of links[i].Target, 0 if it has none. NoFollow
// links are part of the graph, with their flag, but their texts are not credited. A target whose links
// have no text is credited with the empty text. The batch must not contain source: see [Batch.Contains].
func (b *Batch) AddPage(source vocab.DocID, links []vocab.Link, targets []vocab.DocID) {
	b.begin()
	clear(b.credited)
	found := make([]linkdb.Target, 0, len(links))
	for i, l := range links {
		target := targets[i]
		if target == 0 || target == source {
			continue
		}
		found = append(found, linkdb.Target{Doc: target, Flags: l.Flags & (vocab.NoFollow | vocab.Embedded)})
		if l.Text != "" && l.Flags&vocab.NoFollow == 0 {
			b.credit(target, anchor{text: cut(l.Text), offSite: l.Flags&vocab.OffSite != 0}, source)
			b.credited[target] = true
		}
	}
	for i, l := range links {
		if target := targets[i]; target != 0 && target != source && l.Flags&vocab.NoFollow == 0 && !b.credited[target] {
			b.credit(target, anchor{offSite: l.Flags&vocab.OffSite != 0}, source)
			b.credited[target] = true
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
		b.anchors = map[vocab.DocID]map[anchor][]vocab.DocID{}
		b.linkedOnly = map[vocab.DocID]bool{}
		b.credited = map[vocab.DocID]bool{}
	}
}

// AddLinkedOnly records that doc, which was a page, an alias or not found, is now known only from links.
func (b *Batch) AddLinkedOnly(doc vocab.DocID) {
	b.begin()
	b.sources[doc] = nil // an empty record overrides those of older runs
	b.linkedOnly[doc] = true
}

// Contains reports whether the batch has an entry for a document.
func (b *Batch) Contains(doc vocab.DocID) bool {
	_, page := b.sources[doc]
	_, alias := b.aliases[doc]
	return page || alias || b.noIndex[doc]
}

// credit records that source links to target with an anchor.
func (b *Batch) credit(target vocab.DocID, a anchor, source vocab.DocID) {
	texts := b.anchors[target]
	if texts == nil {
		texts = map[anchor][]vocab.DocID{}
		b.anchors[target] = texts
	}
	if sources := texts[a]; len(sources) == 0 || sources[len(sources)-1] != source {
		texts[a] = append(sources, source)
	}
}

// cut returns text cut to maxText bytes, between characters.
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

// AddNotFound records that doc does not exist.
func (b *Batch) AddNotFound(doc vocab.DocID) { b.AddAlias(doc, 0) }

// AddAlias records that doc is an alias of another document: a redirect or a duplicate.
func (b *Batch) AddAlias(doc, of vocab.DocID) {
	if b.aliases == nil {
		b.aliases = map[vocab.DocID]vocab.DocID{}
	}
	b.aliases[doc] = of
}

// AddNoIndex records that doc has the robots directive noindex.
func (b *Batch) AddNoIndex(doc vocab.DocID) {
	if b.noIndex == nil {
		b.noIndex = map[vocab.DocID]bool{}
	}
	b.noIndex[doc] = true
}

// NotIndexed returns the documents that the index must not show as pages, ascending: those passed
// to AddAlias, AddNotFound, AddNoIndex and AddLinkedOnly.
func (b *Batch) NotIndexed() []vocab.DocID {
	all := slices.AppendSeq(slices.Collect(maps.Keys(b.aliases)), maps.Keys(b.noIndex))
	all = slices.AppendSeq(all, maps.Keys(b.linkedOnly))
	slices.Sort(all)
	return slices.Compact(all)
}

// Empty reports whether there is nothing to write.
func (b *Batch) Empty() bool {
	return len(b.sources) == 0 && len(b.aliases) == 0 && len(b.noIndex) == 0
}

// Write writes the batch as a run at path. names are those of documents that no earlier run has,
// ascending.
func (b *Batch) Write(path string, names iter.Seq2[linkdb.Name, error]) error {
	w, err := linkdb.Create(path)
	if err != nil {
		return err
	}
	for n, err := range names {
		if err != nil {
			w.Abort()
			return err
		}
		w.Name(n)
	}
	aliases := slices.Sorted(maps.Keys(b.aliases))
	for _, doc := range aliases {
		if of := b.aliases[doc]; of != 0 {
			w.Alias(linkdb.Alias{Doc: doc, Of: of})
		}
	}
	for _, doc := range aliases {
		if b.aliases[doc] == 0 {
			w.NotFound(doc)
		}
	}
	for _, doc := range slices.Sorted(maps.Keys(b.noIndex)) {
		w.NoIndex(doc)
	}
	for _, source := range slices.Sorted(maps.Keys(b.sources)) {
		w.Links(linkdb.Source{Doc: source, Targets: b.sources[source]})
	}
	for _, target := range slices.Sorted(maps.Keys(b.anchors)) {
		w.Anchors(linkdb.Anchors{Doc: target, Texts: texts(b.anchors[target])})
	}
	return w.Finish()
}

// texts returns the anchors of one target, sorted, so that the same links make the same bytes.
func texts(anchors map[anchor][]vocab.DocID) []linkdb.AnchorText {
	all := make([]linkdb.AnchorText, 0, len(anchors))
	for a, sources := range anchors {
		slices.Sort(sources)
		all = append(all, linkdb.AnchorText{Text: a.text, OffSite: a.offSite, Sources: slices.Compact(sources)})
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
