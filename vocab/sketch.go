package vocab

import "math/bits"

// A Sketch is a fingerprint of what a page says, made so that pages which say nearly the same have nearly
// the same sketch. The upper 8 bits are a hash of the title, numbers left out; the other 56 a min-wise
// sketch of the text: each holds one bit of the least hash in one of 56 parts of all pairs of
// neighbouring words (Li, Owen, Zhang 2012; one bit each, Li and König 2010). Of two texts that share
// the fraction r of their pairs, some 28·(1 - r) of the 56 bits differ. 0 is the sketch of a page with too
// little text to be compared. Example: 0x5b00c0ffee123456.
type Sketch uint64

// The parts of a sketch.
const (
	SketchTitleBits = 8
	SketchTextBits  = 64 - SketchTitleBits
)

// MakeSketch puts a sketch together. It is never 0.
func MakeSketch(title uint8, text uint64) Sketch {
	return max(Sketch(title)<<SketchTextBits|Sketch(text&(1<<SketchTextBits-1)), 1)
}

// Apart is the distance of sketches that cannot be compared: a title differs, or a page has too little text.
const Apart = SketchTextBits + 1

// Distance is how many bits of two texts' sketches differ, or Apart.
func (s Sketch) Distance(t Sketch) int {
	if s == 0 || t == 0 || (s^t)>>SketchTextBits != 0 {
		return Apart
	}
	return bits.OnesCount64(uint64(s ^ t))
}
