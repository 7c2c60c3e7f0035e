package searcher

import (
	"errors"
	"fmt"
	"slices"

	"anatomy/searcher/internal/shard"
	"anatomy/searcher/query"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Bounds of link: and related:.
const (
	maxSources = 100_000 // pages that link to a page
	maxTargets = 10_000  // linked pages of a site

	linkShare = 0.6 // of the remaining time, for reading links
)

// References are the documents that link:, related:, info: and cache: of a query refer to.
type references struct {
	docs    map[query.Ref][]vocab.DocID
	nearer  map[vocab.DocID]int // by page of related:, how many are nearer to the given page
	unknown []string            // URLs that are not in the index
	cut     []string            // see Response.Cut
}

// locate returns the query with the documents of its references, and the sites of its labels.
func locate(p *pass, root *query.Node) *query.Node {
	return p.withLabels(root).Locate(func(ref query.Ref) []vocab.DocID {
		if docs, known := p.refs.docs[ref]; known {
			return docs
		}
		docs, err := findDocs(p, ref)
		switch {
		case errors.Is(err, ErrNotIndexed):
			p.refs.unknown = append(p.refs.unknown, ref.URL)
		case err != nil:
			p.refs.cut = append(p.refs.cut, fmt.Sprintf("%s could not be looked up: %v", ref, err))
		}
		if err != nil {
			docs = nil
		}
		if p.refs.docs == nil {
			p.refs.docs = map[query.Ref][]vocab.DocID{}
		}
		p.refs.docs[ref] = docs
		return docs
	})
}

func findDocs(p *pass, ref query.Ref) ([]vocab.DocID, error) {
	to, err := findTargets(p, ref)
	if err != nil || ref.Relation == query.Info || ref.Relation == query.Cache {
		return to, err
	}
	if p.links == nil {
		return nil, errors.New("this server has no links")
	}
	ctx, cancel := p.clock.Share(linkShare).Context()
	defer cancel()
	if ref.Relation == query.Related {
		docs, err := p.links.Related(ctx, to[0], scoring.MaxRelated)
		p.refs.addRelated(docs)
		return docs, err
	}
	from, all, err := p.links.Sources(ctx, to, maxSources)
	if !all && err == nil {
		cut := fmt.Sprintf("only %d of the pages of %s were read", len(from), ref)
		p.refs.cut = append(p.refs.cut, cut)
	}
	return from, err
}

// addRelated records the pages of a related:, nearest first.
func (r *references) addRelated(docs []vocab.DocID) {
	if r.nearer == nil {
		r.nearer = map[vocab.DocID]int{}
	}
	for i, doc := range docs {
		if before, known := r.nearer[doc]; !known || i < before {
			r.nearer[doc] = i
		}
	}
}

// findTargets returns the documents that the URL of a reference names, ascending.
func findTargets(p *pass, ref query.Ref) ([]vocab.DocID, error) {
	if ref.Site() {
		return findSite(p, ref)
	}
	for _, address := range [...]string{ref.URL, query.OtherWWW(ref.URL)} {
		u, err := weburl.Parse("http://" + address)
		if err != nil {
			return nil, err
		}
		c, err := findPage(p.view, p.links, &u)
		if err == nil {
			return []vocab.DocID{c.Doc}, nil
		}
		if !errors.Is(err, ErrNotIndexed) {
			return nil, err
		}
	}
	return nil, ErrNotIndexed
}

// findPage returns the live document of a URL or, if there is none, of the page that the URL leads to
// as a redirect or as a duplicate.
func findPage(v *view, links Links, u *weburl.URL) (c scoring.Candidate, err error) {
	c, err = v.find(u)
	if err == nil || !errors.Is(err, ErrNotIndexed) || links == nil {
		return c, err
	}
	doc, failed := links.Canonical(*u)
	if failed != nil || doc == 0 {
		return c, errors.Join(failed, err)
	}
	part, ord, failed := v.locate(doc)
	if failed != nil {
		return c, err
	}
	return scoring.Candidate{Doc: doc, Part: slices.Index(v.shard(doc).Parts, part), Ord: ord}, nil
}

// findSite returns the documents of a host and its subdomains.
func findSite(p *pass, ref query.Ref) ([]vocab.DocID, error) {
	all := make([][]shard.HostDoc, len(p.shards))
	err := p.each(func(i int, q *shard.Query) (err error) {
		all[i], err = q.SiteDocs(ref.URL, maxTargets)
		return err
	})
	docs := shard.FirstDocs(all, maxTargets)
	switch {
	case len(docs) == 0 && err == nil:
		return nil, ErrNotIndexed
	case len(docs) == maxTargets:
		cut := fmt.Sprintf("only links to %d pages of %s were read", maxTargets, ref.URL)
		p.refs.cut = append(p.refs.cut, cut)
	}
	return docs, err
}
