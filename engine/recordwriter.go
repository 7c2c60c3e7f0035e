package engine

import (
	"anatomy/disk/repository"
	"anatomy/urlserver"
	"anatomy/vocab"
)

// A recordWriter is the repository as the store server has it: before a record is written, the documents that
// it names are on disk. They would be others' after a crash otherwise.
type recordWriter struct {
	*repository.Repository
	urls *urlserver.Server
}

// Append is Repository.Append.
func (r recordWriter) Append(of []repository.Record) ([]vocab.Place, error) {
	last := vocab.DocID(0)
	for i := range of {
		last = max(last, of[i].Page.Doc, of[i].Of)
	}
	if err := r.urls.MakeDurable(last); err != nil {
		return nil, err
	}
	return r.Repository.Append(of)
}
