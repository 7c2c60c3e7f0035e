package postings

import (
	"slices"

	"anatomy/vocab"
)

// packedHits decodes the hits of a HitPacker: those of any posting, without earlier ones.
type packedHits struct {
	src    []byte // has mapfile.Slack
	n      int    // postings
	firsts gapGroup
	gaps   groupWalker
	gap    gapGroup
	lows   groupWalker
	low    lowGroup

	// buf has some gaps, or the first unpacked gaps of group unpackedGroup, if that is not −1.
	buf           [groupSize]uint32
	unpackedGroup int
	unpacked      int

	// firstPositions has the positions of all first hits, once firstsRead is set.
	firstsRead     bool
	firstPositions [BlockSize]uint32
}

// start begins with the hits of n postings.
func (p *packedHits) start(d *cutter, n int) {
	p.src, p.n, p.unpackedGroup, p.firstsRead = d.src, n, -1, false
	head := d.bytes(groupHead)
	if d.err == nil {
		d.at, d.err = p.firsts.parse(d.src, head, d.at, n)
	}
	groups, length := d.uvarint(), d.uvarint()
	less := groups & 1 // groups of gaps fewer than groups of low bytes
	gaps, lows := d.bytes(groupHead*(groups>>1-less)), d.bytes(groupHead*(groups>>1))
	p.gaps = groupWalker{heads: gaps, base: d.at, number: -1}
	d.bytes(length)
	p.lows = groupWalker{heads: lows, base: d.at, number: -1}
}

// maxHits returns an upper bound on the number of hits.
func (p *packedHits) maxHits() int { return len(p.lows.heads) / groupHead * groupSize }

// append decodes the hits of a posting, which have the numbers in [from, to), and appends them to buf.
func (p *packedHits) append(buf []vocab.Hit, posting, from, to int) ([]vocab.Hit, error) {
	n := len(buf)
	buf = slices.Grow(buf, to-from)[:n+to-from]
	hits := buf[n:]
	s := hitBuilder{low: plainHit}
	for done := 0; done < len(hits); {
		at := from + done
		if err := p.seekLows(at / groupSize); err != nil {
			return buf[:n], err
		}
		end := min(len(hits), done+groupSize-at%groupSize)
		gaps, err := p.readGaps(posting, at, end-done, done == 0)
		if err != nil {
			return buf[:n], err
		}
		if err := s.add(hits[done:end], gaps, &p.low, at%groupSize); err != nil {
			return buf[:n], err
		}
		done = end
	}
	return buf, nil
}

// readGaps returns the gaps of n ≤ 128 hits of a posting from number from on. If first is set, the
// first of them is the posting's first hit, whose gap is its position. The gaps are valid until the
// next call.
func (p *packedHits) readGaps(posting, from, n int, first bool) ([]uint32, error) {
	gaps, done := p.buf[:n], 0
	p.unpackedGroup = -1
	if first {
		if !p.firsts.has(posting + 1) {
			return nil, errHitsShort
		}
		gaps[0], done = p.firsts.one(posting), 1
	}
	for done < n {
		at := from + done - posting - 1
		if err := p.seekGaps(at / groupSize); err != nil {
			return nil, err
		}
		end := min(n, done+groupSize-at%groupSize)
		if !p.gap.has(at%groupSize + end - done) {
			return nil, errHitsShort
		}
		p.gap.read(gaps[done:end], at%groupSize)
		done = end
	}
	return gaps, nil
}

// seekGaps makes gap the group of gaps of a number.
func (p *packedHits) seekGaps(number int) error {
	w := &p.gaps
	if number == w.number {
		return nil
	}
	if number >= len(w.heads)/groupHead {
		return errHitsShort
	}
	for heads := w.seek(number); len(heads) >= groupHead; heads = heads[groupHead:] {
		w.at += gapLength(heads)
	}
	_, err := p.gap.parse(p.src, w.heads[groupHead*number:], w.at, groupSize)
	if err != nil {
		w.number = -1
	}
	return err
}

// seekLows makes low the group of low bytes of a number.
func (p *packedHits) seekLows(number int) error {
	w := &p.lows
	if number == w.number {
		return nil
	}
	if number >= len(w.heads)/groupHead {
		return errHitsShort
	}
	for heads := w.seek(number); len(heads) >= groupHead; heads = heads[groupHead:] {
		w.at += lowLength(heads)
	}
	err := p.low.parse(p.src, w.heads[groupHead*number:], w.at)
	if err != nil {
		w.number = -1
	}
	return err
}

// A hitBuilder builds the hits of a posting from gaps and low bytes. Its fields are those of the last hit.
type hitBuilder struct {
	low      uint8
	position uint64
	last     vocab.Hit
}

// add builds hits from gaps and the low bytes of a group from index first on. It checks the range
// of positions at the end of a field or group: positions ascend up to there, and 128 gaps cannot
// overflow them.
func (s *hitBuilder) add(hits []vocab.Hit, gaps []uint32, g *lowGroup, first int) error {
	gaps = gaps[:len(hits)]
	if g.uniform() && fieldOf[g.base] == fieldOf[s.low] && vocab.Hit(g.base).Type() < vocab.HitTypes {
		s.low = g.base
		low, position := vocab.Hit(s.low), s.position
		for i, gap := range gaps {
			position += uint64(gap)
			hits[i] = vocab.Hit(position<<8) | low
		}
		s.position, s.last = position, hits[len(hits)-1]
		return s.inRange()
	}
	var buf [groupSize]uint8
	lows := buf[:len(hits)]
	if err := g.read(lows, first); err != nil {
		return err
	}
	if fieldOf[s.low] == vocab.Body && fieldOf[lows[len(lows)-1]] == vocab.Body {
		return s.addBody(hits, gaps, lows)
	}
	falls := uint64(0) // its highest bit is set if a hit is below the previous one
	low, position, last := s.low, s.position, s.last
	for i, gap := range gaps {
		if next := lows[i]; next != low {
			if fieldOf[next] != fieldOf[low] {
				s.low, s.position = low, position
				if err := s.changeField(next); err != nil {
					return err
				}
				position, last = 0, 0
			}
			if low = next; vocab.Hit(low).Type() >= vocab.HitTypes {
				return errHitType
			}
		}
		position += uint64(gap)
		h := vocab.Hit(position<<8) | vocab.Hit(low)
		falls |= uint64(h) - uint64(last)
		hits[i], last = h, h
	}
	s.low, s.position, s.last = low, position, last
	if falls>>63 != 0 {
		return errHitOrder
	}
	return s.inRange()
}

// addBody is add for hits in the body.
func (s *hitBuilder) addBody(hits []vocab.Hit, gaps []uint32, lows []uint8) error {
	position, last, falls, all := s.position, s.last, uint64(0), uint8(0)
	for i, low := range lows[:len(hits)] {
		position += uint64(gaps[i])
		h := vocab.Hit(position<<8) | vocab.Hit(low)
		falls |= uint64(h) - uint64(last)
		all |= low
		hits[i], last = h, h
	}
	s.low, s.position, s.last = lows[len(lows)-1], position, last
	if falls>>63 != 0 || all&outsideBody != 0 {
		return errHitOrder
	}
	return s.inRange()
}

func (s *hitBuilder) inRange() error {
	if s.position > vocab.MaxPosition {
		return errHitPosition
	}
	return nil
}

// changeField checks that the field of a low byte may follow.
func (s *hitBuilder) changeField(low uint8) error {
	if fieldOf[low] < fieldOf[s.low] {
		return errHitOrder
	}
	return s.inRange()
}
