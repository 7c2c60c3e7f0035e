package collection

import (
	"cmp"
	"iter"
	"slices"

	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

// shardLinks are the links of one shard, or of a single data folder. DocIDs of its fields are those
// in the shard, which also has documents of others; the methods of Links translate them. A shard
// has all links from and to its documents.
type shardLinks struct {
	shard int
	dir   string
	set   *linkdb.Set
	find  *linkdb.Finder
	rank  *rankvector.Vector // plain, or else the default one; nil if none is computed
}

func openShardLinks(dir string, m datadir.Manifest) (*shardLinks, error) {
	rank, err := rankvector.ReadNamed(dir, m, rankvector.Plain)
	if rank == nil && err == nil {
		rank, err = rankvector.ReadNamed(dir, m, rankvector.Default)
	}
	if err != nil {
		return nil, readingOf(damage.Rank, err)
	}
	set, err := linkdb.OpenSet(linkdb.Paths(dir, m.Links))
	if err != nil {
		return nil, err
	}
	return &shardLinks{dir: dir, set: set, find: set.Finder(), rank: rank}, nil
}

// outer returns the DocID in the collection of a document that a shard has or mentions.
func (l *Links) outer(s *shardLinks, doc vocab.DocID) vocab.DocID {
	return l.foreign[s.shard].Outer(s.shard, doc)
}

// of returns the shard of a document, and its DocID there.
func (l *Links) of(doc vocab.DocID) (*shardLinks, vocab.DocID) {
	i, inner := doc.Shard()
	if i >= len(l.shards) {
		return l.shards[0], 0 // not a document
	}
	return l.shards[i], inner
}

// finders returns the same links with separate finders, for another goroutine.
func (l *Links) finders() *Links {
	other := &Links{foreign: l.foreign}
	for _, s := range l.shards {
		copied := *s
		copied.find = s.set.Finder()
		other.shards = append(other.shards, &copied)
	}
	return other
}

// canonical returns the canonical document of doc, or false if that was not found.
func (l *Links) canonical(doc vocab.DocID) (vocab.DocID, bool) {
	return shards.Canonical(l.foreign, doc, func(shard int, doc vocab.DocID) (vocab.DocID, bool) {
		if shard >= len(l.shards) {
			return 0, false // not a document
		}
		return l.shards[shard].set.Canonical(doc)
	})
}

// translate translates the links of a page of a shard to DocIDs of the collection. Their targets
// are canonical documents, or were not found.
func (l *Links) translate(s *shardLinks, source linkdb.Source) linkdb.Source {
	if len(l.shards) == 1 {
		return source
	}
	source.Doc = l.outer(s, source.Doc)
	source.Targets = slices.Clone(source.Targets)
	for i, t := range source.Targets {
		source.Targets[i].Doc = l.outer(s, t.Doc)
		if of, ok := l.canonical(source.Targets[i].Doc); ok {
			source.Targets[i].Doc = of
		}
	}
	slices.SortFunc(source.Targets, func(a, b linkdb.Target) int {
		return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Flags, b.Flags))
	})
	source.Targets = slices.DeleteFunc(source.Targets, func(t linkdb.Target) bool {
		return t.Doc == source.Doc
	})
	same := func(a, b linkdb.Target) bool { return a.Doc == b.Doc }
	source.Targets = slices.CompactFunc(source.Targets, same)
	return source
}

// isSource reports whether doc is a page whose links are known.
func (l *Links) isSource(doc vocab.DocID) bool {
	s, inner := l.of(doc)
	return s.set.IsSource(inner)
}

// rankOf returns a document's share of the sum of all ranks.
func (l *Links) rankOf(doc vocab.DocID) float64 {
	s, inner := l.of(doc)
	return s.rank.Rank(inner)
}

// url returns the URL of a document, or "" if it is unknown.
func (l *Links) url(doc vocab.DocID) (string, error) {
	s, inner := l.of(doc)
	url, _, err := s.find.URL(inner)
	return url, err
}

// linksOf returns the links of a page, or none if doc is not a page.
func (l *Links) linksOf(doc vocab.DocID) (linkdb.Source, error) {
	s, inner := l.of(doc)
	source, err := s.find.Links(inner)
	return l.translate(s, source), err
}

// anchors returns the anchor texts of all links to a document.
func (l *Links) anchors(doc vocab.DocID) (linkdb.Anchors, error) {
	s, inner := l.of(doc)
	a, err := s.find.Anchors(inner)
	for i, text := range a.Texts {
		a.Texts[i].Sources = slices.Clone(text.Sources)
		for k, source := range text.Sources {
			a.Texts[i].Sources[k] = l.outer(s, source)
		}
	}
	return a, err
}

// backlinks returns the links to some documents, which must be ascending.
func (l *Links) backlinks(to []vocab.DocID) iter.Seq2[linkdb.Backlink, error] {
	inner := make([][]vocab.DocID, len(l.shards))
	for _, doc := range to {
		s, in := l.of(doc)
		inner[s.shard] = append(inner[s.shard], in)
	}
	return func(yield func(linkdb.Backlink, error) bool) {
		for i, s := range l.shards {
			for link, err := range s.find.Backlinks(inner[i]) {
				if !yield(linkdb.Backlink{To: l.outer(s, link.To), From: l.outer(s, link.From)}, err) {
					return
				}
			}
		}
	}
}

// each iterates over the links of all pages, given the iterator walk for one set.
func (l *Links) each(
	walk func(*linkdb.Set) iter.Seq2[linkdb.Source, error],
) iter.Seq2[linkdb.Source, error] {
	return func(yield func(linkdb.Source, error) bool) {
		for _, s := range l.shards {
			for source, err := range walk(s.set) {
				if err == nil && !l.foreign[s.shard].IsOwn(source.Doc) {
					continue // the page's own shard has all its links
				}
				if !yield(l.translate(s, source), err) {
					return
				}
			}
		}
	}
}

// names iterates over the URLs of all documents, ascending.
func (l *Links) names() iter.Seq2[linkdb.Name, error] {
	return func(yield func(linkdb.Name, error) bool) {
		for _, s := range l.shards {
			for name, err := range s.set.Names() {
				if err == nil && !l.foreign[s.shard].IsOwn(name.Doc) {
					continue
				}
				name.Doc = l.outer(s, name.Doc)
				if !yield(name, err) {
					return
				}
			}
		}
	}
}
