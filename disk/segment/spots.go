package segment

import "anatomy/vocab"

// Spots appends where the hits of the current posting stand to buf.
func (p *Postings) Spots(buf []vocab.Spot) ([]vocab.Spot, error) {
	if err := p.toHits(); err != nil {
		return buf, err
	}
	buf, err := p.hitBlock.spots(buf, p.i)
	if err != nil {
		return buf, p.damaged(err)
	}
	return buf, nil
}

func (b *hitBlock) spots(buf []vocab.Spot, i int) ([]vocab.Spot, error) {
	hits, err := b.append(b.room[:0], i)
	for _, h := range hits {
		buf = append(buf, h.Spot())
	}
	b.room = hits
	return buf, err
}
