package vocab

// A TextSample has the lowest hashes of the lines of a page, a few of each kind. So pages with the same
// lines, in any order, have the same sample. A line is the text between two ends of blocks, without the
// words of the page's URL. The indexer makes samples, and the URL server determines by them whether a
// page shows anything new.
type TextSample struct {
	Lines   []uint32 // by their words
	Linked  []uint32 // lines that are links alone, by their words
	Figures []uint32 // lines with numbers, by words and numbers
}
