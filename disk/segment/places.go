package segment

import "anatomy/vocab"

// Places appends where the current posting's hits stand in the text, those moved so many words to the front that have
// so many before them. OnlyThere says that no hits stand elsewhere. Where some do, more places than there are may
// follow those in the text.
func (p *Postings) Places(buf []uint32, before uint32) (places []uint32, onlyThere bool, err error) {
	r, err := p.run()
	if err != nil || r.of == nil {
		return p.inlinePlaces(buf, before, err)
	}
	h := r.of
	position := r.first - int(before)
	if position >= 0 {
		buf = append(buf, uint32(position))
	}
	if r.at == r.end && !h.firsts.outside { // half of them
		return buf, true, nil
	}
	for at := r.at; at < r.end; {
		gaps, err := h.gapsIn(at, r.end)
		if err != nil {
			return buf, false, p.damaged(err)
		}
		for _, gap := range gaps {
			if position += int(gap); position >= 0 {
				buf = append(buf, uint32(position))
			}
		}
		at += len(gaps)
	}
	if onlyThere, err = r.inText(); onlyThere && position+int(before) > vocab.MaxPosition {
		err = errHitPosition
	}
	if err != nil {
		err = p.damaged(err)
	}
	return buf, onlyThere, err
}

// Follow leaves those of places, which ascend, that a hit of the current posting stands so many words behind, in
// the text; or only the first of them, if one is enough. OnlyThere is that of Places, with more places left than there are.
// It reads no more hits than that takes.
func (p *Postings) Follow(places []uint32, behind uint32, one bool) (left []uint32, onlyThere bool, err error) {
	r, err := p.run()
	if err != nil || r.of == nil {
		own, onlyThere, err := p.inlinePlaces(nil, behind, err)
		return common(places, own), onlyThere, err
	}
	var gaps []uint32
	left = places[:0]
	position, at := r.first-int(behind), r.at
	for i := 0; ; {
		for i < len(places) && int(places[i]) < position {
			i++
		}
		if i < len(places) && int(places[i]) == position {
			left = append(left, places[i])
			i++
		}
		if i == len(places) || one && len(left) > 0 {
			break
		}
		wanted := int(places[i])
		for position < wanted {
			if len(gaps) == 0 {
				if at == r.end {
					break
				}
				if gaps, err = r.of.gapsIn(at, r.end); err != nil {
					return nil, false, p.damaged(err)
				}
				at += len(gaps)
			}
			n := 0
			for n < len(gaps) && position < wanted {
				position += int(gaps[n])
				n++
			}
			gaps = gaps[n:]
		}
		if position < wanted {
			break
		}
	}
	if onlyThere, err = r.inText(); err != nil {
		err = p.damaged(err)
	}
	return left, onlyThere, err
}

// A run is the packed hits of one posting.
type run struct {
	of      *packedHits // nil where they are not packed
	first   int         // where the first stands
	at, end int         // the numbers of the gaps to the others
	posting int
}

// run is the hits of the current posting.
func (p *Postings) run() (r run, err error) {
	if p.placesAt != p.at {
		if err := p.toPlaces(); err != nil || p.hitBlock.inline {
			return run{}, err
		}
	}
	b, i := &p.hitBlock, p.i&(blockSize-1)
	if i >= b.lengths.known {
		if err := b.lengths.to(i); err != nil {
			return run{}, p.damaged(err)
		}
	}
	from, to := int(b.lengths.ends[i]), int(b.lengths.ends[i+1])
	return run{&b.packed, int(b.packed.firstPlaces[i]), from - i, to - i - 1, i}, nil
}

// toPlaces makes hitBlock that of the current posting, with all first places.
func (p *Postings) toPlaces() error {
	if err := p.toHits(); err != nil || p.hitBlock.inline {
		return err
	}
	h := &p.hitBlock.packed
	if !h.firsts.has(h.n) {
		return p.damaged(errHitsCut)
	}
	h.firsts.read(h.firstPlaces[:h.n], 0)
	p.placesAt = p.at
	return nil
}

// inlinePlaces is Places of a list in the dictionary, unless there is an error already.
func (p *Postings) inlinePlaces(buf []uint32, before uint32, err error) (places []uint32, onlyThere bool, _ error) {
	b := &p.hitBlock
	if err == nil {
		b.room, err = p.Hits(b.room[:0])
	}
	if err != nil {
		return buf, false, err
	}
	for _, h := range b.room {
		if h.Field() != vocab.Body {
			return buf, false, nil
		}
		if at := h.Position(); at >= before {
			buf = append(buf, at-before)
		}
	}
	return buf, true, nil
}

// common leaves those of places that stand in others, too; both ascend.
func common(places, others []uint32) []uint32 {
	left, i := places[:0], 0
	for _, place := range places {
		for i < len(others) && others[i] < place {
			i++
		}
		if i == len(others) {
			break
		}
		if others[i] == place {
			left = append(left, place)
		}
	}
	return left
}

// inText says whether all hits stand in the text of the page: whether the last one does. The group that its gap is in
// says so of most.
func (r *run) inText() (bool, error) {
	h := r.of
	if r.at == r.end {
		if !h.firsts.outside {
			return true, nil
		}
	} else if head := groupHead * ((r.end - 1) / groupSize); head < len(h.gaps.heads) && h.gaps.heads[head]&outsideText == 0 {
		return true, nil
	}
	return h.isInText(r.end + r.posting)
}

// isInText says whether a hit stands in the text.
func (p *packedHits) isInText(hit int) (bool, error) {
	if err := p.lowsOf(hit / groupSize); err != nil {
		return false, err
	}
	var low [1]uint8
	err := p.low.read(low[:], hit%groupSize)
	return low[0]&outsideText == 0, err
}

// gapsIn gives the gaps from number at on, before end, as far as their group reaches, one at the least. They last until the
// next call.
func (p *packedHits) gapsIn(at, end int) ([]uint32, error) {
	if number := at / groupSize; number != p.wholeOf {
		if err := p.unpackGroup(number); err != nil {
			return nil, err
		}
	}
	from, to := at%groupSize, min(groupSize, at%groupSize+end-at)
	if to > p.whole {
		return nil, errHitsCut
	}
	return p.buf[from:to], nil
}

// unpackGroup makes buf all gaps of a group.
func (p *packedHits) unpackGroup(number int) error {
	if err := p.gapsOf(number); err != nil {
		return err
	}
	p.whole = groupSize
	if !p.gap.has(groupSize) {
		p.whole = 8 * len(p.gap.packed) / int(p.gap.width)
	}
	p.gap.read(p.buf[:p.whole], 0)
	p.wholeOf = number
	return nil
}
