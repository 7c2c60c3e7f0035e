package indexer

import (
	"bytes"

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
// out, at several times its speed: a reference that stands on the page again is not resolved again.
// Its errors are those of Parse.
func ParseOutline(page *vocab.Page, buf *Buffer) (Outline, error) {
	p := &buf.parser
	if err := p.parse(page, buf.PDF, true); err != nil {
		return Outline{}, err
	}
	for _, l := range p.links { // of other media than HTML
		if u, err := weburl.Parse(l.target); err == nil {
			p.outline = append(p.outline, OutlineLink{u, l.flags&vocab.NoFollow != 0})
		}
	}
	if p.noFollow {
		for i := range p.outline {
			p.outline[i].NoFollow = true
		}
	}
	return Outline{Links: p.outline, Related: p.relations(), Redirect: p.redirect}, nil
}

// What is known of a reference that was seen on the page.
const (
	followed  uint8 = 1 << iota // it is a link,
	unwanted                    // and one not to be followed
	withinOwn                   // with a fragment it leads to the page itself
)

// maxReferences bounds the memory that is kept for the references of the next page.
const maxReferences = 1 << 12

// outlineReference is addReference without text. A fragment never changes which page is meant; one
// behind a space or in a very long reference is left where it is, since there it changes what is
// trimmed or refused.
func (p *parser) outlineReference(ref []byte, flags vocab.LinkFlags) bool {
	bare, fragment := ref, false
	if n := bytes.IndexByte(ref, '#'); n >= 0 {
		fragment = true
		if n > 0 && ref[n-1] > ' ' && len(ref) <= 1024 {
			bare = ref[:n]
		}
	}
	as := followed
	if flags&vocab.NoFollow != 0 {
		as = unwanted
	}
	seen := p.references[string(bare)]
	switch {
	case seen&as != 0:
		p.linkCount++
		return true
	case seen&withinOwn != 0 && fragment:
		return false
	}
	target, err := p.base.Join(string(bare))
	if err != nil {
		return false
	}
	key := string(bare)
	if fragment && target.String() == p.page.String() {
		p.references[key] = seen | withinOwn
		return false
	}
	p.references[key] = seen | as
	p.linkCount++
	p.outline = append(p.outline, OutlineLink{target, as == unwanted})
	return true
}
