package scoring

import (
	"testing"

	"anatomy/searcher/query"
	"anatomy/vocab"
)

// TestService checks that only pages that define a service are scored by the weights for services,
// and that a scorer goes from one kind of page to the other.
func TestService(t *testing.T) {
	weights := Default
	weights.Service = &TextWeights{Saturation: 1000}
	weights.Service.Type[vocab.Plain] = 3 * Default.Type[vocab.Plain]
	terms := NewTerms(query.Parse("queue").Root, "queue", nil, &Arena{})
	terms.DF[0] = 5
	terms.Weigh(&weights, 0, 100, nil)
	scorer := NewScorer(&weights, terms)
	score := func(service bool) Score {
		page := &Page{
			Service: service, Words: 100, Average: 100,
			Hits: [][]vocab.Hit{{vocab.MakeHit(1, vocab.Plain, false, vocab.NormalSize)}},
		}
		var tally Tally
		scorer.Score(page, &tally)
		return tally.Sum
	}
	page, service := score(false), score(true)
	if service <= page || score(false) != page || score(true) != service {
		t.Errorf("a service has %d points, another page %d", service, page)
	}
	if weights.Type != Default.Type || Default.Service == weights.Service {
		t.Error("the weights changed")
	}
	weights.Service = nil
	scorer.Reset(&weights, terms)
	if score(true) != page {
		t.Error("a service is scored apart without weights for services")
	}
}
