package urlserver

import (
	"fmt"
	"strconv"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A ledger is the document index with the totals and queue numbers that every change updates.
//
// Between calls, counts are the sums over all records, including those in uncommitted batches. Each
// batch that changes a record also puts the counts. No queue key on disk has a number above
// reserved.
type ledger struct {
	db     *docindex.DB
	counts docindex.Counts
	logins int64 // documents that need a login: how many more there are than when the ledger was opened

	number   uint64 // the number of the last queue key
	reserved uint64
}

const (
	batchBytes = 1 << 20 // a long series of changes is committed in batches of this size

	// numberBlock is how many queue numbers are reserved at a time, so that Open need not look for
	// the highest one.
	numberBlock = 1 << 16
	metaNumbers = "numbers"
)

func openLedger(db *docindex.DB) (l *ledger, err error) {
	l = &ledger{db: db}
	if l.counts, err = db.Counts(); err != nil {
		return nil, err
	}
	text, err := db.Meta(metaNumbers)
	switch {
	case err != nil:
	case text != "":
		l.number, err = strconv.ParseUint(text, 10, 63)
	default: // an index of an older version without reserved numbers
		err = db.EachQueue("", func(k docindex.QueueKey, _ vocab.DocID) (bool, error) {
			l.number = max(l.number, k.Number&^frontier.Again)
			return true, nil
		})
	}
	l.reserved = l.number
	return l, err
}

// nextNumber returns a number for a queue key. Numbers ascend in the order in which URLs are
// queued.
func (l *ledger) nextNumber(b *docindex.Batch) uint64 {
	l.number++
	if l.number > l.reserved {
		l.reserved = l.number + numberBlock - 1
		b.PutMeta(metaNumbers, strconv.FormatUint(l.reserved, 10))
	}
	return l.number
}

// count adds a record to the totals; uncount subtracts it.
func (l *ledger) count(r *docindex.Record) { l.addCounts(r, 1) }

func (l *ledger) uncount(r *docindex.Record) { l.addCounts(r, ^uint64(0)) }

func (l *ledger) addCounts(r *docindex.Record, n uint64) {
	l.counts.States[r.State] += n
	if r.State == docindex.Trapped {
		l.counts.Traps[r.Trap] += n
	}
	if r.Fetch == nil {
		return
	}
	l.counts.Outcomes[r.Fetch.Outcome] += n
	if r.Fetch.NeedsLogin() {
		l.logins += int64(n)
	}
	if r.IsPage() {
		l.counts.Pages += n
	}
}

// put writes a new or uncounted record.
func (l *ledger) put(b *docindex.Batch, r *docindex.Record) {
	b.PutRecord(r)
	l.count(r)
}

// replace writes a record that was counted as before.
func (l *ledger) replace(b *docindex.Batch, before, r *docindex.Record) {
	l.uncount(before)
	l.put(b, r)
}

// giveUp marks a record as given up. The caller counts it.
func giveUp(r *docindex.Record, loss *frontier.Loss) {
	r.State, r.Due = docindex.GivenUp, time.Time{}
	r.Fetch = &docindex.FetchOutcome{Outcome: loss.Outcome, Reason: loss.Reason}
}

// load returns a record with its parsed URL.
func (l *ledger) load(doc vocab.DocID) (r docindex.Record, u weburl.URL, ok bool, err error) {
	if r, ok, err = l.db.Get(doc); !ok || err != nil {
		return r, u, false, err
	}
	u, err = weburl.Parse(r.URL)
	return r, u, err == nil, err
}

// loadSeed returns the record of a seed with its parsed URL. It fails if there is none.
func (l *ledger) loadSeed(doc vocab.DocID) (docindex.Record, weburl.URL, error) {
	r, u, ok, err := l.load(doc)
	if !ok && err == nil {
		err = fmt.Errorf("document index: document %d is a seed and has no record", doc)
	}
	return r, u, err
}

// flush commits a batch of at least size bytes that is not empty, with the totals, and returns the
// batch to continue with.
func (l *ledger) flush(b *docindex.Batch, size int) (*docindex.Batch, error) {
	if b.Empty() || b.Len() < size {
		return b, nil
	}
	b.PutCounts(&l.counts)
	return l.db.NewBatch(), b.Commit()
}
