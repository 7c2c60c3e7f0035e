// Package barrel reads and writes barrels (BP98 §4.2.6): the terms and hits of one batch of documents,
// sorted by term. The sorter merges them.
//
// In memory a batch is a forward index, document by document. It is sorted by term when it is written,
// because it fits in memory; the paper's barrels were read again and sorted in place (BP98 §4.4). The
// sorter reads each file once, from start to end.
//
// A file is written once and depends on no other. It has its own lexicon, so that indexers need not
// wait for each other (BP98 §4.4 logs new words instead). It is not synced, because it can be
// rebuilt from the repository, but checksums cover all its bytes.
//
// # Format, version 8
//
//	OFFSET  SIZE  MEANING
//	0       8     "anatbar8"
//	8             sections: lexicon, text blocks, document blocks, barrels
//	d             directory
//	n-24    8     d, little-endian
//	n-16    4     length of the directory, little-endian
//	n-12    4     CRC-32C of the directory, little-endian
//	n-8     8     "anatbar8"
//
// Numbers below are uvarints unless a size is given. A CRC is CRC-32C, 4 bytes, little-endian.
//
//	directory: documents, terms, length and CRC of the lexicon,
//	           number of text blocks, for each: length of its content, length, CRC,
//	           number of document blocks, for each: documents, length, CRC,
//	           number of barrels, for each: terms, postings, hits, length, CRC
//	lexicon:   for each term, sorted by bytes: length of the prefix shared with the term before,
//	           length of the rest, rest. The rank of a term is its vocab.TermID
//	texts:     a block of package texts
//	documents: in the order of weburl.URL.Key: DocID, length and bytes of URL, title, description and
//	           language, block, start and length of the text, seconds of the fetch since 1970 (signed
//	           varint), address, words, medium (1 byte), genre (1 byte), date (vocab.Day), sketch (8
//	           bytes, little-endian), flags (1 byte; 1: crawled, 2: noarchive, 4: max-snippet, and
//	           then its characters, 8: unavailable_after, and then its Unix seconds)
//	barrel:    for each term of its range the number of postings; for each posting in the order of
//	           documents: 2 × (ordinal − ordinal of the posting before − 1), where −1 precedes the
//	           first, plus 1 if it has several hits; number of hits − 2, if several; the hits
//	hit:       2 × gap, plus 1 if the attributes differ, and if so the attribute byte of vocab.Hit
//
// The gap of a hit is its position minus that of the hit before, or its position if it is the first
// of its field. Attributes are compared with the hit before, and at the first hit with plain text
// without capital. A two-bit code that could also toggle the capital bit and return to plain text
// took 3 % more.
//
// The document "b A b", without its URL, title and so on, in a single barrel with the terms a, b:
//
//	01           term 0, one posting
//	00 03 0b     document 0, one hit: position 1, attributes: plain, capital, normal size
//	01           term 1, one posting
//	01 00 00 04  document 0, two hits: position 0; gap 2
//
// Over 7,804 pages of documentation a hit takes 2.18 bytes, terms and documents included; the paper's
// took 2 and lost positions above 4,096 (BP98 §4.2.5).
//
// Version 1 had no sketches, version 2 no media and dates, version 3 texts among the documents, version
// 4 barrels in the order of documents, version 5 no menu hits, version 6 no genres, version 7 no
// publishers' controls. Hits of parts were added to version 6.
package barrel

import (
	"encoding/binary"
	"hash/crc32"

	"anatomy/vocab"
)

const (
	magic    = "anatbar8"
	tailSize = 24

	// docBlock is the size in bytes at which a document block is closed.
	docBlock = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The flags of a document.
const (
	docCrawled = 1 << iota
	docNoArchive
	docBounded
	docUntil
)

const (
	attributeBits = 0xFF
	plainText     = vocab.Hit(vocab.NormalSize) // attributes of plain text without capital
)

// AppendHits appends the encoded hits of one posting, which must be sorted by [vocab.Hit.Before].
func AppendHits(dst []byte, hits []vocab.Hit) []byte {
	attributes, field, last := plainText, vocab.Body, uint32(0)
	for _, h := range hits {
		changed := (h^attributes)&attributeBits != 0
		if changed {
			attributes = h & attributeBits
			if f := h.Field(); f != field {
				field, last = f, 0
			}
		}
		gap := uint64(h.Position()-last) << 1
		last = h.Position()
		if changed {
			dst = append(binary.AppendUvarint(dst, gap|1), byte(h))
		} else {
			dst = binary.AppendUvarint(dst, gap)
		}
	}
	return dst
}

// A section is an entry of the directory.
type section struct {
	offset int64
	length int64
	crc    uint32

	docs int // of a document block
	raw  int // of a text block: length of its content

	// For a barrel; the lexicon also has terms.
	first, end            vocab.TermID
	postings, hits, terms int
}
