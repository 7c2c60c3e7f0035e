package searcher

import (
	"anatomy/searcher/query"
)

// answer answers a query by the steps of the pipeline:
//
//	readOptions   words after a minus become words to search for if the collection shows that they are options
//	retrieve      the first phase: candidates by impact
//	rank          the second phase: exact scores
//	collapse      near-duplicates and crowded hosts
//	extend        pages after the candidates
//	countBlocked  pages of blocked sites
//	conclude      the page of results, or why it is empty
//	correct       if there are likelier spellings: the correction starts at retrieve
//	relax         if few pages match: the query without some terms starts at retrieveMost
//	pinAnswer     the page that the operator pinned for the query comes first
//	present       snippets and explanations
//	countFacets   pages that match by site, language, type, if the request asks for it
//
// A correction and a relaxed query are passes with responses of their own, whose results choose and
// addRelaxed move to the response.
func answer(s *search, k *knowledge, q query.Query, resp *Response) error {
	q, err := readOptions(s, q, resp)
	if err != nil {
		return err
	}
	p := s.newPass(q, resp)
	if err := find(p); err != nil {
		return err
	}
	if c := correct(p, k); c.text != "" && (!c.forced || s.req.Verbatim) {
		resp.Suggestion = c.text
	} else if c.text != "" {
		better := p.corrected(c.text)
		if err := find(better); err != nil {
			return err
		}
		p = p.choose(better, c.text)
	}
	relaxed := relax(p)
	if relaxed != nil {
		if err := relaxed.run(retrieveMost, rank, keepMost, collapse); err != nil {
			return err
		}
		if relaxed.ended {
			relaxed = nil
		} else {
			p.addRelaxed(relaxed)
		}
	}
	if p.ended {
		return nil
	}
	pinned, err := pinAnswer(p, relaxed)
	if err != nil {
		return err
	}
	if err := present(p, relaxed); err != nil {
		return err
	}
	pinned.mark(resp.Results)
	return countFacets(p)
}

// find finds the results of a query without corrections.
func find(p *pass) error {
	return p.run(retrieve, rank, collapse, extend, countBlocked, conclude)
}
