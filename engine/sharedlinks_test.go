package engine_test

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"anatomy/indexer"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A graph is the links of all pages, read from the pages themselves.
type graph struct {
	in, out map[vocab.DocID][]vocab.DocID // ascending, without nofollow links and those to what does not exist
	texts   map[vocab.DocID]int           // different ones of links to a document, page by page
}

func naiveGraph(t testing.TB, dir string) *graph {
	t.Helper()
	all := testweb.Records(t, dir)
	byURL := map[vocab.Fingerprint]vocab.DocID{}
	for doc, r := range all {
		u, err := weburl.Parse(r.URL)
		testweb.Must(t, err)
		byURL[u.Fingerprint()] = doc
	}
	g := &graph{map[vocab.DocID][]vocab.DocID{}, map[vocab.DocID][]vocab.DocID{}, map[vocab.DocID]int{}}
	var buffer indexer.Buffer
	for doc, page := range testweb.Bodies(t, dir, all) {
		parsed, err := indexer.Parse(&page, &buffer)
		testweb.Must(t, err)
		followed, texts := map[vocab.DocID]bool{}, map[vocab.DocID]map[string]bool{}
		for _, l := range parsed.Links {
			u, err := weburl.Parse(l.Target)
			if err != nil {
				continue
			}
			target := testweb.Canonical(all, byURL[u.Fingerprint()])
			if target != 0 && target != doc && l.Flags&vocab.NoFollow == 0 {
				followed[target] = true
				if texts[target] == nil {
					texts[target] = map[string]bool{}
				}
				texts[target][cutRunes(l.Text, 256)] = true
			}
		}
		g.out[doc] = slices.Sorted(maps.Keys(followed))
		for target := range followed {
			g.in[target] = append(g.in[target], doc)
			if delete(texts[target], ""); len(texts[target]) == 0 {
				texts[target][""] = true
			}
			g.texts[target] += len(texts[target])
		}
	}
	for _, from := range g.in {
		slices.Sort(from)
	}
	return g
}

func (g *graph) Sources(_ context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error) {
	for _, doc := range to {
		from = append(from, g.in[doc]...)
	}
	slices.Sort(from)
	from = slices.Compact(from)
	return from[:min(n, len(from))], len(from) <= n, nil
}

// Canonical knows no aliases: the oracle's queries name none.
func (g *graph) Canonical(weburl.URL) (vocab.DocID, error) { return 0, nil }

// Near are the shares of a walk that starts again at a document, from a page without links at once.
func (g *graph) Near(_ context.Context, doc vocab.DocID, visit func(vocab.DocID, float64)) error {
	ranks := map[vocab.DocID]float64{doc: 1}
	for range 200 {
		next := map[vocab.DocID]float64{doc: .15}
		for from, rank := range ranks {
			if len(g.out[from]) == 0 {
				next[doc] += .85 * rank
			}
			for _, to := range g.out[from] {
				next[to] += .85 * rank / float64(len(g.out[from]))
			}
		}
		ranks = next
	}
	for to, rank := range ranks {
		visit(to, rank)
	}
	return nil
}

// Related are the siblings of a document, a page that links to both counting by its links.
func (g *graph) Related(_ context.Context, doc vocab.DocID, n int) ([]vocab.DocID, error) {
	points := map[vocab.DocID]float64{}
	for _, parent := range g.in[doc] {
		for _, other := range g.out[parent] {
			if other != doc {
				points[other] += 1 / float64(len(g.out[parent]))
			}
		}
	}
	for other := range points {
		points[other] /= math.Sqrt(float64(g.texts[other]))
	}
	docs := slices.Collect(maps.Keys(points))
	slices.SortFunc(docs, func(a, b vocab.DocID) int {
		away := func(d vocab.DocID) int { return max(int(d)-int(doc), int(doc)-int(d)) }
		return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(away(a), away(b)), cmp.Compare(a, b))
	})
	return docs[:min(n, len(docs))], nil
}
