package upkeep

import (
	"fmt"
	"math/bits"
	"slices"

	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/shards"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A division maps the documents of a data folder to shards, and has for each shard the foreign
// documents that it mentions, with their docIDs. A shard mentions the other ends of links from and
// to its documents, the aliases that such links pass through, and the documents that these are
// aliases of.
type division struct {
	to     *shards.Map
	shards []uint16     // by document, index 0 unused
	own    []*numbering // by shard: its own documents
	others []*numbering // by shard: the documents that it mentions
}

// newDivision returns a division of the documents of db into n shards, without mentions.
func newDivision(db *docindex.DB, n int) (*division, error) {
	d := &division{
		to:     &shards.Map{Suffixes: weburl.Suffixes(), Folders: make([]string, n)},
		shards: []uint16{0},
	}
	for range n {
		d.own, d.others = append(d.own, &numbering{}), append(d.others, &numbering{})
	}
	if err := d.findLarge(db); err != nil {
		return nil, err
	}
	err := db.Each(1, func(r docindex.Record) error {
		u, err := weburl.Parse(r.URL)
		if err != nil {
			return err
		}
		shard := d.to.Of(&u)
		d.shards = append(d.shards, uint16(shard))
		d.own[shard].add(r.Doc)
		return nil
	})
	for _, own := range d.own {
		own.seal()
	}
	return d, err
}

// findLarge finds the site with more than half of all pages, which is divided by host.
func (d *division) findLarge(db *docindex.DB) error {
	pages, all := map[string]int{}, 0
	err := db.Each(1, func(r docindex.Record) error {
		if !r.IsPage() {
			return nil
		}
		u, err := weburl.Parse(r.URL)
		all++
		pages[u.Site()]++
		return err
	})
	for site, n := range pages {
		if 2*n > all {
			d.to.Hosts = []string{site}
		}
	}
	return err
}

// of returns the shard of a document.
func (d *division) of(doc vocab.DocID) int { return int(d.shards[doc]) }

// inner returns the DocID of a document within a shard, or 0 if the shard does not have or mention
// it.
func (d *division) inner(shard int, doc vocab.DocID) vocab.DocID {
	if d.of(doc) == shard {
		return d.own[shard].of(doc)
	}
	if n := d.others[shard].of(doc); n > 0 {
		return d.own[shard].n + n
	}
	return 0
}

// mentionAll adds the mentions of all shards.
func (d *division) mentionAll(db *docindex.DB, links *linkdb.Set) error {
	err := db.Each(1, func(r docindex.Record) error {
		d.mention(links, d.of(r.Doc), r.Doc)
		if r.Fetch != nil && r.Fetch.Alias != 0 {
			d.mention(links, d.of(r.Doc), r.Fetch.Alias)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var holders []int
	for source, err := range links.RawLinks() {
		if err != nil {
			return err
		}
		for _, t := range source.Targets {
			if last := vocab.DocID(len(d.shards)) - 1; max(source.Doc, t.Doc) > last {
				return fmt.Errorf("there is a link from document %d to %d, and the last is %d",
					source.Doc, t.Doc, last)
			}
			holders = d.holders(holders, links, source.Doc, t.Doc)
			for _, shard := range holders {
				d.mention(links, shard, source.Doc)
				d.mention(links, shard, t.Doc)
			}
		}
	}
	for _, others := range d.others {
		others.seal()
	}
	return nil
}

// maxAliases bounds a chain of aliases.
const maxAliases = 16

// mention records that a shard mentions a document, and the documents that it is an alias of.
func (d *division) mention(links *linkdb.Set, shard int, doc vocab.DocID) {
	for range maxAliases {
		if d.of(doc) != shard {
			d.others[shard].add(doc)
		}
		of, _ := links.AliasOf(doc)
		if of == 0 {
			return
		}
		doc = of
	}
}

// holders returns the shards that keep a link, each once: those of the source, of the target, and
// of the target's canonical document. It reuses buf.
func (d *division) holders(buf []int, links *linkdb.Set, source, target vocab.DocID) []int {
	buf = append(buf[:0], d.of(source))
	for _, doc := range [...]vocab.DocID{target, canonical(links, target)} {
		if shard := d.of(doc); !slices.Contains(buf, shard) {
			buf = append(buf, shard)
		}
	}
	return buf
}

// canonical returns the canonical document of doc, or doc if there is none.
func canonical(links *linkdb.Set, doc vocab.DocID) vocab.DocID {
	if of, ok := links.Canonical(doc); ok {
		return of
	}
	return doc
}

// foreign returns the documents that a shard mentions, with their shards and docIDs.
func (d *division) foreign(shard int) *shards.Foreign {
	f := &shards.Foreign{Own: d.own[shard].n}
	for doc := range d.others[shard].all() {
		owner := d.of(doc)
		f.Docs = append(f.Docs, vocab.Outer(owner, d.inner(owner, doc)))
	}
	return f
}

// A numbering numbers the documents of a set from 1, in ascending order.
type numbering struct {
	bits   []uint64
	before []uint32 // number of documents before each word of bits; set by seal
	n      vocab.DocID
}

func (s *numbering) add(doc vocab.DocID) {
	for vocab.DocID(len(s.bits)) <= doc/64 {
		s.bits = append(s.bits, 0)
	}
	s.bits[doc/64] |= 1 << (doc % 64)
}

// seal computes the numbers. No document may be added afterwards.
func (s *numbering) seal() {
	for _, word := range s.bits {
		s.before = append(s.before, uint32(s.n))
		s.n += vocab.DocID(bits.OnesCount64(word))
	}
}

// of returns the number of a document, or 0 if it is not in the set.
func (s *numbering) of(doc vocab.DocID) vocab.DocID {
	if doc/64 >= vocab.DocID(len(s.bits)) || s.bits[doc/64]&(1<<(doc%64)) == 0 {
		return 0
	}
	lower := s.bits[doc/64] & (1<<(doc%64) - 1)
	return vocab.DocID(s.before[doc/64]) + vocab.DocID(bits.OnesCount64(lower)) + 1
}

// all returns the documents in ascending order.
func (s *numbering) all() func(func(vocab.DocID) bool) {
	return func(yield func(vocab.DocID) bool) {
		for i, word := range s.bits {
			for ; word != 0; word &= word - 1 {
				if !yield(vocab.DocID(64*i + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
