package collective

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/lru"
	"anatomy/vocab"
	"anatomy/weburl"
)

// common is what the shards of a crawl share.
type common struct {
	dir     string // the folder of shards
	to      *shards.Map
	post    parcel.Post
	mail    []chan struct{} // by shard: holds one token after a parcel was sent to it
	meet    *meeting
	ranks   *ranker // nil if other machines own some of the shards
	foreign foreignCount

	// moving is held for reading to send and to acknowledge parcels, which changes what more than one
	// shard has. A snapshot of all shards holds it for writing.
	moving sync.RWMutex
}

// prepare makes what the shards of the folder share. They are known.
func (c *common) prepare(post parcel.Post) {
	n := len(c.to.Folders)
	c.post, c.meet, c.foreign.docs = post, newMeeting(n), make([]docSet, n)
	for range n {
		c.mail = append(c.mail, make(chan struct{}, 1))
	}
}

// A shard is one of the data folders, with the crawl that fills it. It is the engine.Shard of that
// crawl.
type shard struct {
	*common
	number int
	crawl  *engine.Crawl

	sending sync.Mutex // held to make and send parcels; guards what follows
	outbox  *parcel.Outbox
	places  *lru.Cache[vocab.DocID, place]
	old     vocab.DocID // documents that were known when the crawl began
	told    docSet      // pages and aliases of this run that other shards were told of

	sent      atomic.Uint64        // parcels of this run
	forwarded map[int]uint64       // hashes of what was forwarded last, by receiver
	crossing  map[vocab.DocID]bool // pages of which something was

	receiving sync.Mutex     // held to hand out and apply parcels; guards inbox and held
	inbox     *parcel.Inbox  // set by openInbox
	held      *parcel.Parcel // handed out, not applied yet
	numbers   []uint64       // of the last parcels that were applied, by sender; of apply

	logging   sync.Mutex       // guards what follows
	mentioned []docSet         // by other shard: its documents that are in the file of mentions
	fresh     []shards.Mention // not in the file yet
	logged    int              // mentions of this run that are
	acked     []uint64         // numbers of the last parcels that were acknowledged, by sender
}

// A place is the shard of a document, with its entry for the names of a parcel.
type place struct {
	shard int
	name  parcel.Name
}

const maxPlaces = 200_000 // that are kept in memory

func newShard(c *common, number int) *shard {
	return &shard{
		common: c, number: number,
		places:    lru.New(maxPlaces, func(vocab.DocID, place) int { return 1 }),
		mentioned: make([]docSet, len(c.to.Folders)),
	}
}

// open reads what the shard has besides its data folder.
func (s *shard) open() (err error) {
	if err := shards.OpenMentions(s.dir, s.number, func(m shards.Mention) {
		if m.From < len(s.mentioned) {
			s.mentioned[m.From].add(m.Theirs)
			s.foreign.add(s.number, m)
		}
	}); err != nil {
		return err
	}
	m, err := datadir.ReadManifest(shards.Folder(s.dir, s.number))
	if err != nil {
		return err
	}
	s.old = m.Known
	s.outbox, err = parcel.NewOutbox(s.post, s.number, len(s.to.Folders))
	return err
}

// openInbox prepares for parcels when the crawl is open.
func (s *shard) openInbox() (err error) {
	if s.numbers, err = s.crawl.URLs().Received(len(s.to.Folders)); err != nil {
		return err
	}
	s.acked = slices.Clone(s.numbers)
	if s.ranks != nil { // else the others' parcels are not all here yet
		missing, err := parcel.Missing(s.post, s.number, s.numbers)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return &datadir.DamageError{Path: shards.Parcels(s.dir), Err: fmt.Errorf("%v is missing", missing[0])}
		}
	}
	s.inbox = parcel.NewInbox(s.post, s.number, s.numbers)
	return nil
}

// Owns reports whether a URL is of this shard.
func (s *shard) Owns(u *weburl.URL) bool { return s.to.Of(u) == s.number }

// MarkPrivate marks the folder of all shards.
func (s *shard) MarkPrivate() error { return datadir.MarkPrivate(s.dir) }

// Activity returns a number that grows when the shard gets something to do.
func (s *shard) Activity() uint64 { return s.meet.activityOf(s.number) }

// Ended reports whether nothing is left to fetch in any shard.
func (s *shard) Ended(activity uint64) bool { return s.meet.rest(s.number, activity) }

// Rank computes the ranks of all shards.
func (s *shard) Rank(ctx context.Context, atEnd bool) error {
	switch {
	case s.ranks == nil:
		return s.forwardAgain()
	case !atEnd:
		return s.ranks.rank(ctx, false)
	case s.meet.wait() && s.number == 0:
		return s.ranks.rank(ctx, true)
	}
	return nil
}

// A docSet is a set of documents.
type docSet struct{ bits []uint64 }

func (d *docSet) add(doc vocab.DocID) {
	for vocab.DocID(len(d.bits)) <= doc/64 {
		d.bits = append(d.bits, 0)
	}
	d.bits[doc/64] |= 1 << (doc % 64)
}

func (d *docSet) has(doc vocab.DocID) bool {
	return doc/64 < vocab.DocID(len(d.bits)) && d.bits[doc/64]&(1<<(doc%64)) != 0
}

// pause returns after a time, when mail has come, or when ctx ends.
func (s *shard) pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.mail[s.number]:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// wasTold reports whether other shards may know a document as a page, an alias or not found.
func (s *shard) wasTold(doc vocab.DocID, docs engine.Documents) (bool, error) {
	if s.told.has(doc) || doc > s.old {
		return s.told.has(doc), nil
	}
	r, ok, err := docs.Get(doc)
	return ok && (r.History.Visits > 1 || isDuplicate(&r)), err
}

func isDuplicate(r *docindex.Record) bool { return r.Fetch != nil && r.IsDuplicate() }

// A foreignCount counts the documents that shards mention and have of others.
type foreignCount struct {
	mu   sync.Mutex // guards what follows
	docs []docSet   // by shard
	n    int64
}

// add adds what a shard wrote into its file of mentions.
func (f *foreignCount) add(shard int, m shards.Mention) {
	doc := m.Mine
	if m.Own {
		shard, doc = m.From, m.Theirs
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.docs[shard].has(doc) {
		f.docs[shard].add(doc)
		f.n++
	}
}

func (f *foreignCount) count() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}
