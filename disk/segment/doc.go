// Package segment implements the inverted index of a set of documents (BP98 §4.2.7): the posting
// list of each term with all hits, and the data that the searcher shows of each document. The
// sorter writes a segment once; it is immutable, and any number of processes may read it.
//
// # Folder
//
// A segment is a folder with a pebble database and three files that readers map: postings, hits and
// texts. The database is a few sstables, written in key order and ingested once, its MANIFEST and
// two empty marker files; it has no log, lock or options file. Reading writes nothing. The database
// contains the documents, the columns and the dictionary, which includes the short posting lists
// (inline lists). All other lists are in the mapped files: they take memory only in the page cache,
// and are not copied.
//
// A light segment lacks the mapped files: its folder has an empty file light instead. Documents,
// columns, the dictionary and inline lists can be read; other lists and texts cannot ([ErrLight]). A
// light segment becomes whole when postings exists, so that file is the last one to be copied, and the
// first one to be deleted; meanwhile readers ignore hits and texts. A segment without mapped files
// that does not have the file light is damaged.
//
// Each block of an sstable has a CRC-32C, which pebble verifies when it reads the block from disk.
// Each 64 KB page of a mapped file has one, which is verified when a byte of the page is first
// read. Decoders also check bounds and order: the error for a damaged value names segment and term.
//
// # Keys
//
// The first byte of a key is its kind. Kinds are in separate sstables: B; C and F; S and Z.
//
//	"B" first  doc block: records from ordinal first on (4 bytes, big-endian, so that keys sort)
//	"C" "b"    column: directory of doc blocks
//	"C" "c"    whether documents were crawled
//	"C" "d"    DocIDs
//	"C" "g"    genres
//	"C" "h"    hosts
//	"C" "l"    languages
//	"C" "m"    media
//	"C" "n"    titles: lengths and checksums
//	"C" "p"    publishers' controls; absent if no document has any
//	"C" "r"    tombstones: DocIDs of deleted documents
//	"C" "s"    sketches
//	"C" "t"    dates
//	"C" "u"    depths of URLs
//	"C" "w"    lengths in words
//	"F" term   leaf of the dictionary of full lists with this last term
//	"S" term   the same of short lists, of documents with a title, meta, URL or anchor hit
//	"Z"        totals
//
// Terms are UTF-8, at most MaxTerm bytes. Columns are in the order of ordinals.
//
// # Leaf of the dictionary (F, S)
//
// A leaf has neighbouring terms, about 8 KB with their entries.
//
//	SIZE       MEANING
//	uvarint    number of terms
//	uvarint    size of the terms in bytes
//	4 each     starts: of every 16th term, its offset in the terms (2 bytes, little-endian) and the
//	           offset of its entry in the entries (2)
//	           terms: for each the length of the prefix shared with the term before (uvarint), 0 for
//	           every 16th, the length of the rest, the length of its entry (uvarints), and the rest
//	           entries
//
// An entry begins with
//
//	uvarint    twice the number of postings, plus 1 if the list is inline
//	uvarint    number of hits in all postings
//
// A list is inline if it has less than 128 postings and at most 512 bytes of hits. Its entry goes on:
//
//	uvarint    ordinal of the first posting
//	1          width of a gap, 0 to 32 bits, if there are other postings
//	           gaps of the others, packed: ordinal − ordinal before − 1
//	           hits, to the end: see below
//
// Inline lists have no impacts, which readers compute from the hits and the lengths of documents. The
// entry of any other list goes on:
//
//	1          largest impact
//	uvarint 4  offset and length of its postings, offset and length of its hits, in the files
//
// # Mapped files (postings, hits, texts)
//
//	OFFSET  SIZE  MEANING
//	0       8     "anatlst3"
//	8             content: lists in the order of terms, the full list of a term before its short list
//	n       4 …   CRC-32C of each 64 KB page before n, the last page shorter, little-endian
//	        8     n, little-endian
//	        4     CRC-32C of what is between n and here, little-endian
//	        8     "anatlst3"
//
// The postings of a list are
//
//	14 each    directory: for each block its last ordinal (4 bytes, little-endian), its largest impact
//	           (1), the offset of its end after the groups (4, little-endian), and the offset of the
//	           end of its hits in the list's hits (5, little-endian)
//	1 each     groups: for each 8 blocks the largest impact
//	           blocks of 128 postings, the last one shorter
//
// and a block is
//
//	1          width of a gap, 0 to 32 bits; 255 for a bitmap instead of gaps
//	1          least impact
//	1          width of an impact above the least, 0 to 8 bits
//	           gaps, packed from the low bit on: ordinal − ordinal before − 1, where −1 precedes 0
//	           impacts above the least, packed likewise
//
// A bitmap has a bit for each document, from the low bit of its first byte on. That bit belongs to the
// largest multiple of 8 not above the last ordinal of the block before + 1. It ends with the byte of the
// last ordinal of the block. A block is a bitmap if that takes at most 256 bytes and at most a quarter
// more than gaps.
//
// # Hits
//
// The hits of a block in the files, and of an inline list with several postings, begin with
//
//	1          width of a count, 0 to 8 bits
//	           counts, packed: for each posting the size of its hits in bytes − 1 if inline, or else
//	           its number of hits − 1. If all bits of a count are 1 and the width is not 0, an escape
//	           has the rest
//
// Inline, the escapes follow (uvarints), and then the hits of each posting. A hit is the uvarint 2·gap +
// c, and its low byte (type, capital, size) if c = 1. If c = 0, its low byte is that of the hit before,
// and of plain text for the first hit. The gap is the difference to the position before in the same
// field, and the position itself for the first hit of a field. In the files follow
//
//	uvarint    size of the escapes in bytes, and the escapes
//	2          head of the firsts, and the firsts: a group of gaps, the position of each posting's first
//	           hit
//	uvarint    twice the number of groups of low bytes, plus 1 if there is one group of gaps less
//	uvarint    size of all groups of gaps in bytes
//	2 each     heads of the groups of gaps, and then of the groups of low bytes
//	           gaps of all hits but the firsts, in groups of 128 across postings, the last one shorter
//	           low bytes of all hits, in groups of 128, the last one shorter
//
// The head of a group of gaps is its width in bits, plus 128 if any of its hits is outside the body
// (1 byte), and its number of exceptions (1). The group is its exceptions, each an index (1 byte) and
// the bits above the width (2, little-endian), and then the low bits of all gaps, packed. The head of a
// group of low bytes determines its form:
//
//	0, 0          nothing: all are that of plain text
//	1, n          a low byte that all but n have, and the index and low byte of each of those n
//	1 + bits, n   n + 1 different low bytes, and for each hit an index into them, packed
//
// So the hits of one posting can be read without those before it, groups are located by their heads
// only, and positions in the body are read without low bytes. Over 101,793 pages with 715 MB of
// text a hit takes 1.4 bytes and a posting 1.65 in the files. The paper's hits take 2 bytes and
// lose positions above 4,096.
//
// # Documents (B, C, texts)
//
// A doc block is 64 neighbouring documents, the last block fewer: the size of its content (uvarint), and
// the content compressed with zstd, which is
//
//	4          number of documents
//	4 each     offset of the end of each record after this table
//	           records: DocID (uvarint), flags (uvarint; 1: crawled, 2: has a time), seconds since 1970
//	           (varint, flag 2), address, words, text block, start and length of the text (uvarints);
//	           URL, title, description, language, each after its length (uvarint)
//
// Texts are in the mapped file texts, in blocks of package texts. A merge copies blocks of its inputs,
// so they are in no order. The content of the file is
//
//	           blocks
//	16 each    directory: offset (8 bytes), length (4) and length of the content (4) of each block
//	4          number of blocks, little-endian as all of the directory
//
// The columns d, g, l, m, n, t, u and w are the number of values (4 bytes), the least value (8), a width (1),
// and the packed differences to the least. c is the number of documents (4) and a bit for each. r is the
// number of DocIDs and their differences, ascending (uvarints). b is the number of doc blocks (uvarint),
// and for each its first ordinal (4 bytes) and the key of its first document, after its length (uvarint).
// h is the number of hosts, and for each its first ordinal − that of the host before (uvarint), and its
// name as in keys, after its length (uvarint). p is the number of documents with [vocab.Controls] and for
// each its ordinal − the ordinal after that of the one before (uvarint), flags (1 byte; 1: noarchive, 2:
// max-snippet, 4: unavailable_after), the number of characters (uvarint, flag 2) and Unix seconds
// (uvarint, flag 4). s is 8 bytes per document: [vocab.Sketch]. A value of l is
// a [Language], of g a [vocab.Genre], of m a [vocab.Medium], of t a [vocab.Day]. A value of n is a [Title]
// in 4 bytes: from the lowest on Letters, OwnLetters, Words and Own.
//
// The totals are the version (1 byte; the previous one if some terms are of that version), documents and
// words of all documents (uvarints), the average length that impacts were computed with (8, float64), and
// the numbers of terms, and of postings and hits of all full and of all short lists (5 uvarints). That average
// is that of the manifest, a whole number, or before version 3 of folders that of the segment's own documents.
//
// # Example
//
// In documents 0 to 4, "anatomy" is in the title of document 3 and twice in its body:
//
//	entry  03        one posting, inline
//	       03        three hits
//	       03        its ordinal
//	       08        gap 4, low byte as before: plain@4/3
//	       12        gap 9: plain@13/3
//	       01 8b     gap 0, low byte 8b: title^@0/3
//
// With "engine" after it, whose entry has 14 bytes, the terms of the leaf are
//
//	00 07 07   61 6e 61 74 6f 6d 79
//	00 06 0e   65 6e 67 69 6e 65
package segment

