package parallel

import "math"

// vectors compare pages by their names and shapes, weighted by rarity on the site.
type vectors struct {
	weight map[uint32]float32 // of a name or shape that at least two pages have
	norm   map[*page]float64
}

// shapeBit distinguishes the hashes of shapes from the hashes of names.
const shapeBit = 1 << 31

func newVectors(pages []*page) *vectors {
	v := &vectors{weight: map[uint32]float32{}, norm: map[*page]float64{}}
	df := map[uint32]int32{}
	for _, p := range pages {
		for _, h := range p.Names {
			df[h&^shapeBit]++
		}
		for _, h := range p.Shape {
			df[h|shapeBit]++
		}
	}
	for h, n := range df {
		if n > 1 {
			w := math.Log(float64(len(pages)+1) / float64(n))
			v.weight[h] = float32(w * w)
		}
	}
	for _, p := range pages {
		v.norm[p] = math.Sqrt(v.sum(p.Names, 0) + v.sum(p.Shape, shapeBit))
	}
	return v
}

func (v *vectors) sum(hashes []uint32, bit uint32) (sum float64) {
	for _, h := range hashes {
		sum += float64(v.weight[h&^shapeBit|bit])
	}
	return sum
}

// alike returns the cosine of two pages, from 0 to 1.
func (v *vectors) alike(a, b *page) float64 {
	sum := v.dot(a.Names, b.Names, 0) + v.dot(a.Shape, b.Shape, shapeBit)
	if sum == 0 {
		return 0
	}
	return sum / (v.norm[a] * v.norm[b])
}

func (v *vectors) dot(a, b []uint32, bit uint32) (sum float64) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] < b[k]:
			i++
		case a[i] > b[k]:
			k++
		default:
			sum += float64(v.weight[a[i]&^shapeBit|bit])
			i++
			k++
		}
	}
	return sum
}
