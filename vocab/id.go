package vocab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A DocID names a document for good: it is given out when the document's URL is first seen,
// whether or not the page is ever fetched (BP98 §4.1, §4.2.3). IDs of a data folder are dense
// and start at 1; 0 is no document. Example: 4711.
type DocID uint64

// A WordID is a word's rank in the sorted lexicon of one barrel file or segment. It means nothing
// outside that file (BP98 §4.2.4 has one lexicon for all; ours are private, so that indexers never
// wait for each other). Example: 0 is the first word of the lexicon.
type WordID uint32

// An Ordinal is a document's place in one segment, in the order of [weburl.URL.Key]: 0, 1, 2, …
type Ordinal uint32

// A Fingerprint is the 64-bit hash of a URL's identity, the key of the seen test (BNW03).
// Two URLs that differ in nothing but http and https have the same one.
type Fingerprint uint64

// A ContentID is the first half of the SHA-256 of a body: equal bodies are one page, however
// many URLs serve it.
type ContentID [16]byte

// ContentOf is the ContentID of a body.
func ContentOf(body []byte) (c ContentID) {
	sum := sha256.Sum256(body)
	copy(c[:], sum[:])
	return c
}

func (c ContentID) String() string { return hex.EncodeToString(c[:]) }

// A Place is where a record lies in the repository: file number, offset of its block in that
// file, slot within the block. Places grow in the order of writing; 0 is no place.
type Place uint64

const (
	placeSlotBits   = 10
	placeOffsetBits = 34
)

// The largest values that a Place can carry.
const (
	MaxPlaceSlot   = 1<<placeSlotBits - 1
	MaxPlaceOffset = 1<<placeOffsetBits - 1
)

// PlaceAt packs a place. Files count from 1, so that no place packs to 0.
func PlaceAt(file uint32, offset int64, slot int) Place {
	return Place(uint64(file)<<(placeOffsetBits+placeSlotBits) | uint64(offset)<<placeSlotBits | uint64(slot))
}

// File is the number of the repository file.
func (p Place) File() uint32 { return uint32(p >> (placeOffsetBits + placeSlotBits)) }

// Offset is the byte offset of the block in its file.
func (p Place) Offset() int64 { return int64(p>>placeSlotBits) & MaxPlaceOffset }

// Slot is the record's number within its block.
func (p Place) Slot() int { return int(p) & MaxPlaceSlot }

func (p Place) String() string { return fmt.Sprintf("%d:%d:%d", p.File(), p.Offset(), p.Slot()) }
