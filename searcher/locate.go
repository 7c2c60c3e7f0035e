package searcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Links are the link database, as far as queries ask for it. Its methods are called from any number of
// goroutines.
type Links interface {
	// Sources gives documents that link to one of some, both ascending: n of them at most, and those that
	// were found until ctx ended. All says that these are all.
	Sources(ctx context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error)

	// Related gives at most n documents that pages link to which link to doc, too: those first that are most
	// often linked to together with it, for how often they are linked to.
	Related(ctx context.Context, doc vocab.DocID, n int) ([]vocab.DocID, error)
}

// The bounds of what a reference in a query means.
const (
	maxSources = 100_000 // pages that link to a page
	maxTargets = 10_000  // pages of a site that are linked to
	MaxRelated = 30

	linkTime = 600 * time.Millisecond // for looking links up, of the time of the request
)

// A located says which documents the references of a query mean.
type located struct {
	docs    map[query.Ref][]vocab.DocID
	nearest map[vocab.DocID]int // of pages related to one that is named: how many are nearer to it
	unknown []string            // URLs that are not in the index
	cut     []string            // see Response.Cut
}

// locate gives the query with the documents that its references mean.
func (a *answer) locate(root *query.Node) *query.Node {
	return root.Locate(func(ref query.Ref) []vocab.DocID {
		docs, known := a.located.docs[ref]
		if known {
			return docs
		}
		docs, err := a.docsOf(ref)
		if err != nil {
			a.unlocated(ref, err)
			docs = nil
		}
		if a.located.docs == nil {
			a.located.docs = map[query.Ref][]vocab.DocID{}
		}
		a.located.docs[ref] = docs
		return docs
	})
}

// unlocated notes that what a reference means could not be found out.
func (a *answer) unlocated(ref query.Ref, err error) {
	if errors.Is(err, ErrNotIndexed) {
		a.located.unknown = append(a.located.unknown, ref.URL)
		return
	}
	a.located.cut = append(a.located.cut, fmt.Sprintf("%s could not be looked up: %v", ref, err))
}

func (a *answer) docsOf(ref query.Ref) ([]vocab.DocID, error) {
	to, err := a.targets(ref)
	if err != nil || ref.Relation == query.Info || ref.Relation == query.Cache {
		return to, err
	}
	links := a.links
	if links == nil {
		return nil, errors.New("links are not kept here")
	}
	ctx, cancel := context.WithDeadline(a.clock.ctx, a.clock.within(linkTime).until)
	defer cancel()
	if ref.Relation == query.Related {
		docs, err := links.Related(ctx, to[0], MaxRelated)
		a.located.rank(docs)
		return docs, err
	}
	from, all, err := links.Sources(ctx, to, maxSources)
	if !all && err == nil {
		a.located.cut = append(a.located.cut, fmt.Sprintf("only %d of the pages of %s were looked at", len(from), ref))
	}
	return from, err
}

// rank notes how near pages are that are related to one: the nearest comes first.
func (l *located) rank(docs []vocab.DocID) {
	if l.nearest == nil {
		l.nearest = map[vocab.DocID]int{}
	}
	for i, doc := range docs {
		if before, known := l.nearest[doc]; !known || i < before {
			l.nearest[doc] = i
		}
	}
}

// ofRelated is the points of a page for being related to one that the query names.
func (a *answer) ofRelated(doc vocab.DocID) (points Score, why string) {
	i, related := a.located.nearest[doc]
	if !related {
		return 0, ""
	}
	return a.w.OfRelated(i), fmt.Sprintf("%d pages are nearer to the one that is named, of %d", i, MaxRelated)
}

// targets are the documents that a reference names, ascending.
func (a *answer) targets(ref query.Ref) ([]vocab.DocID, error) {
	if ref.Site() {
		return a.sitesDocs(ref)
	}
	u, err := weburl.Parse("http://" + ref.URL)
	if err != nil {
		return nil, err
	}
	part, ord, err := a.snap.find(&u)
	if err != nil {
		return nil, err
	}
	return []vocab.DocID{a.snap.parts[part].seg.Doc(ord)}, nil
}

// sitesDocs are the documents of a host and those below it.
func (a *answer) sitesDocs(ref query.Ref) (docs []vocab.DocID, err error) {
	for _, p := range a.snap.parts {
		w := newWalk(p, &terms{}, nil, a.clock, a.room)
		c := w.site(ref.URL)
		for ord := c.advance(0); ord != end && len(docs) < maxTargets; ord = c.advance(ord + 1) {
			if !p.dead.has(ord) {
				docs = append(docs, p.seg.Doc(ord))
			}
		}
		err = errors.Join(err, w.err)
	}
	switch {
	case len(docs) == 0 && err == nil:
		return nil, ErrNotIndexed
	case len(docs) == maxTargets:
		a.located.cut = append(a.located.cut, fmt.Sprintf("only links to %d pages of %s were looked at", maxTargets, ref.URL))
	}
	slices.Sort(docs)
	return docs, err
}

// A docsCursor walks documents of a list.
type docsCursor struct{ ords []vocab.Ordinal } // ascending

// docs makes the cursor of documents.
func (w *walk) docs(docs []vocab.DocID) cursor {
	c := &docsCursor{}
	for _, doc := range docs {
		if ord, ok := w.part.seg.Ordinal(doc); ok {
			c.ords = append(c.ords, ord)
		}
	}
	slices.Sort(c.ords)
	return c
}

func (c *docsCursor) cost() int { return len(c.ords) }

func (c *docsCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	i, _ := slices.BinarySearch(c.ords, to)
	if i == len(c.ords) {
		return end
	}
	return c.ords[i]
}
