package vocab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A DocID identifies a document permanently. It is assigned when the document's URL is first seen,
// whether or not the page is ever fetched (BP98 §4.1, §4.2.3). The DocIDs of a data folder are
// dense and start at 1; 0 is not a document. Example: 4711.
type DocID uint64

// A collection may consist of several data folders, its shards. Outside its shard, a DocID has the
// number of the shard above these bits.
const shardBits = 40

// Outer returns the DocID that a document with the DocID doc in its shard has outside of it.
func Outer(shard int, doc DocID) DocID { return DocID(shard)<<shardBits | doc }

// Shard returns the number of the shard of an outer DocID, and the DocID in the shard.
func (d DocID) Shard() (shard int, doc DocID) { return int(d >> shardBits), d & (1<<shardBits - 1) }

// A TermID is a term's rank in the sorted dictionary of one barrel file or segment. It has no meaning
// outside that file. BP98 §4.2.4 has one lexicon for all; here each file has its own, so that indexers
// never wait for each other. Example: 0 is the first term of the dictionary.
type TermID uint32

// An Ordinal is a document's number in one segment, in the order of [weburl.URL.Key]: 0, 1, 2, …
type Ordinal uint32

// A Fingerprint is the 64-bit hash of a URL's identity, the key of the seen test (BNW03). URLs that
// differ only in http and https have the same Fingerprint.
type Fingerprint uint64

// A ContentID is the first half of the SHA-256 of a body. Documents with equal ContentIDs are
// duplicates.
type ContentID [16]byte

// ContentOf returns the ContentID of a body.
func ContentOf(body []byte) (c ContentID) {
	sum := sha256.Sum256(body)
	copy(c[:], sum[:])
	return c
}

func (c ContentID) String() string { return hex.EncodeToString(c[:]) }

// An Address is where a record is in the repository: file number, offset of its block in that file,
// slot within the block. Addresses ascend in the order of writing; 0 is not an address. Example:
// 3:65536:7.
type Address uint64

const (
	addressSlotBits   = 10
	addressOffsetBits = 34
)

// The largest values in an Address.
const (
	MaxAddressSlot   = 1<<addressSlotBits - 1
	MaxAddressOffset = 1<<addressOffsetBits - 1
)

// MakeAddress packs an address. Files are numbered from 1, so no address packs to 0.
func MakeAddress(file uint32, offset int64, slot int) Address {
	return Address(uint64(file)<<(addressOffsetBits+addressSlotBits) | uint64(offset)<<addressSlotBits | uint64(slot))
}

// File returns the number of the repository file.
func (a Address) File() uint32 { return uint32(a >> (addressOffsetBits + addressSlotBits)) }

// Offset returns the byte offset of the block in its file.
func (a Address) Offset() int64 { return int64(a>>addressSlotBits) & MaxAddressOffset }

// Slot returns the record's number within its block.
func (a Address) Slot() int { return int(a) & MaxAddressSlot }

func (a Address) String() string { return fmt.Sprintf("%d:%d:%d", a.File(), a.Offset(), a.Slot()) }
