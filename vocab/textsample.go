package vocab

// A TextSample holds hashes of a few lines of a page: of all pages with some line, those choose it
// that have few lines with lower hashes. So pages with the same lines have the same sample, whatever
// their order. A line is the text between two ends of blocks, without what its page's URL says. The
// indexer makes samples, and the URL server recognises by them whether a page shows anything new.
type TextSample struct {
	Lines   []uint32 // by their words
	Linked  []uint32 // lines that are links alone, by their words
	Figures []uint32 // lines with numbers, by words and numbers
}
