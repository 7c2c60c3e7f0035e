package index

import "math"

// A length is the total length of some documents in words, and the number of documents with words.
type length struct{ words, texts uint64 }

func (l *length) add(words uint32) {
	if words > 0 {
		l.words += uint64(words)
		l.texts++
	}
}

func (l length) plus(other length) length {
	return length{l.words + other.words, l.texts + other.texts}
}

// averageSteps is the number of steps of the average length per factor of 2.
const averageSteps = 8

// nextAverage returns the average length in words for the impacts of new segments: the current one,
// or the step nearest to the measured average if that is more than a step away. Because of
// the steps and the margin it rarely changes. So segments that were written at different times have
// comparable impacts, and so have the shards of a split collection. It is a whole number, so that
// it is equal on every machine.
func nextAverage(current uint32, measured length) uint32 {
	if measured.texts == 0 {
		return current
	}
	step := averageSteps * math.Log2(float64(measured.words)/float64(measured.texts))
	if current > 0 && math.Abs(step-averageSteps*math.Log2(float64(current))) <= 1 {
		return current
	}
	return uint32(math.Round(math.Exp2(math.Round(step) / averageSteps)))
}
