package indexer

import "anatomy/vocab"

// An Outline has the links of a page and a sample of its text, for a crawl without index.
type Outline struct {
	Links    []OutlineLink // in the order of the page, most of them once; valid until the Buffer is used again
	Related  []string      // as in [Document]
	Redirect string        // as in [Document]
	Sample   vocab.TextSample
}

// ParseOutline finds the same links as [Parse]. For HTML it makes no terms and is several times as
// fast. It fails with the errors of Parse.
func ParseOutline(page *vocab.Page, buf *Buffer) (Outline, error) {
	if err := buf.parse(page, true); err != nil {
		return Outline{}, err
	}
	x := &buf.parser.extraction
	return Outline{
		Links:    x.links.followed(x.meta.noFollow),
		Related:  x.relations.followed(x.meta.noFollow),
		Redirect: x.links.redirect,
		Sample:   x.sample.sample(),
	}, nil
}
