package retrieval

import "anatomy/vocab"

// A DocSet is a set of DocIDs in fixed-size pages. A damaged DocID allocates at most one page.
type DocSet map[vocab.DocID]*[512]uint64

const pageOfDocs = 512 * 64

// Has reports whether a document is in the set.
func (d DocSet) Has(doc vocab.DocID) bool {
	page := d[doc/pageOfDocs]
	return page != nil && page[doc%pageOfDocs/64]>>(doc%64)&1 != 0
}

// Add adds a document.
func (d DocSet) Add(doc vocab.DocID) {
	page := d[doc/pageOfDocs]
	if page == nil {
		page = new([512]uint64)
		d[doc/pageOfDocs] = page
	}
	page[doc%pageOfDocs/64] |= 1 << (doc % 64)
}
