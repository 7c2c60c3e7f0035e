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

// common has the state that the shards of a crawl share.
type common struct {
	dir     string // the folder of shards
	to      *shards.Map
	post    parcel.Post
	mail    []chan struct{} // by shard: holds a token after a parcel was sent to it
	meet    *meeting
	ranks   *ranker // nil in a divided collection
	foreign foreignCount

	// moving is held for reading while parcels are sent or acknowledged, which changes more than
	// one shard. A snapshot of all shards holds it for writing.
	moving sync.RWMutex
}

// prepare initializes the shared state once the shards of the folder are known.
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

	sending  sync.Mutex // held while parcels are made and sent; guards what follows
	outbox   *parcel.Outbox
	entries  *lru.Cache[vocab.DocID, docEntry]
	old      vocab.DocID // last document known when the crawl began
	sentDocs docSet      // pages and aliases of this run sent to other shards

	sent      atomic.Uint64        // parcels sent in this run
	forwarded map[int]uint64       // hashes of the links forwarded last, by receiving shard
	crossing  map[vocab.DocID]bool // pages with forwarded links

	receiving sync.Mutex     // held while parcels are read and applied; guards inbox and current
	inbox     *parcel.Inbox  // set by openInbox
	current   *parcel.Parcel // read and not applied yet
	numbers   []uint64       // numbers of the last parcels applied, by sender; used by apply

	logging   sync.Mutex       // guards what follows
	mentioned []docSet         // by shard: its documents that are in the file of mentions
	fresh     []shards.Mention // mentions not in the file yet
	logged    int              // mentions of this run in the file
	acked     []uint64         // numbers of the last parcels acknowledged, by sender
}

// A docEntry is the shard of a document, with its entry for the names of a parcel.
type docEntry struct {
	shard int
	name  parcel.Name
}

const maxEntries = 200_000 // number of cached entries

func newShard(c *common, number int) *shard {
	return &shard{
		common: c, number: number,
		entries:   lru.New(maxEntries, func(vocab.DocID, docEntry) int { return 1 }),
		mentioned: make([]docSet, len(c.to.Folders)),
	}
}

// open opens the files of the shard beside its data folder.
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

// openInbox opens the inbox, after the crawl was opened.
func (s *shard) openInbox() (err error) {
	if s.numbers, err = s.crawl.URLs().Received(len(s.to.Folders)); err != nil {
		return err
	}
	s.acked = slices.Clone(s.numbers)
	if s.ranks != nil { // otherwise some parcels of other shards may not have arrived yet
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

// Owns reports whether a URL belongs to this shard.
func (s *shard) Owns(u *weburl.URL) bool { return s.to.Of(u) == s.number }

// MarkPrivate marks the folder of all shards as private.
func (s *shard) MarkPrivate() error { return datadir.MarkPrivate(s.dir) }

// Activity returns a number that grows when the shard gets work.
func (s *shard) Activity() uint64 { return s.meet.activityOf(s.number) }

// Ended reports whether nothing is left to fetch in any shard.
func (s *shard) Ended(activity uint64) bool { return s.meet.idleSince(s.number, activity) }

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

// pause returns after a time, when mail has arrived, or when ctx ends.
func (s *shard) pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.mail[s.number]:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// wasSent reports whether other shards may know a document as a page, an alias or not found.
func (s *shard) wasSent(doc vocab.DocID, docs engine.Documents) (bool, error) {
	if s.sentDocs.has(doc) || doc > s.old {
		return s.sentDocs.has(doc), nil
	}
	r, ok, err := docs.Get(doc)
	return ok && (r.History.Visits > 1 || isDuplicate(&r)), err
}

func isDuplicate(r *docindex.Record) bool { return r.Fetch != nil && r.IsDuplicate() }

// A foreignCount counts the documents of other shards that the shards mention.
type foreignCount struct {
	mu   sync.Mutex // guards what follows
	docs []docSet   // by shard
	n    int64
}

// add adds mentions that a shard wrote into its file.
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
