package segment

import "anatomy/vocab"

// The parameters of Impact. Saturation and slope are BM25's k1 and b.
const (
	impactSaturation = 1.2
	impactSlope      = 0.5
)

// typeWeights say how much a hit counts against one in plain text. They order candidates only: the
// searcher scores the best of them exactly, with weights of its own.
var typeWeights = [vocab.HitTypes]float64{
	vocab.Plain: 1, vocab.Emphasis: 1.5, vocab.Heading1: 4, vocab.Heading2: 3, vocab.Heading3: 2, vocab.Code: 0.8, vocab.Alt: 1, vocab.Menu: 0.2,
	vocab.Title: 8, vocab.Meta: 2, vocab.URLWord: 4, vocab.Anchor: 1.5, vocab.AnchorOut: 3, vocab.Part: 1,
}

// hitWeights is the weight of a hit by its low byte. An anchor text of 2^s links counts s+1 times.
var hitWeights = func() (w [256]float64) {
	for low := range w {
		h := vocab.Hit(low)
		if h.Type() >= vocab.HitTypes {
			continue
		}
		w[low] = typeWeights[h.Type()]
		if h.Field() == vocab.AnchorField {
			w[low] *= float64(1 + h.Size())
		}
	}
	return w
}()

// Impact is what a word adds to the score of a document in the first phase of a search, before its
// inverse document frequency: the first phase ranks by the sum of idf·Impact. It is BM25F's saturated
// term weight (Robertson, Zaragoza and Taylor 2004): hits are summed with the weights of their
// types, those of the body divided by the document's length against the average, and the sum x
// becomes x/(x+k1), in steps of 1/255. Hits are sorted by Hit.Before; a posting has at least 1.
//
// All products are rounded one by one, so that every machine computes the same byte.
func Impact(hits []vocab.Hit, docWords uint32, avgWords float64) uint8 {
	return impact(hits, lengthNorm(docWords, avgWords))
}

func impact(hits []vocab.Hit, norm float64) uint8 {
	i, body := 0, 0.0
	for ; i < len(hits) && hits[i].Type() <= vocab.Menu; i++ {
		body += hitWeights[hits[i]&0xff]
	}
	x := 0.0
	for ; i < len(hits); i++ {
		x += hitWeights[hits[i]&0xff]
	}
	x += float64(body / norm)
	return uint8(max(1, float64(float64(255*x)/float64(x+impactSaturation))+0.5))
}

// lengthNorm is 1 for a document of average length.
func lengthNorm(docWords uint32, avgWords float64) float64 {
	if avgWords <= 0 {
		return 1
	}
	return 1 - impactSlope + float64(impactSlope*float64(float64(docWords)/avgWords))
}
