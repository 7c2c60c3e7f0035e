package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// Lose forgets what is stored of a document that cannot be read any more, and of its duplicates: the next crawl
// within whose scope they are fetches them. It is for a server that was opened with KeepScope. It gives the URLs of those
// that it forgot.
func (s *Server) Lose(doc vocab.DocID) (urls []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	lost := []vocab.DocID{doc}
	err = s.db.EachTwin(doc, func(twin vocab.DocID) (bool, error) {
		lost = append(lost, twin)
		return true, nil
	})
	b := s.db.NewBatch()
	for _, d := range lost {
		if err == nil {
			urls, err = s.lose1(b, d, urls)
		}
	}
	if err == nil {
		b.PutMeta("scope", "") // which the next run's differs from: it queues what it admits
		_, err = s.flush(b, 0)
	}
	if err != nil {
		return nil, s.fail(err)
	}
	return urls, s.db.Sync()
}

func (s *Server) lose1(b *docindex.Batch, doc vocab.DocID, urls []string) ([]string, error) {
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok || r.Fetch == nil || s.inFlight[doc] != nil {
		return urls, err
	}
	if r.IsTwin() {
		b.DeleteTwin(r.Fetch.Alias, doc)
	}
	if first, ok, err := s.db.ByContent(r.Fetch.Content); err != nil {
		return urls, err
	} else if ok && first == doc {
		b.DeleteContent(r.Fetch.Content)
	}
	s.uncount(&r)
	if r.State == docindex.Finished || r.State == docindex.GivenUp { // others have a place in a queue
		unschedule(b, &r)
		r.State = docindex.OutOfScope
	}
	r.Fetch, r.Tries, r.History = nil, 0, docindex.History{}
	s.count(&r)
	b.PutRecord(&r)
	return append(urls, r.URL), nil
}
