package linkdb

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"anatomy/vocab"
)

// A Finder looks up single documents in a set. It caches the last block read of each section of
// each run, so that looking up ascending documents reads every block at most once. It is not safe
// for concurrent use. The set must stay open.
type Finder struct {
	set     *Set
	cursors [][index]*cursor // by run and section; nil before the first use
}

// Finder returns a new finder.
func (s *Set) Finder() *Finder {
	return &Finder{set: s, cursors: make([][index]*cursor, len(s.runs))}
}

// URL returns the URL of a document, or false if the set does not have it.
func (f *Finder) URL(doc vocab.DocID) (string, bool, error) {
	for run := len(f.set.runs) - 1; run >= 0; run-- {
		c, found, err := f.seek(run, names, doc)
		if err != nil {
			return "", false, err
		}
		if found {
			n := c.name(doc)
			return n.URL, true, c.err
		}
	}
	return "", false, nil
}

// Links returns the links of a document like [Set.AllLinks]: none if it is not a page.
func (f *Finder) Links(doc vocab.DocID) (Source, error) {
	s := f.set
	none := Source{Doc: doc}
	if !s.IsSource(doc) {
		return none, nil
	}
	c, found, err := f.seek(int(s.owner[doc])-1, links, doc)
	if err != nil || !found {
		return none, err
	}
	source := c.source(doc)
	if c.err != nil {
		return none, c.err
	}
	source.Targets = s.resolve(doc, source.Targets, true)
	return source, nil
}

// Anchors returns the anchor texts of a document like [Set.Anchors]. For a document that was not
// found it returns those of the links to it.
func (f *Finder) Anchors(doc vocab.DocID) (Anchors, error) {
	all := Anchors{Doc: doc}
	for _, alias := range f.set.aliasesOf([]vocab.DocID{doc}) {
		texts, err := f.ownAnchors(alias)
		if err != nil {
			return all, err
		}
		all.Texts = append(all.Texts, withoutSource(texts, doc)...)
	}
	all.Texts = join(all.Texts)
	return all, nil
}

// A Backlink is a link, target first.
type Backlink struct{ To, From vocab.DocID }

// Backlinks returns the links to some documents, which must be ascending: the sources of their
// Anchors, in any order. A page that links with several texts is repeated.
func (f *Finder) Backlinks(to []vocab.DocID) iter.Seq2[Backlink, error] {
	return func(yield func(Backlink, error) bool) {
		for _, alias := range f.set.aliasesOf(to) {
			of, _ := f.set.follow(alias)
			texts, err := f.ownAnchors(alias)
			if err != nil {
				yield(Backlink{}, err)
				return
			}
			for _, t := range withoutSource(texts, of) {
				for _, source := range t.Sources {
					if !yield(Backlink{of, source}, nil) {
						return
					}
				}
			}
		}
	}
}

// aliasesOf returns some documents, which must be ascending, with all their aliases, ascending.
func (s *Set) aliasesOf(docs []vocab.DocID) []vocab.DocID {
	all, aliases := slices.Clone(docs), s.byEnd()
	for _, doc := range docs {
		i, _ := slices.BinarySearchFunc(aliases, doc, func(a alias, doc vocab.DocID) int {
			return cmp.Compare(vocab.DocID(a.end), doc)
		})
		for ; i < len(aliases) && vocab.DocID(aliases[i].end) == doc; i++ {
			all = append(all, vocab.DocID(aliases[i].doc))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sortAliases returns all aliases, ascending by end.
func (s *Set) sortAliases() (all []alias) {
	for doc, of := range s.canon {
		if of == 0 || of == notFound {
			continue
		}
		if end, _ := s.follow(vocab.DocID(doc)); end != vocab.DocID(doc) {
			all = append(all, alias{uint32(doc), uint32(end)})
		}
	}
	slices.SortFunc(all, func(a, b alias) int { return cmp.Compare(a.end, b.end) })
	return all
}

// ownAnchors returns the anchor texts of a document itself, without those of its aliases, from all
// runs.
func (f *Finder) ownAnchors(doc vocab.DocID) ([]AnchorText, error) {
	var texts []AnchorText
	for run := range f.set.runs {
		c, found, err := f.seek(run, anchors, doc)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		a := c.anchors(doc)
		if c.err != nil {
			return nil, c.err
		}
		texts = append(texts, f.set.counting(a, run)...)
	}
	return texts, nil
}

// seek moves the cursor of a section to the record of a document and reports whether there is one.
func (f *Finder) seek(run, section int, doc vocab.DocID) (*cursor, bool, error) {
	r := f.set.runs[run]
	blocks := r.blocks[section]
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].first > doc }) - 1
	if i < 0 {
		return nil, false, nil
	}
	c := f.cursors[run][section]
	if c == nil {
		c = r.cursor(section)
		f.cursors[run][section] = c
	}
	if at := int64(blocks[i].offset); c.block == nil || c.began != at || c.last >= doc {
		if err := c.enter(at); err != nil {
			return nil, false, err
		}
	}
	for len(c.rest) > 0 {
		at, ok := c.next()
		if !ok || at > doc {
			// The record after doc is partly read: the next look-up decodes the block from its
			// start.
			c.last = maxDoc
			return c, false, c.err
		}
		if at == doc {
			return c, true, nil
		}
		c.skip()
	}
	return c, false, c.err
}

// maxDoc is greater than every document.
const maxDoc = ^vocab.DocID(0)

// enter moves the cursor to the start of the block at an offset of the file.
func (c *cursor) enter(at int64) error {
	c.err = nil
	if c.block != nil && c.began == at {
		c.rest, c.last = c.block, 0
		return nil
	}
	c.at = at
	if d := c.run.dir[c.section]; at < d.offset || at >= d.offset+d.bytes {
		c.began = at
		c.fail("the index points outside the section")
		return c.err
	}
	c.read()
	return c.err
}

// skip skips the rest of a record.
func (c *cursor) skip() {
	switch c.section {
	case names:
		c.pass(c.number())
	case links:
		c.passNumbers(c.count())
	case anchors:
		for n := c.count(); n > 0; n-- {
			c.pass(c.number() >> 1)
			c.passNumbers(c.count())
		}
	}
}
