// Package linkdb is the link database and anchors file (BP98 §4.1): which document links to which,
// with what words, and what became of the documents that are no pages of their own.
//
// The database is a set of runs, each an immutable file that one batch of the indexer or one merge
// wrote. A [Set] reads several runs as one: a document's newest run wins, so a page fetched again
// replaces its links. A links record, be it empty, says that the document is one of its own from then on:
// it ends what older runs said in the sections before it.
//
// # Format of a run, version 2
//
//	OFFSET SIZE MEANING
//	0      8    magic "anatlnk2"
//	8      …    blocks of seven sections, in this order:
//	            0 names    documents known for the first time: ID, URL
//	            1 aliases  documents that are another one: ID, ID of that one (redirect, duplicate)
//	            2 dropped  documents that do not exist: ID
//	            3 hidden   documents that ask not to be shown (noindex): ID
//	            4 links    per source: its targets, with flags
//	            5 anchors  per target: each text with the sources that use it
//	            6 index    per block of the sections before: its first ID and its offset
//	end-160 140 directory: seven times offset (8), bytes (8), records (4), little endian
//	end-20  8   number of links, little endian
//	end-12  4   CRC-32C of the directory and the number
//	end-8   8   magic "anatlnk2" again
//
// A block is a length before compression (4), a length after it (4), a CRC-32C of the compressed
// bytes (4), and the bytes, compressed with zstd. Records never span blocks; IDs are written as
// gaps that begin anew in every block. A record is made of varints:
//
//	names    gap of the ID, length of the URL, URL
//	aliases  gap of the ID, ID of the other
//	dropped  gap of the ID
//	hidden   gap of the ID
//	links    gap of the source, number of targets, per target: gap of the target << 2 | flags & 3
//	anchors  gap of the target, number of texts, per text:
//	           length of the text << 1 | from another site, text, number of sources, gaps of the sources
//	index    number of the section + 1, number of its blocks, per block: gap of its first ID, gap of its offset
//
// Anchors are the graph turned round: a source that links to the target without words stands under
// the empty text. Nofollow links alone are not among them.
//
// Example: a links record of source 7 to 9 and to 12, the latter nofollow, at the start of a block,
// is 07 02 24 0d: gap 7, two targets, 9<<2, 3<<2|1.
//
// The index lets a [Finder] read the one block that holds a document, about 0.2 ms, for some 12 bytes
// per block of 64 KB.
//
// Targets and sources are ascending and distinct within a record. A source's several links with
// one text count once.
package linkdb

import "anatomy/vocab"

const (
	magic     = "anatlnk2"
	blockSize = 64 << 10 // before compression; a record larger than this gets a block of its own
	footer    = sections*20 + 8 + 4 + 8
	maxBlock  = 64 << 20 // a block that claims more is damaged
)

const (
	names = iota
	aliases
	dropped
	hidden
	links
	anchors
	index
	sections
)

var sectionNames = [sections]string{"names", "aliases", "dropped", "hidden", "links", "anchors", "index"}

// A Name gives a document's URL.
type Name struct {
	Doc vocab.DocID
	URL string
}

// An Alias says that Doc is another URL of the document Of.
type Alias struct {
	Doc, Of vocab.DocID
}

// A Target is one end of a link.
type Target struct {
	Doc   vocab.DocID
	Flags vocab.LinkFlags // NoFollow and Embedded; OffSite is kept with the anchor text
}

// A Source is a document with the documents that it links to, ascending.
type Source struct {
	Doc     vocab.DocID
	Targets []Target
}

// An AnchorText is one wording of the links to a document.
type AnchorText struct {
	Text    string
	OffSite bool          // the sources are on another site
	Sources []vocab.DocID // ascending
}

// Anchors are the wordings of all links to a document, without nofollow links. The text of a link
// without words, from a source that uses no others, is empty.
type Anchors struct {
	Doc   vocab.DocID
	Texts []AnchorText
}
