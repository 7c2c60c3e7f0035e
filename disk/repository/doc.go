// Package repository stores every page as it was fetched (BP98 §4.2.2). All other structures can be
// rebuilt from it.
//
// The paper compresses each page alone with zlib, at 3:1. Pages of one host share a template, so
// this package compresses blocks of consecutive pages together with zstd. A read decodes a block
// only up to the end of the page, so blocks can be large.
//
// A repository is a folder of files 000001.repo, 000002.repo, … Blocks are appended to the last
// file until it is full. Numbers may be missing: compaction copies the live records of a file to
// the end and deletes the file, see moved.go. A [vocab.Address] is file, offset of the block, and
// slot of the record in the block. A file is
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatrepo"
//	8       4     version, 1
//	12      4     number of this file, from 1
//	16      …     blocks
//
// and a block is
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       4     magic AB 42 4C 4B ("\xabBLK")
//	4       2     version, 1
//	6       2     n, the number of records, 1 to 1,024
//	8       4     r, the length of the raw block, at most 64 MiB
//	12      4     z, the length of the compressed block, at most r + r/64 + 1,024
//	16      8     xxhash64 of: file number (4 bytes), offset of the block (8), bytes 0 to 15, the compressed block
//	24      4     lower half of the xxhash64 of: file number (4 bytes), offset of the block (8), bytes 0 to 23
//	28      z     the raw block, one zstd frame
//
// The checksums include the address of the block. So a scan that searches for the next block after
// damage never mistakes bytes inside a page, or a moved block, for a block. The header has its own
// checksum, so that the scan never follows a wrong length. The raw block:
//
//	0       4n    end of each record, as offset in the raw block; the last is r
//	4n      …     records
//
// A record, with varints as in encoding/binary, and texts as a uvarint length and the bytes:
//
//	kind      1 byte: 1 page, 2 duplicate, 3 redirect, 4 page with Link fields, 5 page with
//	          headers; plus 16 in a copy that compaction made, plus 32 if the request carried
//	          credentials, plus 64 if the body was cut short
//	why       1 byte, if it was cut short: vocab.Truncation
//	docID     uvarint
//	fetched   varint, Unix seconds
//	URL       text
//	page:      content type, language, last modified, ETag, robots: five texts; of kinds 4
//	           and 5, then its Link fields, a text; of kind 5, then the headers of request and
//	           answer, a text; the body is the rest
//	duplicate: docID of the page with the same body, uvarint
//	redirect:  docID of the target or 0, uvarint; location, text
//
// A duplicate of document 1 under docID 2, http://a.test/b fetched at Unix second 3, is
//
//	02 02 06 0f "http://a.test/b" 01                    20 bytes
//
// and a raw block of this record alone begins 18 00 00 00, as it ends at byte 24.
//
// A record that was appended before [Repository.Sync] returned survives every crash: appending
// never changes a byte before the end, and [Open] truncates only bytes after the last complete
// block of the last file.
//
// Versions: 1, November 2026. Records of kinds 4 and 5, copies, the mark of credentials and that of bodies
// cut short came later the same month.
//
// Measured by the benchmarks of this package on 24,946 pages of documentation of 12 hosts, 37 KB
// each, in the order of a crawl or shuffled within each host. gzip -6 of each page alone: 6,129 B a
// page at 78 MB a CPU second.
//
//	raw block         64K    128K   256K   512K   1M
//	zstd default      4,640  4,148  3,769  3,195  2,837 B a page    290 to 510 MB a CPU second
//	  shuffled        4,967  4,546  4,219  3,919  3,423             290 to 390
//	  read, median                  0.19   0.17   0.26 ms, uncached, on a busy machine
//	zstd better       4,317  3,828  3,452  2,904  2,555             170 to 200
//	  shuffled        4,621  4,193  3,860  3,556  3,078             150 to 240
//	  read, median                  0.12   0.14   0.29
//
// So blocks have 1 MiB at the default level: they take 1/2.2 of the size of gzip, at 6 times its
// speed. The better level saves another 10 % and costs 0.11 ms of CPU per page, a quarter of the
// cost of fetching.
package repository
