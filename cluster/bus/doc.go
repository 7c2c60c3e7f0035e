// Package bus carries messages between the owner of a crawl and its crawlers on other machines.
//
// The owner runs a NATS server inside its process. Crawlers connect to it; nothing connects to
// them. Every connection uses TLS 1.3. The certificate authority is created at the first start. Its
// SHA-256 is in the join line, so a crawler trusts only the owner's server. The join line also has
// the token of its role, and a checksum that detects a truncated line.
//
// The subjects are
//
//	up.ID      from the crawler ID to the owner
//	down.ID    from the owner to the crawler ID
//	owners     from the owner to all crawlers: addresses of machines that may be the owner, as JSON
//	asks.ID    from the crawler ID to the owner: requests these addresses; empty
//	owners.ID  the answer, as in owners
//
// and the server lets a crawler publish to its own up and asks, and subscribe to its own down and
// owners and to the common owners.
// IDs are random and 128 bits long, so a crawler cannot speak for another.
//
// When the connection is lost, a crawler tries all known addresses at the same time, and uses the
// first server that proves to be the owner named by the join line. So it follows the collection to
// a new owner that has the same keys.
//
// Messages of one sender arrive in order, each at most once. Messages of a single part may overtake
// the parts of a large one: on a slow connection a sign of life must not wait for a page. Messages
// are lost with a connection, and when a receiver has too many pending; a sender that needs an
// answer repeats the message until the answer arrives. A message may be larger than a NATS server
// accepts by default, so it is split into parts:
//
//	OFFSET  SIZE  MEANING
//	0       1     flags: 1 first part, 2 last part
//	1       4     number, little-endian: one more than the previous part of the message
//	5             content
package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	// MaxMessage bounds a message, in bytes: the largest page or sitemap with its other fields.
	MaxMessage = 64 << 20

	partHeader = 1 + 4
	maxPart    = 128 << 10 // bytes of content of one part

	firstPart = 1
	lastPart  = 2
)

var errTooLarge = fmt.Errorf("the message is larger than %d MB", MaxMessage>>20)

// A splitter splits the messages of one sender into parts. The zero value is ready.
type splitter struct {
	mu   sync.Mutex    // held while the parts of a large message are sent
	last atomic.Uint32 // number of the last part
}

// split calls send with the parts of a message, in a buffer that is reused.
func (s *splitter) split(message []byte, send func(part []byte) error) error {
	if len(message) > MaxMessage {
		return errTooLarge
	}
	parts := max(1, (len(message)+maxPart-1)/maxPart)
	if parts > 1 {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	number := s.last.Add(uint32(parts)) - uint32(parts)
	buf := make([]byte, 0, partHeader+min(len(message), maxPart))
	for i := range parts {
		n := min(len(message), maxPart)
		flags := byte(0)
		if i == 0 {
			flags |= firstPart
		}
		if i == parts-1 {
			flags |= lastPart
		}
		number++
		buf = binary.LittleEndian.AppendUint32(append(buf[:0], flags), number)
		if err := send(append(buf, message[:n]...)); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// A joiner assembles the messages of one sender from their parts. The zero value is ready.
type joiner struct {
	message []byte
	begun   bool
	next    uint32 // number of the next part
	order   uint64 // order in which the message began, see Server.join
}

var errPart = errors.New("a part of a message arrived out of order")

// add adds a part. It returns the message if it is complete, or nil. The message may share memory
// with the part. A first part discards an unfinished message, because its sender has reconnected. A
// message of a single part leaves it unchanged.
func (j *joiner) add(part []byte) (message []byte, err error) {
	if len(part) < partHeader {
		return nil, errPart
	}
	flags, number, content := part[0], binary.LittleEndian.Uint32(part[1:]), part[partHeader:]
	switch {
	case flags&(firstPart|lastPart) == firstPart|lastPart:
		return content, nil
	case flags&firstPart != 0:
		*j = joiner{begun: true, next: number}
	}
	switch {
	case !j.begun || number != j.next:
		*j = joiner{}
		return nil, errPart
	case len(j.message)+len(content) > MaxMessage:
		*j = joiner{}
		return nil, errTooLarge
	}
	j.next++
	j.message = append(j.message, content...)
	if flags&lastPart == 0 {
		return nil, nil
	}
	message = j.message
	*j = joiner{}
	return message, nil
}
