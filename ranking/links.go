package ranking

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

// links are the link databases of a data folder, or of all shards as one. Documents are numbered
// across shards: first those of shard 0 with their docIDs, then those of shard 1, and so on.
// Numbers of documents that a shard only mentions are unused.
type links struct {
	shards  []shardLinks
	foreign []*shards.Foreign // by shard

	put func(shard int, name string, vector []byte) error // see Options
}

// shardLinks are the links of one shard.
type shardLinks struct {
	*linkdb.Set
	dir  string
	base vocab.DocID // number of the last document of the previous shards
	last vocab.DocID // last of its own documents
}

// openLinks opens the links of a data folder, or of a folder of shards. It takes no lock.
func openLinks(dir string) (*links, error) {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return nil, err
	}
	foreign, err := shards.ForeignOf(dir, len(dirs))
	if err != nil {
		return nil, err
	}
	l, base := &links{foreign: foreign}, vocab.DocID(0)
	for i, shardDir := range dirs {
		set, err := linkdb.OpenFolder(shardDir)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.shards = append(l.shards, shardLinks{set, shardDir, base, 0})
		m, err := datadir.ReadManifest(shardDir)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.shards[i].last = foreign[i].Last(m.Known)
		base += l.shards[i].last
	}
	return l, nil
}

// last returns the number of the last document.
func (l *links) last() vocab.DocID {
	s := &l.shards[len(l.shards)-1]
	return s.base + s.last
}

// countLinks returns an upper bound of the number of links.
func (l *links) countLinks() (n int) {
	for _, s := range l.shards {
		n += int(s.CountLinks())
	}
	return n
}

// Close closes the files.
func (l *links) Close() (err error) {
	for _, s := range l.shards {
		err = errors.Join(err, s.Set.Close())
	}
	return err
}

// canonical returns the number of the canonical document of a document that a shard has or
// mentions, or false if that was not found.
func (l *links) canonical(shard int, doc vocab.DocID) (vocab.DocID, bool) {
	of, ok := shards.Canonical(l.foreign, vocab.Outer(shard, doc), func(shard int, doc vocab.DocID) (vocab.DocID, bool) {
		return l.shards[shard].Set.Canonical(doc)
	})
	shard, inner := of.Shard()
	return l.shards[shard].base + inner, ok
}

// outer returns the DocID in the collection of a document, given its number.
func (l *links) outer(doc vocab.DocID) vocab.DocID {
	for i := len(l.shards) - 1; ; i-- {
		if s := &l.shards[i]; doc > s.base || i == 0 {
			return vocab.Outer(i, doc-s.base)
		}
	}
}

// Names iterates over the URLs of all documents, ascending.
func (l *links) Names() iter.Seq2[linkdb.Name, error] {
	return func(yield func(linkdb.Name, error) bool) {
		for i, s := range l.shards {
			for name, err := range s.Set.Names() {
				if err == nil && !l.foreign[i].IsOwn(name.Doc) {
					continue // its own shard names it
				}
				if name.Doc += s.base; !yield(name, err) {
					return
				}
			}
		}
	}
}

// Links iterates over the links of all documents like [linkdb.Set.Links]. An alias may lead from
// one shard to another.
func (l *links) Links() iter.Seq2[linkdb.Source, error] {
	if len(l.shards) == 1 {
		return l.shards[0].Set.Links()
	}
	return func(yield func(linkdb.Source, error) bool) {
		for i, s := range l.shards {
			for source, err := range s.Set.Links() {
				if err == nil && !l.foreign[i].IsOwn(source.Doc) {
					continue // its own shard has all its links
				}
				source.Doc += s.base
				source.Targets = l.resolve(i, source)
				if !yield(source, err) {
					return
				}
			}
		}
	}
}

// resolve returns the targets of a source by number, in the order of [linkdb.Set.Links].
func (l *links) resolve(shard int, source linkdb.Source) []linkdb.Target {
	kept := source.Targets[:0]
	for _, t := range source.Targets {
		if doc, ok := l.canonical(shard, t.Doc); ok && doc != source.Doc {
			kept = append(kept, linkdb.Target{Doc: doc, Flags: t.Flags})
		}
	}
	slices.SortFunc(kept, func(a, b linkdb.Target) int {
		return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Flags, b.Flags))
	})
	return slices.CompactFunc(kept, func(a, b linkdb.Target) bool { return a.Doc == b.Doc })
}

// IsCanonical reports whether a document is neither an alias nor not found.
func (l *links) IsCanonical(doc vocab.DocID) bool {
	shard, inner := l.outer(doc).Shard()
	return l.shards[shard].Set.IsCanonical(inner)
}

// vector returns the current ranks under a name, by number of the document, or nil if there are
// none or they are damaged.
func (l *links) vector(name string) (all *rankvector.Vector) {
	for _, s := range l.shards {
		v, err := rankvector.ReadFolder(s.dir, name)
		if v == nil || err != nil {
			return nil
		}
		if all == nil {
			all = v
			continue
		}
		missing := int(s.base) + 1 - len(all.Ranks) // documents that became known after the vector was computed
		all.Ranks = append(append(all.Ranks, make([]float32, max(0, missing))...), v.Ranks[1:]...)
	}
	return all
}

// publish makes a vector current, shard by shard.
func (l *links) publish(name string, v *rankvector.Vector) error {
	for i, s := range l.shards {
		part := *v
		part.LinkChanges = s.CountChanges()
		from := min(int(s.base), len(v.Ranks)-1)
		to := len(v.Ranks) - 1
		if len(l.shards) > 1 {
			to = min(to, from+int(s.last))
		}
		part.Ranks = append([]float32{0}, v.Ranks[from+1:to+1]...)
		if err := l.publishPart(i, name, &part); err != nil {
			return err
		}
	}
	return nil
}

// publishPart makes the vector of a shard current.
func (l *links) publishPart(shard int, name string, part *rankvector.Vector) error {
	if l.put == nil {
		return rankvector.Publish(l.shards[shard].dir, name, part)
	}
	content, err := part.Encode()
	if err != nil {
		return err
	}
	return l.put(shard, name, content)
}
