package oracle

import (
	"context"
	"math"
	"strings"

	"anatomy/searcher"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/weburl"
)

// docsOf gives the documents that a reference means. Its collection has links that never fail.
func (c *Collection) docsOf(ref query.Ref) (docs []vocab.DocID) {
	c.live(func(d *Document, _ float64) {
		if names(ref, d) {
			docs = append(docs, d.Doc)
		}
	})
	switch {
	case len(docs) == 0:
	case ref.Relation == query.LinkTo:
		docs, _, _ = c.Links.Sources(context.Background(), docs, math.MaxInt)
	case ref.Relation == query.Related:
		docs, _ = c.Links.Related(context.Background(), docs[0], searcher.MaxRelated)
		for i, doc := range docs {
			if c.nearer[doc] == nil || i < *c.nearer[doc] {
				c.nearer[doc] = &i
			}
		}
	}
	return docs
}

// names says whether a document is the one that a reference names, or one of its site.
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
