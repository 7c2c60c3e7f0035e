package segment

import "anatomy/vocab"

// HitCount returns the number of hits of the current posting or, in an inline list, their size in
// bytes.
func (p *PostingIterator) HitCount() (int, error) {
	if err := p.needHits(); err != nil {
		return 0, err
	}
	from, to, err := p.hitBlock.Span(p.i)
	if err != nil {
		return 0, p.damaged(err)
	}
	return to - from, nil
}

// Hits appends the hits of the current posting to buf. The first call in a block decodes the hits of
// the block.
func (p *PostingIterator) Hits(buf []vocab.Hit) ([]vocab.Hit, error) {
	if err := p.needHits(); err != nil {
		return buf, err
	}
	buf, err := p.hitBlock.Append(buf, p.i)
	if err != nil {
		return buf, p.damaged(err)
	}
	return buf, nil
}

// FieldPositions appends the fields and positions of the hits of the current posting to buf.
func (p *PostingIterator) FieldPositions(buf []vocab.FieldPosition) ([]vocab.FieldPosition, error) {
	if err := p.needHits(); err != nil {
		return buf, err
	}
	buf, err := p.hitBlock.FieldPositions(buf, p.i)
	if err != nil {
		return buf, p.damaged(err)
	}
	return buf, nil
}

// BodyPositions appends the positions of the current posting's hits in the body to buf, each minus
// offset; it omits those below offset. onlyBody reports whether all hits are in the body. If not,
// invalid numbers may follow the positions.
func (p *PostingIterator) BodyPositions(buf []uint32, offset uint32) (_ []uint32, onlyBody bool, err error) {
	if err := p.needHits(); err != nil {
		return buf, false, err
	}
	buf, onlyBody, err = p.hitBlock.BodyPositions(buf, p.i, offset)
	if err != nil {
		err = p.damaged(err)
	}
	return buf, onlyBody, err
}

// IntersectPositions returns the positions at which the current posting has a hit in the body,
// offset further on. positions must ascend. If firstOnly is set, one is enough. It reuses the
// memory of positions, and decodes no more hits than it needs. onlyBody is as in BodyPositions: if
// it is false, more positions may remain than match.
func (p *PostingIterator) IntersectPositions(positions []uint32, offset uint32, firstOnly bool) (_ []uint32, onlyBody bool, err error) {
	if err := p.needHits(); err != nil {
		return nil, false, err
	}
	positions, onlyBody, err = p.hitBlock.IntersectPositions(positions, p.i, offset, firstOnly)
	if err != nil {
		err = p.damaged(err)
	}
	return positions, onlyBody, err
}

// needHits makes hitBlock the hits of the current block.
func (p *PostingIterator) needHits() error {
	if p.i < 0 || p.end {
		return errNoPosting
	}
	if p.hitsAt == p.at {
		return nil
	}
	if !p.inline() {
		if err := p.decodeHits(&p.hitBlock, p.at); err != nil {
			return p.damaged(err)
		}
	}
	p.hitsAt = p.at
	return nil
}
