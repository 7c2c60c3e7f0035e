package collective

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/linkdb"
	"anatomy/disk/parcel"
	"anatomy/vocab"
)

// AwaitLinks makes all shards apply the last parcels of the others. Then it forwards links to pages of
// other shards that redirect to a third shard, which cannot learn of them otherwise.
func (s *shard) AwaitLinks(ctx context.Context) (bool, error) {
	for _, step := range [...]func(context.Context) error{s.applyAll, s.forward, s.applyAll} {
		if !s.meet.wait() {
			return false, nil
		}
		if err := step(ctx); err != nil {
			return false, err
		}
		if err := s.crawl.Builder().Flush(ctx); err != nil {
			return false, err
		}
	}
	return s.meet.wait(), nil
}

// forward sends other shards the links of this shard's pages that lead to them through redirects of
// this or a third shard, so that they credit the anchor texts. For each such page it sends all
// links to that shard, because the newest links of a page replace older ones.
func (s *shard) forward(context.Context) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	set, err := s.crawl.Builder().OpenLinks()
	if err != nil {
		return err
	}
	defer set.Close()
	n := s.newMessage(s.crawl.URLs())
	bridges, err := n.bridges(set)
	if err != nil || len(bridges) == 0 {
		return err
	}
	pages, err := n.crosses(set, bridges)
	if err != nil {
		return err
	}
	if err := n.addResolved(set, pages); err != nil {
		return err
	}
	n.forgetSame()
	for doc := range pages {
		n.shard.crossing[doc] = true
	}
	return n.send()
}

// forgetSame empties the drafts with the links that were forwarded last.
func (n *message) forgetSame() {
	if n.forwarded == nil {
		n.forwarded, n.shard.crossing = map[int]uint64{}, map[vocab.DocID]bool{}
	}
	for to, d := range n.drafts {
		p := d.parcel()
		sum := xxhash.Sum64(p.Encode())
		if p.Empty() || n.forwarded[to] == sum {
			n.drafts[to] = newDraft()
			continue
		}
		n.forwarded[to] = sum
	}
}

// forwardAgain forwards during the crawl if nothing is to be fetched now. No shard waits for the
// others: links through redirects that are not known here yet are forwarded the next time.
func (s *shard) forwardAgain() error {
	if !s.crawl.Builder().Manifest().Merged {
		return nil
	}
	var err error
	s.crawl.InTurn(func(ctx context.Context) error {
		err = s.forward(ctx)
		return err
	})
	return err
}

// bridges returns documents of other shards that are aliases of documents in another shard than
// their own.
func (n *message) bridges(set *linkdb.Set) (map[vocab.DocID]int, error) {
	found := map[vocab.DocID]int{}
	for name, err := range set.Names() {
		if err != nil {
			return nil, err
		}
		of, ok := set.Canonical(name.Doc)
		if !ok || of == name.Doc {
			continue
		}
		from, err := n.entryOf(name.Doc)
		if err != nil {
			return nil, err
		}
		to, err := n.entryOf(of)
		if err != nil {
			return nil, err
		}
		if to.shard != n.number && to.shard != from.shard {
			found[name.Doc] = to.shard
		}
	}
	return found, nil
}

// crosses returns this shard's pages with links to bridges, and the shards that these lead to.
func (n *message) crosses(
	set *linkdb.Set, bridges map[vocab.DocID]int,
) (map[vocab.DocID]map[int]bool, error) {
	pages := map[vocab.DocID]map[int]bool{}
	for source, err := range set.RawLinks() {
		if err != nil {
			return nil, err
		}
		for _, t := range source.Targets {
			to, ok := bridges[t.Doc]
			if !ok {
				continue
			}
			p, err := n.entryOf(source.Doc)
			if err != nil {
				return nil, err
			}
			if p.shard != n.number {
				continue
			}
			if pages[source.Doc] == nil {
				pages[source.Doc] = map[int]bool{}
			}
			pages[source.Doc][to] = true
		}
	}
	return pages, nil
}

// addResolved adds the links of pages, with their texts, to the drafts for some shards. It follows
// redirects as far as they are known here.
func (n *message) addResolved(set *linkdb.Set, pages map[vocab.DocID]map[int]bool) error {
	targets := map[vocab.DocID]bool{}
	for source, err := range set.Links() {
		if err != nil {
			return err
		}
		to := pages[source.Doc]
		if to == nil {
			continue
		}
		p, err := n.entryOf(source.Doc)
		if err != nil {
			return err
		}
		for _, t := range source.Targets {
			target, err := n.entryOf(t.Doc)
			if err != nil {
				return err
			}
			if !to[target.shard] {
				continue
			}
			d := n.drafts[target.shard]
			s := d.source(&p, 0)
			s.Links = append(s.Links, parcel.Link{To: t.Doc, Flags: t.Flags})
			d.name(&target, followed(t.Flags))
			targets[t.Doc] = true
		}
	}
	for a, err := range set.AnchorsOf(func(doc vocab.DocID) bool { return targets[doc] }) {
		if err != nil {
			return err
		}
		p, err := n.entryOf(a.Doc)
		if err != nil {
			return err
		}
		n.drafts[p.shard].addTexts(a)
	}
	return nil
}
