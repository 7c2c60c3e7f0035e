package urlserver

import (
	"fmt"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// queues join the hosts' queues in the document index with the frontier, which has their lengths.
//
// Open does not read all queues: that takes seconds for millions of URLs. It reads some, and each
// Grant reads some more, in the order of host names; the queue of a host that is found meanwhile is
// read at once. So the frontier always has either the complete queue of a host, or none of it. It
// has the queues of hosts before unread, and of hosts created since. Counters in the records of
// hosts would be read faster, but each change of a queue would have to write them.
type queues struct {
	*ledger
	frontier *frontier.Frontier
	yields   *trap.Yields
	scanSize int
	unread   string // queues of hosts from this name on are not read
}

const (
	scanSize = 20_000 // URLs read at a time, about 10 ms
	allRead  = "\xff" // sorts behind all host names
)

func newQueues(l *ledger, y *trap.Yields, o *Options) *queues {
	q := &queues{ledger: l, yields: y, scanSize: o.scanSize}
	q.frontier = frontier.New(o.frontier(), l.db, q.created)
	return q
}

// created reads the spent shapes of a host that is new in memory, and its queue unless scan has
// read it or is about to.
func (q *queues) created(h *frontier.Host) (err error) {
	if h.Spent {
		if h.Traps, err = q.yields.ReadSpent(h.Name); err != nil {
			return err
		}
	}
	if h.Name < q.unread {
		return nil
	}
	queue := docindex.QueueKey{Host: h.Name}
	err = q.db.EachQueued(queue, func(k docindex.QueueKey, _ vocab.DocID) (bool, error) {
		h.Push(k.Priority, k.Number)
		return true, nil
	})
	q.frontier.Offer(h)
	return err
}

// host returns the host of a URL.
func (q *queues) host(u *weburl.URL) (*frontier.Host, error) {
	return q.frontier.Host(u.Host(), u.Hostname())
}

func (q *queues) complete() bool { return q.unread == allRead }

// scan reads the queues of the next hosts.
func (q *queues) scan() error {
	if q.complete() {
		return nil
	}
	var hosts []*frontier.Host
	var h *frontier.Host // nil while the queue of a host read earlier is skipped
	n, name, next := 0, "", allRead
	err := q.db.EachQueue(q.unread, func(k docindex.QueueKey, _ vocab.DocID) (more bool, err error) {
		if n++; k.Host != name {
			if n > q.scanSize {
				next = k.Host
				return false, nil
			}
			name = k.Host
			if h, err = q.scanHost(name); err != nil {
				return false, err
			}
			if h != nil {
				hosts = append(hosts, h)
			}
		}
		if h != nil {
			h.Push(k.Priority, k.Number)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	q.unread = next
	for _, h := range hosts {
		q.frontier.Offer(h)
	}
	return nil
}

// scanHost makes a host whose queue scan is about to read; nil if the queue was read before.
func (q *queues) scanHost(name string) (*frontier.Host, error) {
	if q.frontier.Lookup(name) != nil {
		return nil, nil
	}
	u, err := weburl.Parse("http://" + name)
	if err != nil {
		return nil, fmt.Errorf("queue of host %q: %w", name, err)
	}
	q.unread = name + "\x00" // so that created does not read it
	return q.host(&u)
}

// enqueue puts a document at the end of its level, as a revisit or not, and returns its number
// there. The caller offers the host once the batch is committed.
func (q *queues) enqueue(
	b *docindex.Batch, doc vocab.DocID, h *frontier.Host, priority uint8, again bool,
) uint64 {
	number := q.nextNumber(b)
	if again {
		number |= frontier.Again
	}
	b.PutQueued(docindex.QueueKey{Host: h.Name, Priority: priority, Number: number}, doc)
	h.Push(priority, number)
	return number
}

// keyOf finds the queue key of a queued document. Unless queues are ordered by quality it is not
// recorded, and the queue of the host is searched. It fails if the document is in no queue.
func (q *queues) keyOf(r *docindex.Record) (key docindex.QueueKey, err error) {
	u, err := weburl.Parse(r.URL) // which may have another scheme than the URL of an answer
	if err != nil {
		return key, err
	}
	known, _, err := q.db.URL(u.Fingerprint())
	if err != nil {
		return key, err
	}
	key = docindex.QueueKey{Host: u.Host(), Priority: known.Priority, Number: known.Number}
	if doc, err := q.db.Queued(key); err != nil || doc == r.Doc {
		return key, err
	}
	queue, found := docindex.QueueKey{Host: u.Host()}, false
	err = q.db.EachQueued(queue, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		key, found = k, doc == r.Doc
		return !found, nil
	})
	if err == nil && !found {
		err = fmt.Errorf("document index: document %d is not in the queue of %s", r.Doc, u.Host())
	}
	return key, err
}
