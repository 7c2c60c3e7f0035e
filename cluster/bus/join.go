package bus

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"slices"
	"strings"
	"unicode"
)

// A Role is the set of permissions of a token.
type Role string

// Crawler is the role of a process that only fetches pages.
const Crawler Role = "crawler"

// A JoinLine has everything that a process needs to join a crawl: the addresses of the owner, the
// fingerprint of its certificate authority, and a token. It is secret. Its text form is
//
//	10.0.0.1:4222,10.0.0.2:4222/crawler/TOKEN/AUTHORITY/CHECKSUM
//
// with hexadecimal numbers of 32, 64 and 8 digits. The owner listens at one of the addresses.
type JoinLine struct {
	Addresses []string // "10.0.0.1:4222"; at least one
	Role      Role
	Token     string
	Authority string // SHA-256 of the certificate authority's certificate
}

func (l JoinLine) String() string {
	text := strings.Join([]string{strings.Join(l.Addresses, ","), string(l.Role), l.Token, l.Authority}, "/")
	return fmt.Sprintf("%s/%08x", text, crc32.ChecksumIEEE([]byte(text)))
}

var errJoinLine = errors.New("the join line is incomplete or misspelt: copy all of it, as it was printed")

// ParseJoinLine parses a join line.
func ParseJoinLine(s string) (JoinLine, error) {
	fields := strings.Split(strings.TrimSpace(s), "/")
	if len(fields) != 5 {
		return JoinLine{}, errJoinLine
	}
	l := JoinLine{strings.Split(fields[0], ","), Role(fields[1]), fields[2], fields[3]}
	if l.String() != strings.TrimSpace(s) || !isHex(l.Token, 16) || !isHex(l.Authority, 32) {
		return JoinLine{}, errJoinLine
	}
	if len(l.Addresses) > maxAddresses || !isAddresses(l.Addresses) {
		return JoinLine{}, errJoinLine
	}
	if l.Role != Crawler {
		return JoinLine{}, fmt.Errorf("the join line is for a %q, which this version does not know", l.Role)
	}
	return l, nil
}

// Bounds of the addresses that a crawler stores.
const (
	maxAddresses = 32
	maxAddress   = 300 // bytes
)

// isAddresses reports whether all are HOST:PORT.
func isAddresses(all []string) bool {
	return !slices.ContainsFunc(all, func(address string) bool {
		host, port, err := net.SplitHostPort(address)
		return err != nil || host == "" || port == "" || len(address) > maxAddress || strings.ContainsAny(address, "/, ") ||
			strings.ContainsFunc(address, unicode.IsControl)
	})
}

// isHex reports whether s is a hexadecimal number of n bytes.
func isHex(s string, n int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == n
}
