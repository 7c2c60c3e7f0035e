package segment

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"anatomy/vocab"
)

// groupSize is how many gaps, or low bytes, are packed together, whatever postings they belong to.
const groupSize = 128

// A hitPacker packs the hits of a block's postings.
type hitPacker struct {
	firsts [blockSize]uint32
	gaps   []uint32
	lows   []uint8
	packed []byte
}

// append codes hits, counts[i] of posting i.
func (p *hitPacker) append(dst []byte, counts []uint32, hits []vocab.Hit) []byte {
	p.gaps, p.lows = p.gaps[:0], p.lows[:0]
	for i, count := range counts {
		own := hits[:count]
		low := uint8(own[0])
		p.firsts[i], p.lows = own[0].Position(), append(p.lows, low)
		for k, h := range own[1:] {
			position := own[k].Position()
			if next := uint8(h); next != low {
				if fieldOf[next] != fieldOf[low] {
					position = 0
				}
				low = next
			}
			p.gaps, p.lows = append(p.gaps, h.Position()-position), append(p.lows, low)
		}
		hits = hits[count:]
	}
	dst = appendGaps(appendLengths(dst, counts), p.firsts[:len(counts)])
	p.packed = p.packed[:0]
	for group := range slices.Chunk(p.gaps, groupSize) {
		p.packed = appendGaps(p.packed, group)
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(p.packed))), p.packed...)
	for group := range slices.Chunk(p.lows, groupSize) {
		dst = appendLows(dst, group)
	}
	return dst
}

// An exception of gaps is the index and the bits above the width, 16 at most.
const (
	gapException  = 1 + 2
	exceptionBits = 16
	hasExceptions = 0x80
	maxGapWidth   = 24
)

// appendGaps packs gaps in the width that makes them shortest, with those that need more set apart.
func appendGaps(dst []byte, gaps []uint32) []byte {
	width := gapWidth(gaps)
	mask := uint32(1)<<width - 1
	var low [groupSize]uint32
	var over [groupSize]uint8
	n := 0
	for i, gap := range gaps {
		if low[i] = gap & mask; gap > mask {
			over[n] = uint8(i)
			n++
		}
	}
	if n == 0 {
		return appendPacked(append(dst, width), low[:len(gaps)], width)
	}
	dst = appendPacked(append(dst, width|hasExceptions, uint8(n)), low[:len(gaps)], width)
	for _, i := range over[:n] {
		dst = binary.LittleEndian.AppendUint16(append(dst, i), uint16(gaps[i]>>width))
	}
	return dst
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
func appendLows(dst, lows []uint8) []byte {
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
		return append(dst, lowPlain)
	}
	slices.Sort(palette[:n])
	base := palette[0]
	for _, low := range palette[1:n] {
		if counts[low] > counts[base] {
			base = low
		}
	}
	others, width := len(lows)-int(counts[base]), width64(uint64(n-1))
	if 2+lowException*others <= 1+n+packedLen(len(lows), width) {
		dst = append(dst, lowBase, base, uint8(others))
		for i, low := range lows {
			if low != base {
				dst = append(dst, uint8(i), low)
			}
		}
		return dst
	}
	dst = append(dst, lowPalette+width, uint8(n-1))
	dst = append(dst, palette[:n]...)
	for i, low := range palette[:n] {
		counts[low] = uint8(i)
	}
	var index [groupSize]uint8
	for i, low := range lows {
		index[i] = counts[low]
	}
	return appendPacked(dst, index[:len(lows)], width)
}

// A packedHits reads what a hitPacker made, any hits of it without those before.
type packedHits struct {
	firsts gapGroup
	gaps   walker
	gap    gapGroup
	lows   walker
	low    lowGroup
}

// start begins the reading of the hits of n postings.
func (p *packedHits) start(src []byte, n, hits int) error {
	if cap(src) < len(src)+slack {
		src = append(make([]byte, 0, len(src)+slack), src...)
	}
	size, err := p.firsts.parse(src, 0, n)
	if err != nil {
		return err
	}
	length, used := binary.Uvarint(src[size:])
	if size += used; used <= 0 || length > uint64(len(src)-size) {
		return errHitsCut
	}
	split := size + int(length)
	p.gaps = walker{src: src[size:split], n: hits - n, number: -1}
	p.lows = walker{src: src[split:], n: hits, number: -1}
	return nil
}

