package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Stand says that of the documents with one body another is to stand for all: the duplicate Doc, whose page was stored at
// Place, for the original For.
type Stand struct {
	Doc, For vocab.DocID
	Place    vocab.Place
}

// Stand makes duplicates the originals and these duplicates, durably, as if they had come in that order. For each it
// gives the documents that are duplicates of Doc now, none where things have changed meanwhile and all stays as it is.
// No document may be in two of the clusters.
func (s *Server) Stand(stands []Stand) (twins [][]vocab.DocID, err error) {
	s.mu.Lock()
	b, twins, err := s.stand(stands)
	s.mu.Unlock()
	if err != nil || b == nil {
		return twins, err
	}
	if err := b.Wait(); err != nil { // unlocked: others go on while the disk works
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.fail(err)
	}
	return twins, nil
}

func (s *Server) stand(stands []Stand) (b *docindex.Batch, twins [][]vocab.DocID, err error) {
	if s.err != nil {
		return nil, nil, s.err
	}
	b = s.db.NewBatch()
	twins = make([][]vocab.DocID, len(stands))
	for i := range stands {
		if twins[i], err = s.standOne(b, &stands[i]); err != nil {
			return nil, nil, s.fail(err)
		}
	}
	if b.Empty() {
		return nil, twins, nil
	}
	b.PutCounts(&s.counts)
	if err := b.Apply(); err != nil {
		return nil, nil, s.fail(err)
	}
	return b, twins, nil
}

func (s *Server) standOne(b *docindex.Batch, st *Stand) ([]vocab.DocID, error) {
	of, ok, err := s.db.Get(st.For)
	if err != nil || !ok || !of.IsPage() || s.inFlight[st.For] != nil {
		return nil, err
	}
	r, ok, err := s.db.Get(st.Doc)
	if err != nil || !ok || !r.IsTwin() || r.Fetch.Alias != st.For || r.Fetch.Content != of.Fetch.Content || s.inFlight[st.Doc] != nil {
		return nil, err
	}
	twins := []vocab.DocID{st.For}
	err = s.db.EachTwin(st.For, func(doc vocab.DocID) (bool, error) {
		b.DeleteTwin(st.For, doc)
		if doc != st.Doc {
			twins = append(twins, doc)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.becomes(b, &r, 0, st.Place); err != nil {
		return nil, err
	}
	for _, doc := range twins {
		if err := s.becomesTwin(b, doc, st.Doc); err != nil {
			return nil, err
		}
	}
	b.PutContent(r.Fetch.Content, st.Doc)
	return twins, nil
}

// becomesTwin makes a document of the cluster a duplicate of another.
func (s *Server) becomesTwin(b *docindex.Batch, doc, of vocab.DocID) error {
	r, ok, err := s.db.Get(doc)
	if err != nil || !ok || r.Fetch == nil {
		return err
	}
	b.PutTwin(of, doc)
	if f := s.inFlight[doc]; f != nil && f.record.Fetch != nil { // it is compared with that, and written again, when it lands
		fetch := *f.record.Fetch
		fetch.Alias = of
		f.record.Fetch = &fetch
	}
	return s.becomes(b, &r, of, r.Fetch.Place)
}

// becomes writes what a document is a duplicate of, 0 for none, and where its record lies.
func (s *Server) becomes(b *docindex.Batch, r *docindex.Record, of vocab.DocID, place vocab.Place) error {
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return err
	}
	h, err := s.frontier.host(u.Host(), u.Hostname(), s.db.Host)
	if err != nil {
		return err
	}
	pages := s.counts.Pages
	s.uncount(r)
	fetch := *r.Fetch // others may look at the old one
	fetch.Alias, fetch.Place = of, place
	r.Fetch = &fetch
	s.count(r)
	b.PutRecord(r)
	if s.counts.Pages != pages {
		h.Pages += s.counts.Pages - pages
		b.PutHost(h.name, h.HostRecord)
	}
	return nil
}

// EachTwin visits the duplicates of all documents, ascending by the document that they have the body of.
func (s *Server) EachTwin(fn func(of, doc vocab.DocID) (bool, error)) error {
	return s.db.EachTwins(fn)
}
