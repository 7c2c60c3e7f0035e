package segment

import "anatomy/vocab"

// Places appends where the current posting's hits stand in the text, those moved so many words to the front that have
// so many before them. OnlyThere says that no hits stand elsewhere. Where some do, more places than there are may
// follow those in the text.
func (p *Postings) Places(buf []uint32, before uint32) (places []uint32, onlyThere bool, err error) {
	r, err := p.run()
	switch {
	case err != nil:
		return buf, false, err
	case r.of == nil:
		return p.inlinePlaces(buf, before)
	case r.gaps == 0 && !r.of.firsts.outside: // half of them
		if r.first >= before {
			buf = append(buf, r.first-before)
		}
		return buf, true, nil
	}
	if places, err = r.places(buf, int(before)); err == nil {
		onlyThere, err = r.inText()
	}
	if n := len(places); onlyThere && n > 0 && places[n-1]+before > vocab.MaxPosition {
		err = errHitPosition
	}
	if err != nil {
		err = p.damaged(err)
	}
	return places, onlyThere, err
}

// Follow leaves those of places, which ascend, that a hit of the current posting stands so many words behind, in
// the text; or only the first of them, if one is enough. OnlyThere is that of Places, with more places left than there are.
func (p *Postings) Follow(places []uint32, behind uint32, one bool) (left []uint32, onlyThere bool, err error) {
	r, err := p.run()
	if err != nil {
		return nil, false, err
	}
	if r.of == nil {
		own, onlyThere, err := p.inlinePlaces(nil, behind)
		return common(places, own), onlyThere, err
	}
	if left, err = r.follow(places, int(behind), one); err == nil {
		onlyThere, err = r.inText()
	}
	if err != nil {
		err = p.damaged(err)
	}
	return left, onlyThere, err
}

// A run is the packed hits of one posting.
type run struct {
	of      *packedHits
	posting int
	from    int    // the number of its first gap
	gaps    int    // how many it has
	first   uint32 // where its first hit stands
}

// run is the packed hits of the current posting, of none where they are not packed.
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
	return run{&b.packed, i, from - i, to - from - 1, b.packed.firstPlaces[i]}, nil
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

// inlinePlaces is Places of a list in the dictionary.
func (p *Postings) inlinePlaces(buf []uint32, before uint32) (places []uint32, onlyThere bool, err error) {
	b := &p.hitBlock
	if b.room, err = p.Hits(b.room[:0]); err != nil {
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

// places appends where hits stand, if all are in the text.
func (r *run) places(buf []uint32, before int) ([]uint32, error) {
	position := int(r.first) - before
	if position >= 0 {
		buf = append(buf, uint32(position))
	}
	for done := 0; done < r.gaps; {
		gaps, err := r.read(done)
		if err != nil {
			return buf, err
		}
		for _, gap := range gaps {
			if position += int(gap); position >= 0 {
				buf = append(buf, uint32(position))
			}
		}
		done += len(gaps)
	}
	return buf, nil
}

// follow leaves those of places that a hit stands so many words behind, or only the first of them, if all hits are in the
// text. It reads no more of them than that takes.
func (r *run) follow(places []uint32, behind int, one bool) (left []uint32, err error) {
	left = places[:0]
	position, gaps, done := int(r.first)-behind, []uint32(nil), 0
	for i := 0; ; {
		for i < len(places) && int(places[i]) < position {
			i++
		}
		if i == len(places) {
			return left, nil
		}
		if int(places[i]) == position {
			if left = append(left, places[i]); one {
				return left, nil
			}
			if i++; i == len(places) {
				return left, nil
			}
		}
		for wanted := int(places[i]); position < wanted; {
			if len(gaps) == 0 {
				if done == r.gaps {
					return left, nil
				}
				if gaps, err = r.read(done); err != nil {
					return nil, err
				}
				done += len(gaps)
			}
			n := 0
			for n < len(gaps) && position < wanted {
				position += int(gaps[n])
				n++
			}
			gaps = gaps[n:]
		}
	}
}

// inText says whether all hits stand in the text of the page: whether the last one does. The group that its gap is in
// says so of most.
func (r *run) inText() (bool, error) {
	p := r.of
	if r.gaps == 0 {
		if !p.firsts.outside {
			return true, nil
		}
	} else if head := groupHead * ((r.from + r.gaps - 1) / groupSize); head < len(p.gaps.heads) && p.gaps.heads[head]&outsideText == 0 {
		return true, nil
	}
	last := r.from + r.posting + r.gaps
	if err := p.lowsOf(last / groupSize); err != nil {
		return false, err
	}
	var low [1]uint8
	err := p.low.read(low[:], last%groupSize)
	return low[0]&outsideText == 0, err
}

// read gives the gaps from number n on, as far as their group reaches. They last until the next call for the same
// block.
func (r *run) read(n int) ([]uint32, error) {
	at, end := r.from+n, r.from+r.gaps
	group, err := r.of.groupOf(at / groupSize)
	if err != nil {
		return nil, err
	}
	from, to := at%groupSize, min(groupSize, at%groupSize+end-at)
	if to > len(group) {
		return nil, errHitsCut
	}
	return group[from:to], nil
}

// groupOf gives all gaps of a group, which last until the next call.
func (p *packedHits) groupOf(number int) ([]uint32, error) {
	if p.wholeOf != number {
		if err := p.unpackGroup(number); err != nil {
			return nil, err
		}
	}
	return p.buf[:p.whole], nil
}

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