// A walker goes to groups that lie one after the other.
type walker struct {
	src    []byte // with slack behind its end
	n      int    // values in all groups
	number int    // of the group that was parsed, −1 for none
	next   int    // where the one after it begins
}

func (w *walker) rewind() { w.number, w.next = -1, 0 }

// to gives where the group of that number begins and how many values it holds, and passes over those before it.
// Length tells that of a group of n values, from its first bytes and the slack behind it.
func (w *walker) to(number int, length func(head []byte, n int) int) (at, n int, err error) {
	if number < w.number {
		w.rewind()
	}
	for {
		w.number++
		if w.next > len(w.src) {
			return 0, 0, errHitsCut
		}
		at, n = w.next, min(groupSize, w.n-w.number*groupSize)
		w.next += length(w.src[at:at+slack], n)
		if w.number == number {
			return at, n, nil
		}
	}
}

// A gapGroup is a view of packed gaps.
type gapGroup struct {
	packed []byte
	width  uint8
	over   []byte // exceptions
}

// gapLength is the bytes of a group of n gaps.
func gapLength(head []byte, n int) int {
	if head[0]&hasExceptions == 0 {
		return 1 + packedLen(n, head[0])
	}
	return 2 + packedLen(n, head[0]&^hasExceptions) + int(head[1])*gapException
}

// parse finds the parts of a group of n gaps at an offset of src, behind which there is slack, and its size.
func (g *gapGroup) parse(src []byte, at, n int) (size int, err error) {
	d := cutter{src: src, at: at}
	head, over := d.byte(), 0
	if g.width = head &^ hasExceptions; head&hasExceptions != 0 {
		over = int(d.byte())
	}
	if g.width > maxGapWidth || over > n {
		return 0, errWidth
	}
	g.packed = d.bytes(packedLen(n, g.width))
	g.over = d.bytes(over * gapException)
	return d.at - at, d.err
}

