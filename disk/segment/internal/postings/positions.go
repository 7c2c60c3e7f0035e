package postings

import "anatomy/vocab"

// FieldPositions appends the fields and positions of the hits of posting i to buf.
func (b *HitBlock) FieldPositions(buf []vocab.FieldPosition, i int) ([]vocab.FieldPosition, error) {
	hits, err := b.Append(b.scratch[:0], i)
	for _, h := range hits {
		buf = append(buf, h.FieldPosition())
	}
	b.scratch = hits
	return buf, err
}

// BodyPositions appends the positions of the hits of posting i in the body to buf, each minus
// offset; it omits those below offset. onlyBody reports whether all hits are in the body. If not,
// invalid numbers may follow the positions.
func (b *HitBlock) BodyPositions(buf []uint32, i int, offset uint32) (_ []uint32, onlyBody bool, err error) {
	if b.inline {
		return b.inlinePositions(buf, i, offset)
	}
	r, err := b.run(i)
	if err != nil {
		return buf, false, err
	}
	h := r.of
	position := r.first - int(offset)
	if position >= 0 {
		buf = append(buf, uint32(position))
	}
	if r.at == r.end && !h.firsts.outside { // half of the postings
		return buf, true, nil
	}
	for at := r.at; at < r.end; {
		gaps, err := h.gapsIn(at, r.end)
		if err != nil {
			return buf, false, err
		}
		for _, gap := range gaps {
			if position += int(gap); position >= 0 {
				buf = append(buf, uint32(position))
			}
		}
		at += len(gaps)
	}
	if onlyBody, err = r.onlyBody(); onlyBody && position+int(offset) > vocab.MaxPosition {
		err = errHitPosition
	}
	return buf, onlyBody, err
}

// IntersectPositions returns the positions at which posting i has a hit in the body, offset further
// on; positions must ascend. If firstOnly is set, one is enough. It reuses the memory of positions,
// and unpacks no more hits than it needs. onlyBody is as in BodyPositions: if it is false, more
// positions may remain than match.
func (b *HitBlock) IntersectPositions(positions []uint32, i int, offset uint32, firstOnly bool) (left []uint32, onlyBody bool, err error) {
	if b.inline {
		own, onlyBody, err := b.inlinePositions(nil, i, offset)
		return common(positions, own), onlyBody, err
	}
	r, err := b.run(i)
	if err != nil {
		return common(positions, nil), false, err
	}
	var gaps []uint32
	left = positions[:0]
	position, at := r.first-int(offset), r.at
	for k := 0; ; {
		for k < len(positions) && int(positions[k]) < position {
			k++
		}
		if k < len(positions) && int(positions[k]) == position {
			left = append(left, positions[k])
			k++
		}
		if k == len(positions) || firstOnly && len(left) > 0 {
			break
		}
		target := int(positions[k])
		for position < target {
			if len(gaps) == 0 {
				if at == r.end {
					break
				}
				if gaps, err = r.of.gapsIn(at, r.end); err != nil {
					return nil, false, err
				}
				at += len(gaps)
			}
			n := 0
			for n < len(gaps) && position < target {
				position += int(gaps[n])
				n++
			}
			gaps = gaps[n:]
		}
		if position < target {
			break
		}
	}
	onlyBody, err = r.onlyBody()
	return left, onlyBody, err
}

// inlinePositions is BodyPositions for an inline list.
func (b *HitBlock) inlinePositions(buf []uint32, i int, offset uint32) (_ []uint32, onlyBody bool, err error) {
	if b.scratch, err = b.Append(b.scratch[:0], i); err != nil {
		return buf, false, err
	}
	for _, h := range b.scratch {
		if h.Field() != vocab.Body {
			return buf, false, nil
		}
		if position := h.Position(); position >= offset {
			buf = append(buf, position-offset)
		}
	}
	return buf, true, nil
}

// common returns the positions that are also in others. Both ascend.
func common(positions, others []uint32) []uint32 {
	left, i := positions[:0], 0
	for _, position := range positions {
		for i < len(others) && others[i] < position {
			i++
		}
		if i == len(others) {
			break
		}
		if others[i] == position {
			left = append(left, position)
		}
	}
	return left
}

// A run is the packed hits of one posting: a first position and gaps at to end.
type run struct {
	of      *packedHits
	first   int
	at, end int
	posting int
}

func (b *HitBlock) run(i int) (r run, err error) {
	h := &b.packed
	if !h.firstsRead {
		if err := h.readFirsts(); err != nil {
			return run{}, err
		}
	}
	i &= BlockSize - 1
	if i >= b.lengths.known {
		if err := b.lengths.to(i); err != nil {
			return run{}, err
		}
	}
	from, to := int(b.lengths.ends[i]), int(b.lengths.ends[i+1])
	return run{h, int(h.firstPositions[i]), from - i, to - i - 1, i}, nil
}

// readFirsts unpacks the first positions of all postings.
func (p *packedHits) readFirsts() error {
	if !p.firsts.has(p.n) {
		return errHitsShort
	}
	p.firsts.read(p.firstPositions[:p.n], 0)
	p.firstsRead = true
	return nil
}

// onlyBody reports whether all hits are in the body, that is, whether the last one is. The head of
// its group of gaps usually suffices.
func (r *run) onlyBody() (bool, error) {
	h := r.of
	if r.at == r.end {
		if !h.firsts.outside {
			return true, nil
		}
	} else if head := groupHead * ((r.end - 1) / groupSize); head < len(h.gaps.heads) && h.gaps.heads[head]&outsideBody == 0 {
		return true, nil
	}
	return h.inBody(r.end + r.posting)
}

// inBody reports whether a hit is in the body.
func (p *packedHits) inBody(hit int) (bool, error) {
	if err := p.seekLows(hit / groupSize); err != nil {
		return false, err
	}
	var low [1]uint8
	err := p.low.read(low[:], hit%groupSize)
	return low[0]&outsideBody == 0, err
}

// gapsIn returns the gaps from number at to end, or to the end of the group of the first: at least
// one. They are valid until the next call.
func (p *packedHits) gapsIn(at, end int) ([]uint32, error) {
	if number := at / groupSize; number != p.unpackedGroup {
		if err := p.unpackGroup(number); err != nil {
			return nil, err
		}
	}
	from, to := at%groupSize, min(groupSize, at%groupSize+end-at)
	if to > p.unpacked {
		return nil, errHitsShort
	}
	return p.buf[from:to], nil
}

// unpackGroup unpacks all gaps of a group into buf.
func (p *packedHits) unpackGroup(number int) error {
	if err := p.seekGaps(number); err != nil {
		return err
	}
	p.unpacked = groupSize
	if !p.gap.has(groupSize) {
		p.unpacked = 8 * len(p.gap.packed) / int(p.gap.width)
	}
	p.gap.read(p.buf[:p.unpacked], 0)
	p.unpackedGroup = number
	return nil
}
