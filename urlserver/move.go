package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A Move says that the record of a document lies elsewhere in the repository by now.
type Move struct {
	Doc      vocab.DocID
	From, To vocab.Place
}

// Move makes documents that are still at From be at To, durably; of others there is a newer record, and they stay
// where they are.
func (s *Server) Move(moves []Move) error {
	s.mu.Lock()
	b, err := s.move(moves)
	s.mu.Unlock()
	if err != nil || b == nil {
		return err
	}
	if err := b.Wait(); err != nil { // unlocked: others go on while the disk works
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.fail(err)
	}
	return nil
}

func (s *Server) move(moves []Move) (*docindex.Batch, error) {
	if s.err != nil {
		return nil, s.err
	}
	b := s.db.NewBatch()
	for _, m := range moves {
		r, ok, err := s.db.Get(m.Doc)
		if err != nil {
			return nil, s.fail(err)
		}
		if !ok || !moved(&r, m) {
			continue
		}
		b.PutRecord(&r)
		if f := s.inFlight[m.Doc]; f != nil { // its record is written again when it lands
			moved(&f.record, m)
		}
	}
	if b.Empty() {
		return nil, nil
	}
	if err := b.Apply(); err != nil {
		return nil, s.fail(err)
	}
	return b, nil
}

// moved changes the place in a record if it is the one that was left.
func moved(r *docindex.Record, m Move) bool {
	if r.Fetch == nil || r.Fetch.Place != m.From {
		return false
	}
	fetch := *r.Fetch // others may look at the old one
	fetch.Place = m.To
	r.Fetch = &fetch
	return true
}
