package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
)

// flights are the leases that are granted and not released, and the documents in flight: leased or
// claimed, and not completed. Either may end before the other. They are not on disk: after a crash,
// documents in flight are still in their queues.
type flights struct {
	db        *docindex.DB
	leases    map[uint64]*frontier.Lease
	lastLease uint64
	inFlight  map[vocab.DocID]*flight
	newPages  uint64 // of inFlight, those that may count against Options.MaxPages
}

// A flight is a document in flight. Its record is the one on disk.
type flight struct {
	record   docindex.Record
	host     *frontier.Host
	key      docindex.QueueKey // in its queue; zero if it was claimed and not queued
	url      string            // as leased: https if the host answers so, even if the record has http
	recorded bool              // RecordText or RecordMissing was called
	finding  trap.Finding      // of its text; zero before, and for a page visited again
	doubtful bool              // see granter.refuse
	evidence uint64            // of its host when it was leased or confirmed
}

func newFlights(db *docindex.DB) *flights {
	return &flights{db: db, leases: map[uint64]*frontier.Lease{}, inFlight: map[vocab.DocID]*flight{}}
}

// isNew reports whether f is the first visit of a page.
func (f *flight) isNew() bool {
	return f.record.Kind == vocab.PageTarget && f.key.Number&frontier.Again == 0
}

func (f *flight) wasQueued() bool { return f.key.Host != "" }

func (fs *flights) start(f *flight) {
	fs.inFlight[f.record.Doc] = f
	if f.doubtful {
		f.host.Doubtful++
	}
	if f.isNew() {
		fs.newPages++
		f.host.InFlight++
	}
}

func (fs *flights) end(f *flight) {
	delete(fs.inFlight, f.record.Doc)
	if f.doubtful {
		f.host.Doubtful--
	}
	if f.isNew() {
		fs.newPages--
		f.host.InFlight--
	}
}

// record returns the record of a document, from memory if it is in flight.
func (fs *flights) record(doc vocab.DocID) (docindex.Record, bool, error) {
	if f := fs.inFlight[doc]; f != nil {
		return f.record, true, nil
	}
	return fs.db.Get(doc)
}
