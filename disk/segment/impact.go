package segment

import "anatomy/vocab"

// Parameters of Impact: k1 and b of BM25.
const (
	impactSaturation = 1.2
	impactSlope      = 0.5
)

// typeWeights are the weights of hits by type, relative to plain text. They order candidates only:
// the second phase scores the best of these exactly, with its own weights.
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

// Impact returns the contribution of a posting to the first phase of a search, before idf: the first
// phase ranks documents by the sum of idf·Impact. It is BM25F's saturated term weight (Robertson,
// Zaragoza and Taylor 2004): x is the sum of the hits' type weights, with the hits of the body divided
// by the normalized length of the document, and the impact is x/(x+k1) in steps of 1/255, at least 1.
// Hits are sorted by [vocab.Hit.Before].
//
// Each product is rounded separately, so that every machine computes the same byte.
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

// lengthNorm returns the normalized length of a document: 1 for the average length.
func lengthNorm(docWords uint32, avgWords float64) float64 {
	if avgWords <= 0 {
		return 1
	}
	return 1 - impactSlope + float64(impactSlope*float64(float64(docWords)/avgWords))
}
