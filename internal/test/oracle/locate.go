package oracle

import (
	"context"
	"math"
	"strings"

	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// docsOf returns the documents of a reference. The links of the collection must not fail.
func (c *Collection) docsOf(ref query.Ref) (docs []vocab.DocID) {
	find := func(ref query.Ref) {
		c.live(func(d *Document, _ float64) {
			if names(ref, d) {
				docs = append(docs, d.Doc)
			}
		})
	}
	if find(ref); len(docs) == 0 && !ref.Site() {
		ref.URL = query.OtherWWW(ref.URL)
		find(ref)
	}
	switch {
	case len(docs) == 0:
	case ref.Relation == query.LinkTo:
		docs, _, _ = c.Links.Sources(context.Background(), docs, math.MaxInt)
	case ref.Relation == query.Related:
		docs, _ = c.Links.Related(context.Background(), docs[0], scoring.MaxRelated)
		for i, doc := range docs {
			if c.nearer[doc] == nil || i < *c.nearer[doc] {
				c.nearer[doc] = &i
			}
		}
	}
	return docs
}

// names reports whether a reference names a document, or its site.
func names(ref query.Ref, d *Document) bool {
	u, err := weburl.Parse(d.URL)
	if err != nil {
		return false
	}
	if !strings.Contains(ref.URL, "/") {
		return weburl.MatchSite(ref.URL, &u)
	}
	named, err := weburl.Parse("http://" + ref.URL)
	return err == nil && named.Key() == u.Key()
}
