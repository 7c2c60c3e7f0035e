// Package siblings lists the collections that one process serves, each below a path of its own, and
// searches all of them.
package siblings

import (
	"net/http"
	"sync"

	"anatomy/searcher"
	"anatomy/web/internal/access"
	"anatomy/web/internal/address"
	"anatomy/web/internal/reader"
)

// A Collection is one of the collections.
type Collection struct {
	Name   string // for display
	Path   string // "" or "/wiki"
	Reader *reader.Reader
	Site   *address.Site

	MayRead func(*http.Request) bool // whether it shows results to the sender of a request
}

// A List has the collections of a process. It must not be changed after the first request.
type List struct {
	All []*Collection // the first one has no path
}

// Add adds a collection.
func (l *List) Add(c *Collection) { l.All = append(l.All, c) }

// HasSeveral reports whether there are at least two collections.
func (l *List) HasSeveral() bool { return len(l.All) > 1 }

// An Answer is the answer of a collection. If Login is set it has none, because the sender of the request
// must log in there first.
type Answer struct {
	From     *Collection
	Login    bool
	Response *searcher.Response
	Err      error
}

// Search searches all collections at once. It counts a search of the request's client for each but one,
// which the caller has counted, and returns an error if these are too many. The scores of two answers
// are not comparable: each is computed from the statistics of its collection.
func (l *List) Search(r *http.Request, h http.Header, q searcher.Request) ([]Answer, error) {
	if err := access.ClientOf(r.Context()).Spend(h, len(l.All)-1); err != nil {
		return nil, err
	}
	answers := make([]Answer, len(l.All))
	var searches sync.WaitGroup
	for i, c := range l.All {
		answers[i] = Answer{From: c, Login: !c.MayRead(r)}
		if answers[i].Login {
			continue
		}
		searches.Go(func() { answers[i].Response, answers[i].Err = c.Reader.Search(r.Context(), q) })
	}
	searches.Wait()
	count(answers, q)
	return answers, nil
}

// count counts a query in each collection that answered, if none found anything and none failed.
func count(answers []Answer, q searcher.Request) {
	for i := range answers {
		if a := &answers[i]; a.Err != nil || a.Response != nil && a.Response.Listed() > 0 {
			return
		}
	}
	for i := range answers {
		if a := &answers[i]; a.Response != nil {
			a.From.Reader.Count(q, a.Response)
		}
	}
}
