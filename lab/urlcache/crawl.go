package main

import (
	"anatomy/disk/datadir"
	"anatomy/disk/repository"
	"anatomy/indexer"
	"anatomy/vocab"
	"anatomy/weburl"
)

// replayed returns the stream of a real crawl: the links of the pages in its repository, repeated
// as on the page, in the order in which the pages were stored.
func replayed(data string) ([]vocab.Fingerprint, summary, error) {
	r, err := repository.OpenReader(datadir.Repository(data))
	if err != nil {
		return nil, summary{}, err
	}
	defer r.Close()
	t := trace{sites: map[string]bool{}}
	err = r.Scan(0, func(_ vocab.Address, record *repository.Record) error {
		if record.Kind == repository.PageRecord {
			t.page(&record.Page)
		}
		return nil
	})
	t.sum.sites = len(t.sites)
	return t.stream, t.sum, err
}

// A trace is a growing stream.
type trace struct {
	stream []vocab.Fingerprint
	sites  map[string]bool // hosts of the pages
	sum    summary
	buf    indexer.Buffer
}

// page appends the links of a page. A page that cannot be parsed has none, as in the crawl.
func (t *trace) page(p *vocab.Page) {
	own, err := weburl.Parse(p.URL)
	if err != nil {
		return
	}
	doc, err := indexer.Parse(p, &t.buf)
	if err != nil {
		return
	}
	t.sites[own.Hostname()] = true
	t.sum.pages++
	on := map[vocab.Fingerprint]bool{}
	for _, l := range doc.Links {
		u, err := weburl.Parse(l.Target)
		if err != nil {
			continue
		}
		fp := u.Fingerprint()
		t.stream = append(t.stream, fp)
		t.sum.all++
		if on[fp] {
			continue
		}
		on[fp] = true
		t.sum.different++
		if u.Hostname() == own.Hostname() {
			t.sum.within++
		}
	}
}
