package engine

import (
	"anatomy/disk/repository"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// A recordWriter is a repository that makes the documents of a record durable before it writes the
// record. Otherwise other documents could get their docIDs after a crash.
type recordWriter struct {
	*repository.Repository
	urls *urlserver.Server
}

// Append makes the documents durable and calls Repository.Append.
func (r recordWriter) Append(of []repository.Record) ([]vocab.Address, error) {
	last := vocab.DocID(0)
	for i := range of {
		last = max(last, of[i].Page.Doc, of[i].Of)
	}
	if err := r.urls.MakeDurable(last); err != nil {
		return nil, err
	}
	return r.Repository.Append(of)
}
