package segment

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"anatomy/vocab"
)

// groupSize is how many gaps, or low bytes, are packed together, whatever postings they belong to.
const groupSize = 128

// A hitPacker packs the hits of a block's postings.
type hitPacker struct {
	firsts       [blockSize]uint32
	gaps         []uint32
	lows         []uint8
	firstOutside uint8   // what the low bytes of first hits have in common with those outside of the text
	outside      []uint8 // and those of each group of gaps
	escapes      []byte
	heads        []byte
	packed       []byte
}

// append codes hits, counts[i] of posting i.
func (p *hitPacker) append(dst []byte, counts []uint32, hits []vocab.Hit) []byte {
	p.part(counts, hits)
	dst, p.escapes = appendLengths(dst, p.escapes[:0], counts)
	dst = append(binary.AppendUvarint(dst, uint64(len(p.escapes))), p.escapes...)
	p.heads, p.packed = p.heads[:0], p.packed[:0]
	p.appendGaps(p.firsts[:len(counts)], p.firstOutside)
	dst = append(append(dst, p.heads...), p.packed...)

	p.heads, p.packed = p.heads[:0], p.packed[:0]
	for i, outside := range p.outside {
		p.appendGaps(p.gaps[i*groupSize:min((i+1)*groupSize, len(p.gaps))], outside)
	}
	gaps := len(p.packed)
	for group := range slices.Chunk(p.lows, groupSize) {
		p.appendLows(group)
	}
	groups := len(p.heads)/groupHead - len(p.outside) // of low bytes
	dst = binary.AppendUvarint(dst, uint64(2*groups+groups-len(p.outside)))
	dst = binary.AppendUvarint(dst, uint64(gaps))
	return append(append(dst, p.heads...), p.packed...)
}

// part takes hits apart: positions of first ones, gaps to the others, low bytes.
func (p *hitPacker) part(counts []uint32, hits []vocab.Hit) {
	p.gaps, p.lows, p.outside, p.firstOutside = p.gaps[:0], p.lows[:0], p.outside[:0], 0
	for i, count := range counts {
		own := hits[:count]
		low := uint8(own[0])
		p.firsts[i], p.lows = own[0].Position(), append(p.lows, low)
		p.firstOutside |= low & outsideText
		for k, h := range own[1:] {
			position := own[k].Position()
			if next := uint8(h); next != low {
				if fieldOf[next] != fieldOf[low] {
					position = 0
				}
				low = next
			}
			p.gaps, p.lows = append(p.gaps, h.Position()-position), append(p.lows, low)
			if low&outsideText != 0 { // few are
				p.lastGroup()[0] = outsideText
			}
		}
		hits = hits[count:]
	}
	if len(p.gaps) > 0 {
		p.lastGroup()
	}
}

// lastGroup gives the place in outside of the group that the last gap is in, at its end.
func (p *hitPacker) lastGroup() []uint8 {
	number := (len(p.gaps) - 1) / groupSize
	for len(p.outside) <= number {
		p.outside = append(p.outside, 0)
	}
	return p.outside[number:]
}

// groupHead is the bytes of the head of a group of gaps or low bytes, which tell how long it is.
const groupHead = 2

// An exception of gaps is the index and the bits above the width, 16 at most.
const (
	gapException  = 1 + 2
	exceptionBits = 16
	maxGapWidth   = 24
)

// outsideText is the bit that low bytes of hits outside of the text have, and the head of a group with such hits.
const outsideText = 0x80

// appendGaps packs gaps in the width that makes them shortest, with those that need more set apart.
func (p *hitPacker) appendGaps(gaps []uint32, outside uint8) {
	width := gapWidth(gaps)
	mask := uint32(1)<<width - 1
	var low [groupSize]uint32
	n := 0
	for i, gap := range gaps {
		if low[i] = gap & mask; gap > mask {
			p.packed = binary.LittleEndian.AppendUint16(append(p.packed, uint8(i)), uint16(gap>>width))
			n++
		}
	}
	p.heads = append(p.heads, width|outside, uint8(n))
	p.packed = appendPacked(p.packed, low[:len(gaps)], width)
}