// readGroup gives gaps of a group, from number first on.
func readGroup[V ~uint32](g *gapGroup, dst []V, first int) {
	width, mask := uint(g.width), uint64(1)<<g.width-1
	bit, i := uint(first)*width, 0
	for ; width <= fourOf && i+4 <= len(dst); i += 4 {
		v := load64(g.packed, bit>>3) >> (bit & 7)
		four := dst[i : i+4 : i+4]
		four[0], four[1] = V(v&mask), V(v>>width&mask)
		four[2], four[3] = V(v>>(2*width)&mask), V(v>>(3*width)&mask)
		bit += 4 * width
	}
	for ; i < len(dst); i++ {
		dst[i] = V(load64(g.packed, bit>>3) >> (bit & 7) & mask)
		bit += width
	}
	for over := g.over; len(over) > 0; over = over[gapException:] {
		if i := int(over[0]) - first; i >= len(dst) {
			return
		} else if i >= 0 {
			dst[i] |= V(binary.LittleEndian.Uint16(over[1:])) << width
		}
	}
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

// lowLength is the bytes of a group of n low bytes.
func lowLength(head []byte, n int) int {
	switch way := head[0]; way {
	case lowPlain:
		return 1
	case lowBase:
		return 3 + int(head[2])*lowException
	default:
		return 2 + int(head[1]) + 1 + packedLen(n, way-lowPalette)
	}
}

// parse is that of a gapGroup. The types of all low bytes are known ones.
func (g *lowGroup) parse(src []byte, at, n int) error {
	d := cutter{src: src, at: at}
	*g = lowGroup{base: plainHit}
	switch way := d.byte(); {
	case way == lowPlain:
	case way == lowBase:
		g.base = d.byte()
		g.others = d.bytes(int(d.byte()) * lowException)
	case way <= lowPalette+maxPaletteBits:
		g.bits = way - lowPalette
		g.palette = d.bytes(int(d.byte()) + 1)
		g.packed = d.bytes(packedLen(n, g.bits))
	default:
		return errWidth
	}
	return cmp.Or(d.err, g.check())
}

func (g *lowGroup) check() error {
	highest := g.base
	for _, low := range g.palette {
		highest = max(highest, low)
	}
	for i := 1; i < len(g.others); i += lowException {
		highest = max(highest, g.others[i])
	}
	if vocab.Hit(highest).Type() >= vocab.HitTypes {
		return errHitType
	}
	return nil
}

// read gives low bytes, from number first on.
func (g *lowGroup) read(dst []uint8, first int) error {
	if g.bits > 0 {
		return g.readPalette(dst, first)
	}
	for i := range dst {
		dst[i] = g.base
	}
	for others := g.others; len(others) > 0; others = others[lowException:] {
		if i := int(others[0]) - first; i >= len(dst) {
			break
		} else if i >= 0 {
			dst[i] = others[1]
		}
	}
	return nil
}

func (g *lowGroup) readPalette(dst []uint8, first int) error {
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

func (d *cutter) bytes(n int) []byte {
	if n > len(d.src)-d.at {
		d.err = errHitsCut
		return nil
	}
	d.at += n
	return d.src[d.at-n : d.at : d.at+slack]
}

// load64 is the eight bytes of src at an offset, which is not behind its end: there is slack.
func load64(src []byte, at uint) uint64 { return binary.LittleEndian.Uint64(src[at : at+8]) }

// append appends the hits of a posting, those numbered from from to to, to buf.
func (p *packedHits) append(buf []vocab.Hit, posting, from, to int) ([]vocab.Hit, error) {
	n := len(buf)
	buf = slices.Grow(buf, to-from)[:n+to-from]
	hits := buf[n:]
	if err := readGaps(p, hits, posting, from); err != nil {
		return buf[:n], err
	}
	s := summer{low: plainHit}
	for done := 0; done < len(hits); {
		at := from + done
		if err := p.lowsOf(at / groupSize); err != nil {
			return buf[:n], err
		}
		end := min(len(hits), done+groupSize-at%groupSize)
		if err := s.add(hits[done:end], &p.low, at%groupSize); err != nil {
			return buf[:n], err
		}
		done = end
	}
	return buf, nil
}

// readGaps reads the gaps of the hits of a posting, numbered from from on: that of the first is its position.
func readGaps[V ~uint32](p *packedHits, dst []V, posting, from int) error {
	readGroup(&p.firsts, dst[:1], posting)
	for done := 1; done < len(dst); {
		at := from + done - posting - 1
		if err := p.gapsOf(at / groupSize); err != nil {
			return err
		}
		end := min(len(dst), done+groupSize-at%groupSize)
		readGroup(&p.gap, dst[done:end], at%groupSize)
		done = end
	}
	return nil
}

// gapsOf makes gap the group of that number, and lowsOf low.
func (p *packedHits) gapsOf(number int) error {
	if number == p.gaps.number {
		return nil
	}
	at, n, err := p.gaps.to(number, gapLength)
	if err == nil {
		_, err = p.gap.parse(p.gaps.src, at, n)
	}
	if err != nil {
		p.gaps.rewind()
	}
	return err
}

func (p *packedHits) lowsOf(number int) error {
	if number == p.lows.number {
		return nil
	}
	at, n, err := p.lows.to(number, lowLength)
	if err == nil {
		err = p.low.parse(p.lows.src, at, n)
	}
	if err != nil {
		p.lows.rewind()
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
func (s *summer) add(hits []vocab.Hit, g *lowGroup, first int) error {
	if g.one() && fieldOf[g.base] == fieldOf[s.low] {
		s.low = g.base
		low, position := vocab.Hit(s.low), s.position
		for i, gap := range hits {
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
		return s.addText(hits, lows)
	}
	falls := uint64(0) // its highest bit says that a hit was below the one before
	low, position, last := s.low, s.position, s.last
	for i, gap := range hits {
		if next := lows[i]; next != low {
			if fieldOf[next] != fieldOf[low] {
				s.low, s.position = low, position
				if err := s.change(next); err != nil {
					return err
				}
				position, last = 0, 0
			}
			low = next
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
func (s *summer) addText(hits []vocab.Hit, lows []uint8) error {
	position, last, falls, all := s.position, s.last, uint64(0), uint8(0)
	for i, low := range lows[:len(hits)] {
		position += uint64(hits[i])
		h := vocab.Hit(position<<8) | vocab.Hit(low)
		falls |= uint64(h) - uint64(last)
		all |= low
		hits[i], last = h, h
	}
	s.low, s.position, s.last = lows[len(lows)-1], position, last
	if falls>>63 != 0 || all > lastOfText {
		return errHitOrder
	}
	return s.inRange()
}

// lastOfText is the highest low byte of a hit in the text: the types there have none of the highest bit.
const lastOfText = uint8(vocab.Menu)<<4 | 0xf

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
