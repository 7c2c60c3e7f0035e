// Package segment is the inverted index of a set of documents (BP98 §4.2.7): for each word the
// documents that hold it, with every hit; and what the searcher shows of each document. A segment
// is built once, by the sorter, and never written again; any number of processes read it.
//
// # Folder
//
// A segment is a folder that pebble reads as a database, two files of lists and one of texts. The database is a few
// sstables, which were written in key order and ingested once, its MANIFEST and two empty marker files. There is
// no log, no lock file, no options file; reading writes nothing. It holds the documents and the dictionary, and
// there the lists of words that are rare; all others lie in the files, which are read where the system maps
// them into memory: they take no memory but the page cache, and nothing is copied.
//
// Each block of an sstable has a CRC-32C, which pebble checks as it reads the block from disk, and each 64 KB of a
// file one, which is checked when a byte of them is first read; decoders check bounds and order as well, so that
// a damaged value is an error that names segment and word.
//
// # Keys
//
//	"B" first  doc block: DocInfos from ordinal first (4 bytes, big-endian, so that keys sort) on
//	"C" "b"    the directory of doc blocks
//	"C" "c"    which documents were crawled
//	"C" "d"    DocIDs by ordinal
//	"C" "h"    hosts
//	"C" "l"    languages, by ordinal
//	"C" "m"    media, by ordinal
//	"C" "n"    lengths and letters of titles, by ordinal
//	"C" "r"    DocIDs of removed documents
//	"C" "s"    sketches, by ordinal
//	"C" "t"    dates, by ordinal
//	"C" "u"    depths of URLs, by ordinal
//	"C" "w"    lengths in words, by ordinal
//	"F" word   leaf of the dictionary of full lists, whose last word that is
//	"S" word   leaf of that of short lists, of documents with a title, meta, URL or anchor hit
//	"Z"        totals
//
// Words are UTF-8, at most MaxWord bytes. Kinds lie in sstables of their own: B; C and F; S and Z.
//
// # Leaf of the dictionary (F, S)
//
// Words that follow one another, some 8 KB with their entries.
//
//	n          uvarint    words
//	           uvarint    bytes of the words
//	starts     2 bytes    of every 16th word: where it begins among the words,
//	           2          and its entry among the entries, little-endian
//	words      uvarint    for each: the bytes that it shares with the one before, 0 for every 16th,
//	           uvarint    the number of others,
//	           uvarint    the bytes of its entry,
//	                      and the others
//	entries
//
// An entry begins with
//
//	head       uvarint    twice the number of postings, plus 1 if the list stands here
//	hits       uvarint    in all postings
//
// and then come, of a list that stands here, which has less than 128 postings and at most 512 bytes of hits,
//
//	first      uvarint    ordinal of the first posting
//	width      1 byte     of a gap, 0 to 32 bits, if there are others
//	gaps                  ordinal − ordinal before − 1 of the others, packed
//	hits                  see below, to the end
//
// or, of any other, the largest impact (1 byte), and offset and length of its postings and of its hits in their files
// (4 uvarints). Impacts of a list that stands here are not stored: its hits are at hand, and so are the lengths of
// its documents.
//
// # Files of lists (postings, hits)
//
//	0          8          "anatlst3"
//	8                     lists in the order of words, the full one of a word before its short one
//	n                     CRC-32C of each 64 KB before, the last of fewer (4 bytes each, little-endian)
//	           8          n, little-endian
//	           4          CRC-32C of what stands behind n, little-endian
//	           8          "anatlst3"
//
// The postings of a list are
//
//	directory  14 bytes   for each block:
//	                        4 last ordinal, little-endian
//	                        1 largest impact
//	                        4 end of the block, counted from the end of the tops, little-endian
//	                        5 end of the block's hits, counted from the start of the list's, little-endian
//	tops       1 byte     for each 8 blocks: largest impact
//	blocks                of 128 postings, the last one of fewer
//
// and a block is
//
//	width      1 byte     of a gap, 0 to 32 bits; 255 if a bitmap stands in their place
//	least      1 byte     impact
//	width      1 byte     of an impact above the least, 0 to 8 bits
//	gaps       ordinal − ordinal before − 1, packed from the low bit on; before ordinal 0 stands −1
//	impacts    packed likewise
//
// A bitmap has a bit for each document, from the low bit of the first byte on, which belongs to the first multiple of 8
// that is not above the last ordinal of the block before + 1; it ends with the byte of the block's own last ordinal. A
// block becomes one where that takes at most 256 bytes and a fourth more than the gaps would.
//
// # Hits
//
// Both forms begin, for a block of more than one posting in the dictionary and for any block in the files, with
//
//	width      1 byte     0 to 8: bits of a count
//	counts     for each posting the bytes of its hits − 1 in the dictionary, its hits − 1 in the files,
//	           packed; all bits 1 in a width above 0 mean that an escape has the rest
//
// In the dictionary follow the escapes, which are uvarints, and the hits of the postings, one after the other: a hit is
// an uvarint 2·gap + c, followed by the hit's low byte (type, capital, size) if c = 1; otherwise the low byte is that of
// the hit before, at first that of plain text. The gap is to the position before in the same field, and to 0 where the field
// begins. In the files follow
//
//	escapes    uvarint    bytes of the escapes, and these
//	firsts     2 bytes    head of a group of gaps: the position of the first hit of each posting,
//	                      and the group
//	groups     uvarint    twice the number of groups of low bytes, plus 1 if there is a group of gaps less
//	length     uvarint    of all groups of gaps
//	heads      2 bytes    for each group of gaps, and then for each of low bytes
//	gaps       all but the first of each posting in groups of 128, whatever postings they belong to, the last one of fewer
//	lows       the low bytes of all hits, in groups of 128, the last one of fewer
//
// The head of a group of gaps is their width in bits, plus 128 if any of their hits stands outside of the text, and the
// number of exceptions. The group is for each exception its index (1 byte) and its bits beyond the width (2 bytes,
// little-endian); and the gaps, their low bits packed. A group of low bytes is, with the head
//
//	0, 0          nothing: all are that of plain text
//	1, n          a low byte that all have but n, and for each of these its index and itself
//	1 + bits, n   n + 1 different low bytes, and for each hit the index of its own among them, packed in so many bits
//
// So any hits can be read without those before them, groups are found by their heads alone, and where a word stands in the
// text without its low bytes. Over the 101,793 pages of 715 MB of text in doc/decisions.md a
// hit takes 1.4 bytes and a posting 1.65 in the files. The paper's hits take 2 bytes and lose positions past 4,096.
//
// # Documents (B, C)
//
// A doc block holds 64 neighbouring documents, the last one fewer: the uvarint length of its content
// and the content compressed by zstd, which is
//
//	n          4 bytes    documents
//	ends       4 bytes    for each, the end of its record, counted from the end of this table
//	records    uvarint DocID; flags (1: crawled; 2: has a time); varint seconds since 1970 (flag 2);
//	           uvarint place; uvarint words; block, start and length of the text (uvarints);
//	           URL, title, description, language, each with its uvarint length in front
//
// Texts lie in a file of their own, texts, which has magic and checksums as those of lists. Blocks are those of
// package texts; a merge copies them from the segments and barrels before, so that they are in no order.
//
//	0          8          "anatlst3"
//	8                     blocks
//	           16         of each block: offset 8, length 4, length of its content 4, little-endian
//	           4          number of blocks, little-endian
//
// The columns d, l, m, n, t, u and w are packed: the number of values (4 bytes), the least value (8), width (1),
// and the differences to the least, of that many bits. c is the number of documents and a bit for
// each. r is the number of DocIDs and uvarint differences, ascending. b is the number of blocks, and
// for each its first ordinal (4 bytes) and the key of its first document, with its uvarint length. h is the
// number of hosts, and for each its first ordinal minus that of the one before, and its name as it stands
// in keys, with its length in front (uvarints). s is 8 bytes for each document, its [vocab.Sketch].
// l is the first part of each language tag as a number ([Language]), m a [vocab.Medium], t a [vocab.Day].
// n is a number of 4 bytes: from the lowest on, a checksum of the letters and signs of the title ([words.Letters]) and one
// of those of the page's own part of it, the words of the title, and those of its own part, see [Title].
//
// The totals are: version (1 byte), documents (uvarint), words of all documents (uvarint), average
// length that impacts were computed with (8 bytes, float64), different words, postings and hits of the
// full and of the short list (5 uvarints, postings before hits).
//
// # Example
//
// Documents 0 to 4; "anatomy" stands in the title and twice in the text of document 3:
//
//	entry  03        one posting, which stands here
//	       03        three hits
//	       03        its ordinal
//	       08        gap 4, low byte as before: plain@4/3
//	       12        gap 9: plain@13/3
//	       01 8b     gap 0, low byte 8b: title^@0/3
//
// With "engine" behind it, whose entry has 14 bytes, its leaf has the words
//
//	00 07 07   61 6e 61 74 6f 6d 79
//	00 06 0e   65 6e 67 69 6e 65
package segment

// Version of the format. 2 has the table of chunks and the column u, 3 the columns h and s, 4 lists in files of
// their own and packed hits, 5 the columns l, m and t, 6 texts in a file of their own,
// 7 leaves of the dictionary, and no impacts in them, 8 groups of words in leaves,
// 9 hits of menus, 10 the column n and positions of anchors that tell their text ([vocab.AnchorPosition]).
// Since then there are hits of parts, too: a segment from before has none, and is right as it is.
// 11 letters of titles in the column n, 12 heads of groups of hits before the groups, 13 bitmaps in lists.
const Version = 13

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
	kindShort  = 'S'
	kindTotals = 'Z'
)

// kind is that of a list's entries in the dictionary.
func (l List) kind() byte {
	if l == Short {
		return kindShort
	}
	return kindFull
}
