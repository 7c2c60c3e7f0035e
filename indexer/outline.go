package indexer

import (
	"anatomy/vocab"
	"anatomy/weburl"
)

// An Outline is what of a page a crawl needs that builds no index: where it leads.
type Outline struct {
	Links    []OutlineLink // in the order of the page, most of them once; they last as long as the Buffer is not used again
	Related  []string      // as in Document
	Redirect string        // as there
}

// An OutlineLink is a link without its text.
type OutlineLink struct {
	URL      weburl.URL
	NoFollow bool
}

// ParseOutline finds the links that [Parse] finds. In HTML that is the same pass with the texts left
// out, at several times its speed. Its errors are those of Parse.
func ParseOutline(page *vocab.Page, buf *Buffer) (Outline, error) {
	p := &buf.parser
	if err := p.parse(page, buf.PDF, true); err != nil {
		return Outline{}, err
	}
	return Outline{Links: p.outlined(), Related: p.relations(), Redirect: p.redirect}, nil
}

// outlined is outline, once the page has said whether its links are to be followed.
func (p *parser) outlined() []OutlineLink {
	if p.noFollow {
		for i := range p.outline {
			p.outline[i].NoFollow = true
		}
	}
	return p.outline
}
