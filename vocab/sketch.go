package vocab

import "math/bits"

// A Sketch is a fingerprint of a page's title and text. Near-duplicates have sketches that differ in
// few bits. The upper 8 bits are a hash of the title without numbers. The other 56 bits are a min-wise
// sketch of the text: each is one bit of the extreme hash in one of 56 parts of all pairs of adjacent
// terms (Li, Owen, Zhang 2012; one bit each, Li and König 2010). If two texts share the fraction r of
// their pairs, about 28·(1 - r) of the 56 bits differ. 0 is the sketch of a page with too little text
// to compare. Example: 0x5b00c0ffee123456.
type Sketch uint64

// The parts of a sketch.
const (
	SketchTitleBits = 8
	SketchTextBits  = 64 - SketchTitleBits
)

// MakeSketch packs a sketch. The result is never 0.
func MakeSketch(title uint8, text uint64) Sketch {
	return max(Sketch(title)<<SketchTextBits|Sketch(text&(1<<SketchTextBits-1)), 1)
}

// Incomparable is the distance of sketches with different titles or too little text.
const Incomparable = SketchTextBits + 1

// Distance returns the number of bits in which the text parts differ, or Incomparable.
func (s Sketch) Distance(t Sketch) int {
	if (s^t)>>SketchTextBits != 0 {
		return Incomparable
	}
	return s.TextDistance(t)
}

// TextDistance is Distance for pages whose titles may differ.
func (s Sketch) TextDistance(t Sketch) int {
	if s == 0 || t == 0 {
		return Incomparable
	}
	return bits.OnesCount64(uint64(s^t) & (1<<SketchTextBits - 1))
}
