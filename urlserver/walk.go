package urlserver

import (
	"fmt"
	"strconv"

	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Memory has the length of each queue, and where it begins. After Open these are read from the queues
// themselves, which at millions of URLs takes seconds. So Open reads the first hosts, each Take some more, in the order of
// their names, and a host that something is found on is read at once. A host is read as a whole: nothing else
// has to know. Counters in the records of hosts would be read sooner, and would have to be written with each
// change of a queue.

const (
	// walkMost is about how many URLs are read at a time: 10 ms.
	walkMost = 20_000

	// numberBlock is how many numbers of queues are set aside at a time, so that the highest need not be looked for.
	numberBlock = 1 << 16

	metaNumbers = "numbers"
)

// walked says whether the queues of all hosts are in memory.
func (s *Server) walked() bool { return s.unread == allRead }

// allRead is behind the names of all hosts.
const allRead = "\xff"

// walk reads the queues of the next hosts.
func (s *Server) walk() error {
	if s.walked() {
		return nil
	}
	var hosts []*host
	var h *host // nil while the queue of one that was read is passed
	n, at, next := 0, "", allRead
	err := s.db.EachQueue(s.unread, func(k docindex.QueueKey, doc vocab.DocID) (more bool, err error) {
		if n++; k.Host != at {
			if n > s.o.walkMost {
				next = k.Host
				return false, nil
			}
			at = k.Host
			if h, err = s.meet(k.Host); err != nil {
				return false, err
			}
			if h != nil {
				hosts = append(hosts, h)
			}
		}
		if h != nil {
			h.push(k.Priority, k.Number)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	s.unread = next
	for _, h := range hosts {
		s.frontier.offer(h)
	}
	return nil
}

// meet makes a host whose queue is about to be read; nil of one that is there, and was.
func (s *Server) meet(name string) (*host, error) {
	if s.frontier.hosts[name] != nil {
		return nil, nil
	}
	u, err := weburl.Parse("http://" + name)
	if err != nil {
		return nil, fmt.Errorf("queue of host %q: %w", name, err)
	}
	s.unread = name + "\x00" // it is not read by found
	return s.host(name, u.Hostname())
}

// found reads the queue of a host that is new to memory and that walk has not come to.
func (s *Server) found(h *host) error {
	if h.name < s.unread {
		return nil
	}
	err := s.db.EachQueued(docindex.QueueKey{Host: h.name}, func(k docindex.QueueKey, doc vocab.DocID) (bool, error) {
		h.push(k.Priority, k.Number)
		return true, nil
	})
	s.frontier.offer(h)
	return err
}

// recoverNumbers finds a number that no place in a queue has reached.
func (s *Server) recoverNumbers() error {
	text, err := s.db.Meta(metaNumbers)
	if err != nil {
		return err
	}
	if text != "" {
		s.number, err = strconv.ParseUint(text, 10, 63)
		s.reserved = s.number
		return err
	}
	err = s.db.EachQueue("", func(k docindex.QueueKey, _ vocab.DocID) (bool, error) { // of an index that had none set aside
		s.number = max(s.number, k.Number&^again)
		return true, nil
	})
	s.reserved = s.number
	return err
}

// nextNumber gives out the next number of a place in a queue.
func (s *Server) nextNumber(b *docindex.Batch) uint64 {
	s.number++
	if s.number > s.reserved {
		s.reserved = s.number + numberBlock - 1
		b.PutMeta(metaNumbers, strconv.FormatUint(s.reserved, 10))
	}
	return s.number
}