func gapWidth(gaps []uint32) (best uint8) {
	var need [33]int // gaps of so many bits
	most := uint8(0)
	for _, gap := range gaps {
		b := uint8(bits.Len32(gap))
		need[b]++
		most = max(most, b)
	}
	best = most
	cost, over := len(gaps)*int(most), 0
	for width := most; width > 0 && most-width < exceptionBits; {
		over += need[width]
		width--
		if c := len(gaps)*int(width) + 8 + over*gapException*8; c < cost {
			cost, best = c, width
		}
	}
	return best
}

// The ways to pack low bytes. A palette of so many bits follows lowPalette.
const (
	lowPlain   = 0 // all are that of plain text
	lowBase    = 1 // all are one byte, but for some
	lowPalette = 1 // plus the bits of an index into the bytes that there are

	lowException   = 1 + 1
	maxPaletteBits = 8
)

// appendLows packs low bytes in the way that makes them shortest.
func (p *hitPacker) appendLows(lows []uint8) {
	var counts [256]uint8
	var palette [groupSize]uint8
	n := 0
	for _, low := range lows {
		if counts[low] == 0 {
			palette[n] = low
			n++
		}
		counts[low]++
	}
	if n == 1 && lows[0] == plainHit {
		p.heads = append(p.heads, lowPlain, 0)
		return
	}
	slices.Sort(palette[:n])
	base := palette[0]
	for _, low := range palette[1:n] {
		if counts[low] > counts[base] {
			base = low
		}
	}
	others, width := len(lows)-int(counts[base]), width64(uint64(n-1))
	if 1+lowException*others <= n+packedLen(len(lows), width) {
		p.heads, p.packed = append(p.heads, lowBase, uint8(others)), append(p.packed, base)
		for i, low := range lows {
			if low != base {
				p.packed = append(p.packed, uint8(i), low)
			}
		}
		return
	}
	p.heads, p.packed = append(p.heads, lowPalette+width, uint8(n-1)), append(p.packed, palette[:n]...)
	for i, low := range palette[:n] {
		counts[low] = uint8(i)
	}
	var index [groupSize]uint8
	for i, low := range lows {
		index[i] = counts[low]
	}
	p.packed = appendPacked(p.packed, index[:len(lows)], width)
}

// A packedHits reads what a hitPacker made, any hits of it without those before.
type packedHits struct {
	src    []byte // with slack behind its end
	n      int    // postings
	firsts gapGroup
	gaps   walker
	gap    gapGroup
	lows   walker
	low    lowGroup

	buf     [groupSize]uint32 // some gaps, or all of the group of that number, if it is not −1
	wholeOf int
	whole   int // how many these are

	firstPlaces [blockSize]uint32 // of all postings, see Postings.toPlaces
}

// start begins the reading of the hits of n postings.
func (p *packedHits) start(d *cutter, n int) {
	p.src, p.n, p.wholeOf = d.src, n, -1
	head := d.bytes(groupHead)
	if d.err == nil {
		d.at, d.err = p.firsts.parse(d.src, head, d.at, n)
	}
	groups, length := d.uvarint(), d.uvarint()
	less := groups & 1 // groups of gaps than of low bytes
	gaps, lows := d.bytes(groupHead*(groups>>1-less)), d.bytes(groupHead*(groups>>1))
	p.gaps = walker{heads: gaps, base: d.at, number: -1}
	d.bytes(length)
	p.lows = walker{heads: lows, base: d.at, number: -1}
}

// most is as many hits as there may be at most.
func (p *packedHits) most() int { return len(p.lows.heads) / groupHead * groupSize }

// A walker goes to groups that lie one after the other.
type walker struct {
	heads  []byte
	base   int // where the first begins
	number int // of a group, −1 for none
	at     int // where it begins
}