// Version is the version of the format. 2 added column u; 3 columns h and s; 4 mapped files of lists, and
// packed hits; 5 columns l, m and t; 6 the file of texts; 7 leaves of the dictionary, and removed the
// impacts of inline lists; 8 groups of terms in leaves; 9 menu hits; 10 column n, and the number of the
// text in positions of anchor hits ([vocab.AnchorPosition]); 11 checksums in column n; 12 moved the heads
// of groups of hits before the groups; 13 added bitmaps; 14 changed terms and nothing else: Thai words
// instead of bigrams, the vowel signs of Lao, Khmer and Burmese, and letters and digits that package
// analysis folds since; 15 added marks of sections to texts, see [vocab.SectionMark]. Marks are
// optional in every version that is read: a merge of version 13 with newer pages is written as 13 and
// keeps their marks, one of version 14 as 15, and pages indexed before version 15 have none until
// anatomy index. Marks of layout, [vocab.LineMark], were added without a new version: texts without them
// are shown in one line, and programs that do not know them show white space. Hits of parts, subwords
// as parts and columns g and p were added without a new version: segments without them are valid, and
// programs that do not know these columns do not read them.
const Version = 15

// oldTerms is the earliest version that this program reads, see [Segment.OldTerms].
const oldTerms = 13

// MaxTerm is the maximum length of a term in bytes.
const MaxTerm = 1024

// A List is a kind of posting list (BP98 §4.2.7).
type List uint8

// The lists of a term.
const (
	Full  List = iota // all documents with the term, all hits
	Short             // documents with the term in title, meta, URL or anchors, and these hits alone
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

// key returns the kind of the keys of the list's dictionary.
func (l List) key() byte {
	if l == Short {
		return kindShort
	}
	return kindFull
}
