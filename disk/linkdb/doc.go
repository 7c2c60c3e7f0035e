// Package linkdb implements the link database and anchors file (BP98 §4.1): the links between
// documents with their anchor texts, and the documents that are aliases or not found.
//
// The database is a set of runs: immutable files, each written by a flush or a merge. A [Set] reads
// several runs as one: the newest run with a document wins, so a refetched page replaces its links.
// A links record, even an empty one, makes the document a page: it supersedes the sections before
// it in older runs.
//
// # Format of a run, version 2
//
//	OFFSET SIZE MEANING
//	0      8    magic "anatlnk2"
//	8      …    blocks of seven sections, in this order:
//	            0 names    new documents: ID, URL
//	            1 aliases  redirects and duplicates: ID, ID of the target or original
//	            2 dropped  documents that were not found: ID
//	            3 hidden   noindex documents: ID
//	            4 links    per source: its targets, with flags
//	            5 anchors  per target: each text with the sources that use it
//	            6 index    per block of sections 0 to 5: its first ID and its offset
//	end-172 12  number of changes (8), see Run.CountChanges, and its CRC-32C (4), little endian; runs
//	            made before 2026-11-29 lack both
//	end-160 140 directory: seven times offset (8), bytes (8), records (4), little endian
//	end-20  8   number of links, little endian
//	end-12  4   CRC-32C of the directory and the number
//	end-8   8   magic "anatlnk2" again
//
// A block is a length before compression (4), a length after it (4), a CRC-32C of the compressed
// bytes (4), and the bytes, compressed with zstd. Records never span blocks; IDs are written as
// gaps that restart in every block. A record is made of varints:
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
// Anchors are the transposed graph: a source without anchor text has the empty text. Targets that
// only nofollow links lead to have no anchors from them.
//
// Example: a links record of source 7 to 9 and, nofollow, to 12, at the start of a block, is 07 02
// 24 0d: gap 7, two targets, 9<<2, 3<<2|1.
//
// With the index a [Finder] reads only the block of a document, in about 0.2 ms. The index takes
// about 12 bytes per block of 64 KB.
//
// Targets and sources are ascending and distinct within a record. Several links from a source with
// the same text count once.
package linkdb

import "anatomy/vocab"

const (
	magic     = "anatlnk2"
	blockSize = 64 << 10 // before compression; a larger record has a block of its own
	counted   = 8 + 4    // bytes of the number of changes
	footer    = sections*20 + 8 + 4 + 8
	maxBlock  = 64 << 20 // maximum raw size of a block
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

// A Name is a document and its URL.
type Name struct {
	Doc vocab.DocID
	URL string
}

// An Alias is a redirect to, or a duplicate of, the document Of.
type Alias struct {
	Doc, Of vocab.DocID
}

// A Target is the target of a link.
type Target struct {
	Doc   vocab.DocID
	Flags vocab.LinkFlags // NoFollow and Embedded; OffSite is part of the anchor text
}

// A Source is a document with the targets of its links, ascending.
type Source struct {
	Doc     vocab.DocID
	Targets []Target
}

// An AnchorText is one text of the links to a document.
type AnchorText struct {
	Text    string
	OffSite bool          // the sources are on other sites than the document
	Sources []vocab.DocID // ascending
}

// Anchors are the anchor texts of all links to a document, except nofollow links. A source whose
// links have no text is listed under the empty text.
type Anchors struct {
	Doc   vocab.DocID
	Texts []AnchorText
}