// pass gives the heads of the groups from the one at hand to that of a number, which becomes the one at hand.
func (w *walker) pass(number int) []byte {
	if number < w.number || w.number < 0 {
		w.number, w.at = 0, w.base
	}
	heads := w.heads[groupHead*w.number : groupHead*number]
	w.number = number
	return heads
}

// A gapGroup is a view of packed gaps.
type gapGroup struct {
	packed  []byte
	width   uint8
	outside bool   // hits outside of the text are among them
	over    []byte // exceptions
}

// gapLength is the bytes of a group of 128 gaps.
func gapLength(head []byte) int {
	return groupSize/8*int(head[0]&^outsideText) + gapException*int(head[1])
}

// parse finds the parts of a group of n gaps, or fewer, at an offset of src, behind which there is slack, and where
// it ends.
func (g *gapGroup) parse(src, head []byte, at, n int) (end int, err error) {
	g.width, g.outside = head[0]&^outsideText, head[0]&outsideText != 0
	from := at + int(head[1])*gapException
	if g.width > maxGapWidth || from > len(src) {
		return 0, errHitsCut
	}
	end = min(from+packedLen(n, g.width), len(src))
	g.over, g.packed = src[at:from], src[from:end:end+slack]
	return end, nil
}

// has says whether a group has so many gaps.
func (g *gapGroup) has(n int) bool { return packedLen(n, g.width) <= len(g.packed) }

// read gives gaps of a group, which has them, from number first on.
func (g *gapGroup) read(dst []uint32, first int) {
	width, mask := uint(g.width), uint64(1)<<g.width-1
	bit, i := uint(first)*width, 0
	for ; width <= fourOf && i+4 <= len(dst); i += 4 {
		v := load64(g.packed, bit>>3) >> (bit & 7)
		four := dst[i : i+4 : i+4]
		four[0], four[1] = uint32(v&mask), uint32(v>>width&mask)
		four[2], four[3] = uint32(v>>(2*width)&mask), uint32(v>>(3*width)&mask)
		bit += 4 * width
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(load64(g.packed, bit>>3) >> (bit & 7) & mask)
		bit += width
	}
	for over := g.over; len(over) >= gapException; over = over[gapException:] {
		if i := int(over[0]) - first; i >= len(dst) {
			return
		} else if i >= 0 {
			dst[i] |= uint32(binary.LittleEndian.Uint16(over[1:])) << width
		}
	}
}

// one is gap number i of a group, which has it.
func (g *gapGroup) one(i int) uint32 {
	width := uint(g.width)
	bit := uint(i) * width
	gap := uint32(load64(g.packed, bit>>3) >> (bit & 7) & (1<<width - 1))
	for over := g.over; len(over) >= gapException && int(over[0]) <= i; over = over[gapException:] {
		if int(over[0]) == i {
			gap |= uint32(binary.LittleEndian.Uint16(over[1:])) << width
		}
	}
	return gap
}

// fourOf is the bits of a value up to which four of them are in eight bytes wherever they begin.
const fourOf = (64 - 7) / 4

// A lowGroup is a view of packed low bytes.
type lowGroup struct {
	packed  []byte // indices, with a palette
	bits    uint8
	palette []byte
	base    uint8
	others  []byte // exceptions
}

// lowLength is the bytes of a group of 128 low bytes.
func lowLength(head []byte) int {
	switch way, n := int(head[0]), int(head[1]); way {
	case lowPlain:
		return 0
	case lowBase:
		return 1 + n*lowException
	default:
		return n + 1 + groupSize/8*(way-lowPalette)
	}
}

// parse is that of a gapGroup.
func (g *lowGroup) parse(src, head []byte, at int) error {
	if at > len(src) {
		return errHitsCut
	}
	d := cutter{src: src, at: at}
	*g = lowGroup{base: plainHit}
	switch way, n := head[0], uint64(head[1]); {
	case way == lowPlain:
	case way == lowBase:
		g.base = d.byte()
		g.others = d.bytes(n * lowException)
	case way <= lowPalette+maxPaletteBits:
		g.bits = way - lowPalette
		g.palette = d.bytes(n + 1)
		g.packed = d.bytes(uint64(min(groupSize/8*int(g.bits), len(src)-d.at)))
	default:
		return errWidth
	}
	return d.err
}

