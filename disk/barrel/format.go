// Package barrel reads and writes barrels (BP98 §4.2.6): the words of one batch of documents with
// their hits, in barrels that each hold a range of words. The sorter merges them.
//
// A batch is a forward index, document by document, as long as it is in memory, and is sorted by word there,
// barrel by barrel, when it is written: it fits, while the paper's barrels had to be read again and sorted in
// place (BP98 §4.4). What is left to the sorter is to merge files, each read once from its start to its end.
//
// A file is written once and needs no other: it has its own lexicon, so that indexers never wait
// for each other (BP98 §4.4 logs new words instead). It is not made durable, because it can be
// rebuilt from the repository, but every byte of it is under a checksum.
//
// # Format, version 6
//
//	OFFSET  SIZE  MEANING
//	0       8     "anatbar6"
//	8             sections, one after the other: lexicon, blocks of texts, blocks of documents, barrels
//	d             directory
//	n-24    8     d, little-endian
//	n-16    4     length of the directory, little-endian
//	n-12    4     CRC-32C of the directory, little-endian
//	n-8     8     "anatbar6"
//
// Numbers below are uvarints; a CRC is CRC-32C, four bytes, little-endian.
//
//	directory: documents, words, length and CRC of the lexicon,
//	           number of blocks of texts, for each: length of its content, length, CRC,
//	           number of blocks of documents, for each: documents, length, CRC,
//	           number of barrels, for each: words, entries, hits, length, CRC
//	lexicon:   for each word, sorted by bytes: length of the prefix shared with the one before,
//	           length of the rest, rest. A word's number (vocab.WordID) is its rank here
//	texts:     a block of package texts
//	documents: in the order of weburl.URL.Key: docID, length and bytes of URL, title, description,
//	           language, block, start and length of the text, seconds of the fetch since 1970 (signed
//	           varint), place, words, medium (1 byte), date (vocab.Day), sketch
//	           (8 bytes, little-endian), 1 if crawled else 0
//	barrel:    for each word of the range the number of its postings; for each posting, in the order of
//	           documents: 2 × (ordinal minus the one before minus 1) + (1 if it has several hits), counted from
//	           ordinal −1 for each word; number of hits minus 2, if several; the hits
//	hit:       2 × gap + (1 if the attributes changed), and if so the attribute byte of vocab.Hit
//
// The gap of a hit is its position minus that of the hit before, or its position where it is the
// first of its field. Attributes change against the hit before, at the first one against plain text
// without capital. A code of two bits that could also turn the capital bit and return to plain
// text took 3 % more.
//
// The document "b A b" with URL, title and so on left out is, in the one barrel of words a, b:
//
//	01           word 0, one posting
//	00 03 0b     document 0, one hit: position 1, attributes: plain, capital, normal size
//	01           word 1, one posting
//	01 00 00 04  document 0, two hits: position 0; gap 2
//
// Over the 7,804 pages of the small documentation web a hit takes 2.18 bytes, numbers of words
// and documents counted; the paper's took 2 and lost positions past 4,096 (BP98 §4.2.5).
// Version 1 had no sketches, version 2 no media and dates, version 3 had texts among the documents, version 4
// barrels in the order of documents, version 5 no hits of menus. A file of version 6 may have no
// hits of parts, as those came later.
package barrel

import (
	"encoding/binary"
	"hash/crc32"

	"anatomy/vocab"
)

const (
	magic    = "anatbar6"
	tailSize = 24

	// docBlock is the size at which a block of documents is closed.
	docBlock = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	attributeBits = 0xFF
	plainText     = vocab.Hit(vocab.NormalSize) // attributes of plain text without capital
)

// AppendHits appends the coded hits of one word in one document. They are sorted by
// [vocab.Hit.Before].
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

// A section is a stretch of the file that the directory tells of.
type section struct {
	offset int64
	length int64
	crc    uint32

	docs                  int // of a block of documents
	raw                   int // length of the content of a block of texts
	first, end            vocab.WordID
	postings, hits, words int // of a barrel
}
