// Package bus carries messages between the owner of a crawl and its crawlers on other machines.
//
// The owner runs a NATS server inside its process. Crawlers connect to it; nothing connects to them.
// Every connection uses TLS 1.3. The certificate authority is made at the first start, and its
// SHA-256 is in the join line, so that a crawler trusts the owner's server and no other. The join
// line also has the token of its role, and a checksum, so that a line that was cut is noticed.
//
// The subjects are
//
//	up.ID    from the crawler ID to the owner
//	down.ID  from the owner to the crawler ID
//
// and the server lets a crawler publish to its own up and subscribe to its own down. IDs are random
// and 128 bits long, so a crawler cannot speak for another.
//
// Messages of one sender arrive in order, each at most once. A lost connection loses messages:
// whoever needs an answer repeats the message until it comes. A message is larger than a NATS server
// passes on by default, so it travels in parts:
//
//	OFFSET  SIZE  MEANING
//	0       1     flags: 1 first part, 2 last part
//	1             content
package bus

import (
	"errors"
	"fmt"
)

const (
	// MaxMessage bounds a message, in bytes: the largest page or sitemap, with the fields beside it.
	MaxMessage = 64 << 20

	maxPart = 512 << 10 // bytes of content of one part

	firstPart = 1
	lastPart  = 2
)

var errTooLarge = fmt.Errorf("bus: a message is larger than %d MB", MaxMessage>>20)

// split calls send with the parts of a message, each with its flags, in a buffer that is reused.
func split(message []byte, send func(part []byte) error) error {
	if len(message) > MaxMessage {
		return errTooLarge
	}
	buf := make([]byte, 0, 1+min(len(message), maxPart))
	for first := true; first || len(message) > 0; first = false {
		n := min(len(message), maxPart)
		flags := byte(0)
		if first {
			flags |= firstPart
		}
		if n == len(message) {
			flags |= lastPart
		}
		buf = append(append(buf[:0], flags), message[:n]...)
		if err := send(buf); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// A joiner puts the parts of one sender's messages together. The zero value is ready.
type joiner struct {
	message []byte
	begun   bool
}

var errPart = errors.New("bus: a part of a message that did not begin")

// add adds a part and returns the message if it is whole now, else nil. The message may share memory
// with the part. A first part drops an unfinished message: its sender has connected again.
func (j *joiner) add(part []byte) (message []byte, err error) {
	if len(part) == 0 {
		return nil, errPart
	}
	flags, content := part[0], part[1:]
	if flags&firstPart != 0 {
		j.begun, j.message = true, nil
	}
	switch {
	case !j.begun:
		return nil, errPart
	case len(j.message)+len(content) > MaxMessage:
		*j = joiner{}
		return nil, errTooLarge
	case flags&(firstPart|lastPart) == firstPart|lastPart:
		*j = joiner{}
		return content, nil
	}
	j.message = append(j.message, content...)
	if flags&lastPart == 0 {
		return nil, nil
	}
	message = j.message
	*j = joiner{}
	return message, nil
}