// read gives low bytes, from number first on.
func (g *lowGroup) read(dst []uint8, first int) error {
	if g.bits > 0 {
		return g.readPalette(dst, first)
	}
	for i := range dst {
		dst[i] = g.base
	}
	for others := g.others; len(others) >= lowException; others = others[lowException:] {
		if i := int(others[0]) - first; i >= len(dst) {
			break
		} else if i >= 0 {
			dst[i] = others[1]
		}
	}
	return nil
}

func (g *lowGroup) readPalette(dst []uint8, first int) error {
	if packedLen(first+len(dst), g.bits) > len(g.packed) {
		return errHitsCut
	}
	width, mask := uint(g.bits), uint64(1)<<g.bits-1
	bit, i, most := uint(first)*width, 0, uint64(len(g.palette)-1)
	for ; i+4 <= len(dst); i += 4 {
		v := load64(g.packed, bit>>3) >> (bit & 7)
		a, b, c, d := v&mask, v>>width&mask, v>>(2*width)&mask, v>>(3*width)&mask
		if a > most || b > most || c > most || d > most {
			return errHitType
		}
		four := dst[i : i+4 : i+4]
		four[0], four[1], four[2], four[3] = g.palette[a], g.palette[b], g.palette[c], g.palette[d]
		bit += 4 * width
	}
	for ; i < len(dst); i++ {
		index := load64(g.packed, bit>>3) >> (bit & 7) & mask
		if index > most {
			return errHitType
		}
		dst[i] = g.palette[index]
		bit += width
	}
	return nil
}

// one says whether all low bytes of a group are the same.
func (g *lowGroup) one() bool { return g.bits == 0 && len(g.others) == 0 }

// A cutter cuts pieces off a source. They can be read to slack bytes behind their end.
type cutter struct {
	src []byte
	at  int
	err error
}

func (d *cutter) byte() byte {
	if d.at >= len(d.src) {
		d.err = errHitsCut
		return 0
	}
	d.at++
	return d.src[d.at-1]
}

func (d *cutter) bytes(n uint64) []byte {
	if n > uint64(len(d.src)-d.at) {
		d.err = errHitsCut
		return nil
	}
	d.at += int(n)
	return d.src[d.at-int(n) : d.at : d.at+slack]
}

func (d *cutter) uvarint() uint64 {
	v, size := binary.Uvarint(d.src[d.at:])
	if size <= 0 {
		d.err = errHitsCut
		return 0
	}
	d.at += size
	return v
}

// load64 is the eight bytes of src at an offset, which is not behind its end: there is slack.
func load64(src []byte, at uint) uint64 { return binary.LittleEndian.Uint64(src[at : at+8]) }

