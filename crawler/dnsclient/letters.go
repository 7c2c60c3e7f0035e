package dnsclient

import "strings"

// letterCase is the case in which a name is sent: bit i&63 is set if its i-th byte, a letter, is a
// capital. Servers copy the question into the answer, so that a forger has to guess it, too
// (draft-vixie-dnsext-dns0x20). Zero is small letters.
type letterCase uint64

// of returns the name, which is in small letters, in that case.
func (l letterCase) of(name string) string {
	if l == 0 {
		return name
	}
	b := []byte(name)
	for i := range b {
		b[i] = l.at(name, i)
	}
	return string(b)
}

func (l letterCase) at(name string, i int) byte {
	c := name[i]
	if l>>(i&63)&1 == 1 && 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// A caseMatch is the result of comparing an answer's name with the name that was sent.
type caseMatch uint8

const (
	otherName caseMatch = iota
	otherCase           // the same name with other letters
	sameName            // all bytes are the same, but all letters sent were small
	sameCase            // all bytes are the same, capitals among them
)

// compare compares the name of an answer, with or without its last dot, with the one sent.
func (l letterCase) compare(answer, name string) caseMatch {
	answer = strings.TrimSuffix(answer, ".")
	if !strings.EqualFold(answer, name) || len(answer) != len(name) {
		return otherName
	}
	found := sameName
	for i := range len(name) {
		c := l.at(name, i)
		if answer[i] != c {
			return otherCase
		}
		if c != name[i] {
			found = sameCase
		}
	}
	return found
}

// casesLost is the number of consecutive names after which a server counts as one that does not keep
// the case: it answered them in another case, and did not answer over TCP.
const casesLost = 3

// acceptCase records the case of an answer, and reports whether the answer is valid. inflight.mu is
// held.
func (s *server) acceptCase(l caseMatch) bool {
	if l == sameCase {
		s.caseKept, s.caseLost = true, 0
	}
	return l == sameName || l == sameCase || l == otherCase && s.caseLost == casesLost
}

// recordTCPCase records the case of an answer over TCP. One answer suffices, because answers over TCP
// are not forged. inflight.mu is held.
func (s *server) recordTCPCase(l caseMatch) {
	switch {
	case l == sameCase:
		s.caseKept, s.caseLost = true, 0
	case l == otherCase && !s.caseKept:
		s.caseLost = casesLost
	}
}

// lostWithoutTCP counts a name that was answered in another case and could not be queried over TCP.
// A forger has to guess the port and the ID casesLost times for a server that never kept the case.
// inflight.mu is held.
func (s *server) lostWithoutTCP() {
	if !s.caseKept && s.caseLost < casesLost {
		s.caseLost++
	}
}
