package ranking

import (
	"errors"
	"iter"
	"math"

	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

// Links are the link databases of a data folder, or of all shards as one. They number the documents
// densely: those of shard 0 as there, then those of shard 1, and so on.
type links struct {
	shards []shardLinks
}

// shardLinks are the links of one shard.
type shardLinks struct {
	*linkdb.Set
	dir     string
	foreign *shards.Foreign
	base    vocab.DocID // documents of the shards before
}

// openLinks opens the links of a data folder, or of a folder of shards. It takes no lock.
func openLinks(dir string) (*links, error) {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return nil, err
	}
	l, base := &links{}, vocab.DocID(0)
	for i, shardDir := range dirs {
		set, err := linkdb.OpenFolder(shardDir)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		foreign := &shards.Foreign{Own: math.MaxUint64}
		l.shards = append(l.shards, shardLinks{set, shardDir, foreign, base})
		if len(dirs) == 1 {
			break
		}
		if foreign, err = shards.ReadForeign(dir, i); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.shards[i].foreign = foreign
		base += foreign.Own
	}
	return l, nil
}

// Close closes the files.
func (l *links) Close() (err error) {
	for _, s := range l.shards {
		err = errors.Join(err, s.Set.Close())
	}
	return err
}

// dense returns the number of a document that a shard has or mentions.
func (l *links) dense(shard int, doc vocab.DocID) vocab.DocID {
	shard, doc = l.shards[shard].foreign.Outer(shard, doc).Shard()
	return l.shards[shard].base + doc
}

// outer returns the DocID outside of a document, given its number.
func (l *links) outer(doc vocab.DocID) vocab.DocID {
	for i := len(l.shards) - 1; ; i-- {
		if s := &l.shards[i]; doc > s.base || i == 0 {
			return vocab.Outer(i, doc-s.base)
		}
	}
}

// Names walks the URLs of all documents, ascending.
func (l *links) Names() iter.Seq2[linkdb.Name, error] {
	return func(yield func(linkdb.Name, error) bool) {
		for _, s := range l.shards {
			for name, err := range s.Set.Names() {
				if err == nil && name.Doc > s.foreign.Own {
					break // the shard that has it names it
				}
				if name.Doc += s.base; !yield(name, err) {
					return
				}
			}
		}
	}
}

// Links walks the links of all documents as [linkdb.Set.Links] does. With several shards, the targets
// of a document are in no order.
func (l *links) Links() iter.Seq2[linkdb.Source, error] {
	return func(yield func(linkdb.Source, error) bool) {
		for i, s := range l.shards {
			for source, err := range s.Set.Links() {
				if err == nil && source.Doc > s.foreign.Own {
					break // the shard that has it has all its links
				}
				if len(l.shards) > 1 {
					source.Doc += s.base
					for k, t := range source.Targets {
						source.Targets[k].Doc = l.dense(i, t.Doc)
					}
				}
				if !yield(source, err) {
					return
				}
			}
		}
	}
}

// IsCanonical reports whether a document is neither an alias nor not found.
func (l *links) IsCanonical(doc vocab.DocID) bool {
	shard, inner := l.outer(doc).Shard()
	return l.shards[shard].Set.IsCanonical(inner)
}

// vector returns the ranks that are in force under a name, by number of the document, nil if there
// are none or they are damaged.
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
		missing := int(s.base) + 1 - len(all.Ranks) // documents that became known after the vector
		all.Ranks = append(append(all.Ranks, make([]float32, max(0, missing))...), v.Ranks[1:]...)
	}
	return all
}

// publish puts a vector in force, in one shard after the other.
func (l *links) publish(name string, v *rankvector.Vector) error {
	for _, s := range l.shards {
		part := *v
		part.Recorded = s.CountLinks()
		from := min(int(s.base), len(v.Ranks)-1)
		to := len(v.Ranks) - 1
		if len(l.shards) > 1 {
			to = min(to, from+int(s.foreign.Own))
		}
		part.Ranks = append([]float32{0}, v.Ranks[from+1:to+1]...)
		if err := rankvector.Publish(s.dir, name, &part); err != nil {
			return err
		}
	}
	return nil
}