// append appends the hits of a posting, those numbered from from to to, to buf.
func (p *packedHits) append(buf []vocab.Hit, posting, from, to int) ([]vocab.Hit, error) {
	n := len(buf)
	buf = slices.Grow(buf, to-from)[:n+to-from]
	hits := buf[n:]
	s := summer{low: plainHit}
	for done := 0; done < len(hits); {
		at := from + done
		if err := p.lowsOf(at / groupSize); err != nil {
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

// readGaps gives the gaps of n hits of a posting, 128 at most, numbered from from on: that of its first is its position.
// They last until the next call.
func (p *packedHits) readGaps(posting, from, n int, first bool) ([]uint32, error) {
	gaps, done := p.buf[:n], 0
	p.wholeOf = -1
	if first {
		if !p.firsts.has(posting + 1) {
			return nil, errHitsCut
		}
		gaps[0], done = p.firsts.one(posting), 1
	}
	for done < n {
		at := from + done - posting - 1
		if err := p.gapsOf(at / groupSize); err != nil {
			return nil, err
		}
		end := min(n, done+groupSize-at%groupSize)
		if !p.gap.has(at%groupSize + end - done) {
			return nil, errHitsCut
		}
		p.gap.read(gaps[done:end], at%groupSize)
		done = end
	}
	return gaps, nil
}

// gapsOf makes gap the group of that number, and lowsOf low.
func (p *packedHits) gapsOf(number int) error {
	w := &p.gaps
	if number == w.number {
		return nil
	}
	if number >= len(w.heads)/groupHead {
		return errHitsCut
	}
	for heads := w.pass(number); len(heads) >= groupHead; heads = heads[groupHead:] {
		w.at += gapLength(heads)
	}
	_, err := p.gap.parse(p.src, w.heads[groupHead*number:], w.at, groupSize)
	if err != nil {
		w.number = -1
	}
	return err
}

func (p *packedHits) lowsOf(number int) error {
	w := &p.lows
	if number == w.number {
		return nil
	}
	if number >= len(w.heads)/groupHead {
		return errHitsCut
	}
	for heads := w.pass(number); len(heads) >= groupHead; heads = heads[groupHead:] {
		w.at += lowLength(heads)
	}
	err := p.low.parse(p.src, w.heads[groupHead*number:], w.at)
	if err != nil {
		w.number = -1
	}
	return err
}

// A summer makes hits of gaps and low bytes.
type summer struct {
	low      uint8
	position uint64
	last     vocab.Hit
}

// add makes hits of gaps, with the low bytes of a group from number first on. A position out of range shows where
// its field ends, or the group: up to there positions grow, and 128 gaps cannot overflow them.
func (s *summer) add(hits []vocab.Hit, gaps []uint32, g *lowGroup, first int) error {
	gaps = gaps[:len(hits)]
	if g.one() && fieldOf[g.base] == fieldOf[s.low] && vocab.Hit(g.base).Type() < vocab.HitTypes {
		s.low = g.base
		low, position := vocab.Hit(s.low), s.position
		for i, gap := range gaps {
			position += uint64(gap)
			hits[i] = vocab.Hit(position<<8) | low
		}
		s.position, s.last = position, hits[len(hits)-1]
		return s.inRange()
	}
	var room [groupSize]uint8
	lows := room[:len(hits)]
	if err := g.read(lows, first); err != nil {
		return err
	}
	if fieldOf[s.low] == vocab.Body && fieldOf[lows[len(lows)-1]] == vocab.Body {
		return s.addText(hits, gaps, lows)
	}
	falls := uint64(0) // its highest bit says that a hit was below the one before
	low, position, last := s.low, s.position, s.last
	for i, gap := range gaps {
		if next := lows[i]; next != low {
			if fieldOf[next] != fieldOf[low] {
				s.low, s.position = low, position
				if err := s.change(next); err != nil {
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

// addText is add for hits that stand in the text, as the last one does.
func (s *summer) addText(hits []vocab.Hit, gaps []uint32, lows []uint8) error {
	position, last, falls, all := s.position, s.last, uint64(0), uint8(0)
	for i, low := range lows[:len(hits)] {
		position += uint64(gaps[i])
		h := vocab.Hit(position<<8) | vocab.Hit(low)
		falls |= uint64(h) - uint64(last)
		all |= low
		hits[i], last = h, h
	}
	s.low, s.position, s.last = lows[len(lows)-1], position, last
	if falls>>63 != 0 || all&outsideText != 0 {
		return errHitOrder
	}
	return s.inRange()
}

func (s *summer) inRange() error {
	if s.position > vocab.MaxPosition {
		return errHitPosition
	}
	return nil
}

// change says whether another field may begin.
func (s *summer) change(low uint8) error {
	if fieldOf[low] < fieldOf[s.low] {
		return errHitOrder
	}
	return s.inRange()
}
