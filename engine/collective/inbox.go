package collective

import (
	"context"
	"slices"

	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// receive applies parcels as they arrive until ctx ends.
func (s *shard) receive(ctx context.Context) error {
	for ctx.Err() == nil {
		more, err := s.receiveOne()
		if err != nil {
			return err
		}
		if !more {
			s.pause(ctx, mailInterval)
		}
	}
	return nil
}

// receiveOne applies a parcel between two batches of the crawl. It returns false if there is none,
// or if the crawl cannot apply one now.
func (s *shard) receiveOne() (more bool, err error) {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	p, err := s.next()
	if p == nil || err != nil {
		return false, err
	}
	ran := s.crawl.InTurn(func(ctx context.Context) error {
		err = s.apply(ctx, p)
		return err
	})
	if ran {
		s.current = nil
	}
	return ran, err
}

// next returns the next parcel to apply, or nil.
func (s *shard) next() (_ *parcel.Parcel, err error) {
	if s.current == nil {
		s.current, err = s.inbox.Next()
	}
	return s.current, err
}

// applyAll applies all parcels after the stages of the crawl have ended.
func (s *shard) applyAll(ctx context.Context) error {
	s.receiving.Lock()
	defer s.receiving.Unlock()
	for {
		p, err := s.next()
		if p == nil || err != nil {
			return err
		}
		if err := s.apply(ctx, p); err != nil {
			return err
		}
		s.current = nil
	}
}

// apply makes the URLs of a parcel known and adds its links to the index. The parcel is
// acknowledged when the links are published. The caller ensures that nothing else is added to the
// index meanwhile.
func (s *shard) apply(ctx context.Context, p *parcel.Parcel) error {
	docs, blocked, err := s.resolve(p)
	if err != nil {
		return err
	}
	to := s.crawl.Builder()
	// room flushes the batch if it already contains the document: a batch has one entry for each.
	room := func(doc vocab.DocID) error {
		if to.Contains(doc) {
			return to.Flush(ctx)
		}
		return nil
	}
	for _, source := range p.Sources {
		doc := docs[source.Doc]
		if doc == 0 {
			continue // not known to this shard, and without links to it
		}
		if err := room(doc); err != nil {
			return err
		}
		if blocked[source.Doc] {
			to.AddNotFound(doc)
			continue
		}
		links, targets := linksOf(source, docs)
		to.AddForeign(doc, links, targets)
	}
	for _, a := range p.Aliases {
		if err := room(docs[a.Doc]); err != nil {
			return err
		}
		if blocked[a.Doc] {
			to.AddNotFound(docs[a.Doc])
			continue
		}
		to.AddAlias(docs[a.Doc], docs[a.Of])
	}
	for _, missing := range p.Missing {
		doc := docs[missing]
		if doc == 0 {
			continue
		}
		if err := room(doc); err != nil {
			return err
		}
		to.AddNotFound(doc)
	}
	s.numbers[p.From] = p.Number
	numbers, mentions := slices.Clone(s.numbers), s.countMentions()
	to.AfterFlush(func() error { return s.acknowledge(numbers, mentions) })
	s.meet.applied(s.number)
	return nil
}

// linksOf returns the links of a page of another shard, and their targets.
func linksOf(source parcel.Source, docs map[vocab.DocID]vocab.DocID) ([]vocab.Link, []vocab.DocID) {
	links := make([]vocab.Link, len(source.Links))
	targets := make([]vocab.DocID, len(source.Links))
	for i, l := range source.Links {
		links[i] = vocab.Link{Text: l.Text, Flags: l.Flags}
		targets[i] = docs[l.To]
	}
	return links, targets
}

// resolve makes the URLs of a parcel known. It returns this shard's DocIDs of the sender's
// documents, and the sender's documents that were blocked after the parcel was sent.
func (s *shard) resolve(
	p *parcel.Parcel,
) (docs map[vocab.DocID]vocab.DocID, blocked map[vocab.DocID]bool, err error) {
	urls := s.crawl.URLs()
	docs = make(map[vocab.DocID]vocab.DocID, len(p.Names))
	blocked = map[vocab.DocID]bool{}
	found := make([]urlserver.Found, 0, len(p.Names))
	theirs := make([]vocab.DocID, 0, len(p.Names))
	for _, name := range p.Names {
		u, err := weburl.Parse(name.URL)
		if err != nil {
			return nil, nil, err
		}
		if urls.IsBlocked(&u) {
			blocked[name.Doc] = true
		}
		if name.Flags&parcel.IfKnown == 0 {
			theirs = append(theirs, name.Doc)
			found = append(found, urlserver.Found{
				URL: u, Kind: name.Kind, Depth: name.Depth, Hops: name.Hops,
				NoFollow: name.Flags&parcel.NoFollow != 0,
			})
			continue
		}
		doc, _, ok, err := urls.Find(u.Fingerprint())
		if err != nil {
			return nil, nil, err
		}
		if ok {
			docs[name.Doc] = doc
		}
	}
	mine, err := urls.Add(found)
	if err != nil {
		return nil, nil, err
	}
	for i, doc := range theirs {
		docs[doc] = mine[i]
		s.mention(p.From, doc, mine[i], s.to.Of(&found[i].URL))
	}
	return docs, blocked, nil
}

// mention records that the sender's document theirs is mine here, if the document belongs to one of
// the two shards.
func (s *shard) mention(from int, theirs, mine vocab.DocID, owner int) {
	if owner != from && owner != s.number {
		return
	}
	s.logging.Lock()
	defer s.logging.Unlock()
	if s.mentioned[from].has(theirs) {
		return
	}
	s.mentioned[from].add(theirs)
	m := shards.Mention{From: from, Theirs: theirs, Mine: mine, Own: owner == s.number}
	s.fresh = append(s.fresh, m)
	s.foreign.add(s.number, m)
}

// countMentions returns the number of mentions of this run.
func (s *shard) countMentions() int {
	s.logging.Lock()
	defer s.logging.Unlock()
	return s.logged + len(s.fresh)
}

// acknowledge durably records the number of the last parcel of each sender that is in the index,
// and the first mentions of this run.
func (s *shard) acknowledge(numbers []uint64, mentions int) error {
	s.moving.RLock()
	defer s.moving.RUnlock()
	if err := s.writeMentions(mentions); err != nil {
		return err
	}
	if err := s.crawl.URLs().SetReceived(numbers); err != nil {
		return err
	}
	s.logging.Lock()
	s.acked = numbers
	s.logging.Unlock()
	return s.inbox.Acknowledge(numbers)
}

func (s *shard) writeMentions(upTo int) error {
	s.logging.Lock()
	defer s.logging.Unlock()
	n := upTo - s.logged
	if n <= 0 {
		return nil
	}
	if err := shards.AppendMentions(s.dir, s.number, s.fresh[:n]); err != nil {
		return err
	}
	s.fresh, s.logged = slices.Clone(s.fresh[n:]), upTo
	return nil
}
