// Package segment is the inverted index of a set of documents (BP98 §4.2.7): for each word the
// documents that hold it, with every hit; and what the searcher shows of each document. A segment
// is built once, by the sorter, and never written again; any number of processes read it.
//
// # Folder
//
// A segment is a folder that pebble reads as a database: a few sstables, which were written in key
// order and ingested once, its MANIFEST and two empty marker files. There is no log, no lock file,
// no options file; reading writes nothing. Each block of an sstable has a CRC-32C, which pebble
// checks as it reads the block from disk; decoders here check bounds and order as well, so that
// a damaged value is an error that names segment, word and chunk.
//
// # Keys
//
// All numbers in keys are big-endian, so that they sort.
//
//	"B" first          doc block: DocInfos from ordinal first (4 bytes) on
//	"C" "b"            the directory of doc blocks
//	"C" "c"            which documents were crawled
//	"C" "d"            DocIDs by ordinal
//	"C" "h"            hosts
//	"C" "r"            DocIDs of removed documents
//	"C" "s"            sketches, by ordinal
//	"C" "u"            depths of URLs, by ordinal
//	"C" "w"            lengths in words, by ordinal
//	"F" word 00 first  full list: postings of word from ordinal first (4 bytes) on
//	"H" word 00 first  the hits of the same chunk, unless they stand in it
//	"S" word 00 first  short list, of documents with a title, meta, URL or anchor hit
//	"T" word 00 first  the hits of the same chunk, unless they stand in it
//	"Z"                totals
//
// Words are UTF-8, at most MaxWord bytes, without 00. Kinds lie in sstables of their own: B, C and
// F; H; S; T and Z. A reader of postings thus passes over no hits.
//
// # Chunk of postings (F, S)
//
// A list is cut into chunks of up to 32 KB, so that a list of the usual length is one read and a
// long one can be entered anywhere. Blocks of 128 postings are decoded at a time.
//
//	flags      1 byte     1: first chunk of its word; 2: last; 4: hits stand in this chunk
//	n          uvarint    postings in the chunk, at least 1
//	df         uvarint    first chunk, unless it is also the last: postings of the word
//	hits       uvarint    first chunk: hits of the word
//	max        1 byte     first chunk, unless n = 1: largest impact of the word
//	table                 first chunk, unless it is also the last: the number of chunks (uvarint), and for each
//	                        4 first ordinal, little-endian
//	                        1 largest impact
//	directory  11 bytes   for each block, where n > 128:
//	                        4 last ordinal, little-endian
//	                        1 largest impact
//	                        2 end of the block, counted from the end of the directory, little-endian
//	                        4 end of the block's hits, counted from the start of the hits, little-endian
//	blocks                of 128 postings, the last one of fewer
//	hits                  with flag 4, which only a chunk of one block has: its hits, to the end
//
// A block is
//
//	width      1 byte     of a gap, 0 to 32 bits
//	least      1 byte     impact
//	width      1 byte     of an impact above the least, 0 to 8 bits
//	gaps       ordinal − ordinal before − 1, packed from the low bit on; before the first posting
//	           of a chunk stands first − 1, so that its gap is 0
//	impacts    packed likewise
//
// and that of a chunk with n = 1 is its impact, 1 byte: half of all words are in one document only.
//
// # Hits (H, T)
//
// A value holds the hits of its chunk block by block. A block of one posting is its hits alone. Any
// other block is
//
//	width      1 byte     0 to 8: bits of a length
//	lengths    for each posting the bytes of its hits − 1, packed; all bits 1 in a width above 0
//	           mean that an uvarint with the rest follows the packed lengths
//	hits       of the postings, one after the other
//
// and a hit is an uvarint 2·gap + c, followed by the hit's low byte (type, capital, size) if c = 1;
// otherwise the low byte is that of the hit before, at first that of plain text. The gap is to the
// position before in the same field, and to 0 where the field begins.
//
// Over the 7,804 pages of the small documentation web, 95 MB of text, a hit takes 1.88 bytes and a posting
// 2.85, keys included: with 14.7 million hits, 3.5 million postings and 185,000 words some 4.8 KB
// a page; the doc blocks take 3.6 KB more. The paper's hits take 2 bytes and lose positions past 4,096.
//
// # Documents (B, C)
//
// A doc block holds neighbouring documents, some 32 KB of them: the uvarint length of its content
// and the content compressed by zstd, which is
//
//	n          4 bytes    documents
//	ends       4 bytes    for each, the end of its record, counted from the end of this table
//	records    uvarint DocID; flags (1: crawled; 2: has a time); varint seconds since 1970 (flag 2);
//	           uvarint place; uvarint words; URL, title, description, language, text, each
//	           with its uvarint length in front
//
// The columns d, u and w are packed: the number of values (4 bytes), the least value (8), width (1),
// and the differences to the least, of that many bits. c is the number of documents and a bit for
// each. r is the number of DocIDs and uvarint differences, ascending. b is the number of blocks, and
// for each its first ordinal (4 bytes) and the key of its first document, with its uvarint length. h is the
// number of hosts, and for each its first ordinal minus that of the one before, and its name as it stands
// in keys, with its length in front (uvarints). s is 8 bytes for each document, its [vocab.Sketch].
//
// The totals are: version (1 byte), documents (uvarint), words of all documents (uvarint), average
// length that impacts were computed with (8 bytes, float64), different words, postings and hits of the
// full and of the short list (5 uvarints, postings before hits).
//
// # Example
//
// Documents 0 to 4; "anatomy" stands in the title and twice in the text of document 3:
//
//	key    46 61 6e 61 74 6f 6d 79 00 00 00 00 03      "F" anatomy 00, first ordinal 3
//	value  07                                          first and last chunk, hits inside
//	       01                                          one posting
//	       03                                          three hits
//	       e6                                          its impact, 230
//	       08                                          gap 4, low byte as before: plain@4/3
//	       12                                          gap 9: plain@13/3
//	       01 7b                                       gap 0, low byte 7b: title^@0/3
package segment

// Version of the format. 2 has the table of chunks and the column u, 3 the columns h and s.
const Version = 3

// MaxWord is the longest word in bytes that a segment takes.
const MaxWord = 1024

// A List is one of the two sets of lists (BP98 §4.2.7).
type List uint8

// The lists of a word.
const (
	Full  List = iota // all documents that hold it, all hits
	Short             // documents that hold it in title, meta, URL or anchors, and these hits alone
	lists
)

func (l List) String() string {
	if l == Short {
		return "short"
	}
	return "full"
}

// The kinds of keys.
const (
	kindDocs   = 'B'
	kindColumn = 'C'
	kindFull   = 'F'
	kindHits   = 'H'
	kindShort  = 'S'
	kindShorts = 'T' // hits of the short list
	kindTotals = 'Z'
)

// postingKind and hitKind are the kinds of a list's chunks.
func (l List) postingKind() byte {
	if l == Short {
		return kindShort
	}
	return kindFull
}

func (l List) hitKind() byte {
	if l == Short {
		return kindShorts
	}
	return kindHits
}
