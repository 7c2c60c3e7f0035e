// Package votes counts the links by which the canonical document of a cluster is elected.
package votes

import (
	"cmp"

	"anatomy/disk/linkdb"
	"anatomy/pagerank"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Votes are links to a document. Links of pages that have duplicates do not count, and neither do
// nofollow links.
type Votes struct {
	sites int    // other sites that link to its site, see pagerank.Vouchers.Linkers
	pages uint32 // pages that link to it
}

// Compare returns 1 if v elects a document rather than w does, -1 if w does, 0 if they are equal.
func (v Votes) Compare(w Votes) int {
	return cmp.Or(cmp.Compare(v.sites, w.sites), cmp.Compare(v.pages, w.pages))
}

// Count sets the votes of documents. The documents are all that have duplicates or are duplicates.
func Count(set *linkdb.Set, votes map[vocab.DocID]Votes) error {
	siteOf, sites, err := sitesOf(set)
	if err != nil {
		return err
	}
	vouchers := pagerank.NewVouchers(siteOf, sites)
	var targets []uint32
	isKnown := func(doc vocab.DocID) bool { return doc < vocab.DocID(len(siteOf)) }
	for source, err := range set.RawLinks() {
		if err != nil {
			return err
		}
		if _, hasDuplicates := votes[source.Doc]; hasDuplicates || !isKnown(source.Doc) {
			continue
		}
		targets = targets[:0]
		for _, t := range source.Targets {
			if t.Flags&vocab.NoFollow != 0 || !isKnown(t.Doc) {
				continue
			}
			targets = append(targets, uint32(t.Doc))
			if v, ok := votes[t.Doc]; ok {
				v.pages++
				votes[t.Doc] = v
			}
		}
		vouchers.Add(uint32(source.Doc), targets)
	}
	for doc, v := range votes {
		if !isKnown(doc) { // it was fetched meanwhile
			continue
		}
		v.sites = vouchers.Linkers(uint32(doc))
		votes[doc] = v
	}
	return nil
}

// sitesOf returns the number of the site of each document, from 0 on, and the number of sites.
func sitesOf(set *linkdb.Set) (siteOf []uint32, sites int, err error) {
	numbers := weburl.NewNumbering((*weburl.URL).Site)
	for name, err := range set.Names() {
		if err != nil {
			return nil, 0, err
		}
		for vocab.DocID(len(siteOf)) <= name.Doc {
			siteOf = append(siteOf, 0)
		}
		siteOf[name.Doc] = numbers.Number(name.URL)
	}
	return siteOf, numbers.Len(), nil
}
