package segment

import (
	"slices"

	"anatomy/vocab"
)

// Spots appends where the hits of the current posting stand to buf, as Hits does with all that they tell. Most stand in
// the text alone: then it takes half as long.
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
	if !b.inline {
		from, to := b.span(i)
		inText, err := b.packed.inText(int(to) - 1)
		if err != nil {
			return buf, err
		}
		if inText {
			return b.packed.spotsInText(buf, i, int(from), int(to))
		}
	}
	hits, err := b.append(b.room[:0], i)
	for _, h := range hits {
		buf = append(buf, h.Spot())
	}
	b.room = hits
	return buf, err
}

// inText says whether a hit stands in the text of its page. If it is the last of a posting, all of them do.
func (p *packedHits) inText(hit int) (bool, error) {
	if err := p.lowsOf(hit / groupSize); err != nil {
		return false, err
	}
	var low [1]uint8
	err := p.low.read(low[:], hit%groupSize)
	return fieldOf[low[0]] == vocab.Body, err
}

// spotsInText appends those of a posting that has hits in the text alone, numbered from from to to.
func (p *packedHits) spotsInText(buf []vocab.Spot, posting, from, to int) ([]vocab.Spot, error) {
	n := len(buf)
	buf = slices.Grow(buf, to-from)[:n+to-from]
	spots := buf[n:]
	if err := readGaps(p, spots, posting, from); err != nil {
		return buf[:n], err
	}
	position := uint64(0)
	for i, gap := range spots {
		position += uint64(gap)
		spots[i] = vocab.Spot(position)
	}
	if position > vocab.MaxPosition {
		return buf[:n], errHitPosition
	}
	return buf, nil
}
