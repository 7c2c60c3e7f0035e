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

// receive applies parcels as they come until ctx ends.
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

// receiveOne applies a parcel in turn with what the crawl does. It returns false if there is none, or
// the crawl does not take it now.
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
		s.held = nil
	}
	return ran, err
}

// next returns the parcel that is to be applied next, nil if there is none.
func (s *shard) next() (_ *parcel.Parcel, err error) {
	if s.held == nil {
		s.held, err = s.inbox.Next()
	}
	return s.held, err
}

// applyAll applies all parcels when the stages of the crawl have ended.
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
		s.held = nil
	}
}

// apply makes the URLs of a parcel known and adds its links to the index. The parcel is acknowledged
// when these are published. Nobody else adds to the index meanwhile.
func (s *shard) apply(ctx context.Context, p *parcel.Parcel) error {
	docs, blocked, err := s.resolve(p)
	if err != nil {
		return err
	}
	to := s.crawl.Builder()
	// room makes room for a second statement about a document: it belongs in the next batch.
	room := func(doc vocab.DocID) error {
		if to.Contains(doc) {
			return to.Flush(ctx)
		}
		return nil
	}
	for _, source := range p.Sources {
		doc := docs[source.Doc]
		if doc == 0 {
			continue // unknown here, and without links to here
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

// linksOf returns the links of a page of another shard.
func linksOf(source parcel.Source, docs map[vocab.DocID]vocab.DocID) ([]vocab.Link, []vocab.DocID) {
	links := make([]vocab.Link, len(source.Links))
	targets := make([]vocab.DocID, len(source.Links))
	for i, l := range source.Links {
		links[i] = vocab.Link{Text: l.Text, Flags: l.Flags}
		targets[i] = docs[l.To]
	}
	return links, targets
}

// resolve makes the URLs of a parcel known, and returns the DocIDs here of the sender's documents, and
// which of the sender's were blocked after the parcel was sent.
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

// mention remembers which document of the sender of a parcel is which one here, if it is of one of
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

// acknowledge records that the parcels up to some numbers are in the index, durably, with the first
// mentions of this run.
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
