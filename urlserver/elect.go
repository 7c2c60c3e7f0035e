package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Move states that the record of a document was copied to another address of the repository.
type Move struct {
	Doc      vocab.DocID
	From, To vocab.Address
}

// move changes the addresses of records that are still at From.
func (c *change) move(moves []Move) (*docindex.Batch, error) {
	for _, m := range moves {
		r, ok, err := c.db.Get(m.Doc)
		if err != nil {
			return nil, err
		}
		if !ok || !m.apply(&r) {
			continue
		}
		c.b.PutRecord(&r)
		if f := c.flights.inFlight[m.Doc]; f != nil { // completing it writes this record again
			m.apply(&f.record)
		}
	}
	return c.b, apply(c.b)
}

// apply applies a batch. It is durable when its Wait returns.
func apply(b *docindex.Batch) error {
	if b.Empty() {
		return nil
	}
	return b.Apply()
}

func (m *Move) apply(r *docindex.Record) bool {
	if r.Fetch == nil || r.Fetch.Address != m.From {
		return false
	}
	fetch := *r.Fetch // records are copied without it
	fetch.Address = m.To
	r.Fetch = &fetch
	return true
}

// An Election makes the duplicate Doc the canonical document of its cluster instead of Former.
// Address is where its page was stored.
type Election struct {
	Doc, Former vocab.DocID
	Address     vocab.Address
}

// elect applies elections. For each it returns the duplicates of Doc, or none if the cluster has
// changed since the election was decided; the cluster is then unchanged.
func (c *change) elect(elections []Election) (*docindex.Batch, [][]vocab.DocID, error) {
	duplicates := make([][]vocab.DocID, len(elections))
	for i := range elections {
		var err error
		if duplicates[i], err = c.electOne(&elections[i]); err != nil {
			return nil, nil, err
		}
	}
	if !c.b.Empty() {
		c.b.PutCounts(&c.counts)
	}
	return c.b, duplicates, apply(c.b)
}

func (c *change) electOne(e *Election) ([]vocab.DocID, error) {
	former, ok, err := c.atRest(e.Former)
	if err != nil || !ok || !former.IsPage() {
		return nil, err
	}
	r, ok, err := c.atRest(e.Doc)
	if err != nil || !ok || !r.IsDuplicate() ||
		r.Fetch.Alias != e.Former || r.Fetch.Content != former.Fetch.Content {
		return nil, err
	}
	duplicates := []vocab.DocID{e.Former}
	err = c.db.EachDuplicateOf(e.Former, func(doc vocab.DocID) (bool, error) {
		c.b.DeleteDuplicate(e.Former, doc)
		if doc != e.Doc {
			duplicates = append(duplicates, doc)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if err := c.setAlias(&r, 0, e.Address); err != nil {
		return nil, err
	}
	for _, doc := range duplicates {
		if err := c.makeDuplicate(doc, e.Doc); err != nil {
			return nil, err
		}
	}
	c.b.PutContent(r.Fetch.Content, e.Doc)
	return duplicates, nil
}

// atRest returns the record of a document that is not in flight.
func (c *change) atRest(doc vocab.DocID) (docindex.Record, bool, error) {
	if c.flights.inFlight[doc] != nil {
		return docindex.Record{}, false, nil
	}
	return c.db.Get(doc)
}

// makeDuplicate makes a document of the cluster a duplicate of another document.
func (c *change) makeDuplicate(doc, of vocab.DocID) error {
	r, ok, err := c.db.Get(doc)
	if err != nil || !ok || r.Fetch == nil {
		return err
	}
	c.b.PutDuplicate(of, doc)
	// Completing a document in flight writes its record again.
	if f := c.flights.inFlight[doc]; f != nil && f.record.Fetch != nil {
		fetch := *f.record.Fetch
		fetch.Alias = of
		f.record.Fetch = &fetch
	}
	return c.setAlias(&r, of, r.Fetch.Address)
}

// setAlias writes the canonical document of r, 0 for r itself, and the address of its page.
func (c *change) setAlias(r *docindex.Record, of vocab.DocID, address vocab.Address) error {
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	h, err := c.queues.host(&u)
	if err != nil {
		return err
	}
	pages, before := c.counts.Pages, *r
	fetch := *r.Fetch // records are copied without it
	fetch.Alias, fetch.Address = of, address
	r.Fetch = &fetch
	c.replace(c.b, &before, r)
	if c.counts.Pages != pages {
		h.Pages += c.counts.Pages - pages
		c.b.PutHost(h.Name, h.HostRecord)
	}
	return nil
}

// forget deletes the recorded content of a document and its duplicates, and returns their URLs. The
// next crawl with a scope that admits them fetches them.
func (c *change) forget(doc vocab.DocID) (urls []string, err error) {
	docs := []vocab.DocID{doc}
	err = c.db.EachDuplicateOf(doc, func(d vocab.DocID) (bool, error) {
		docs = append(docs, d)
		return true, nil
	})
	for _, d := range docs {
		if err == nil {
			urls, err = c.forgetOne(d, urls)
		}
	}
	if err != nil {
		return nil, err
	}
	LoseScope(c.b)
	return urls, c.commit()
}

func (c *change) forgetOne(doc vocab.DocID, urls []string) ([]string, error) {
	r, ok, err := c.atRest(doc)
	if err != nil || !ok || r.Fetch == nil {
		return urls, err
	}
	if r.IsDuplicate() {
		c.b.DeleteDuplicate(r.Fetch.Alias, doc)
	}
	if canonical, ok, err := c.db.ByContent(r.Fetch.Content); err != nil {
		return urls, err
	} else if ok && canonical == doc {
		c.b.DeleteContent(r.Fetch.Content)
	}
	before := r
	if r.State == docindex.Finished || r.State == docindex.GivenUp { // others are in a queue
		unschedule(c.b, &r)
		r.State = docindex.OutOfScope
	}
	r.Fetch, r.Tries, r.History = nil, 0, docindex.History{}
	c.replace(c.b, &before, &r)
	return append(urls, r.URL), nil
}
