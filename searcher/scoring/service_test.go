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

// TestOperation checks that a service gains if the name of an operation has all words of the query in
// their order, and that no other page does.
func TestOperation(t *testing.T) {
	weights := Default
	weights.Service = &TextWeights{Operation: 1000}
	terms := NewTerms(query.Parse("close queue").Root, "close queue", nil, &Arena{})
	terms.DF[0], terms.DF[1] = 5, 5
	terms.Weigh(&weights, 0, 100, nil)
	scorer := NewScorer(&weights, terms)
	gain := func(service bool, first, second vocab.Hit) Score {
		page := &Page{Service: service, Words: 100, Average: 100, Hits: [][]vocab.Hit{{first}, {second}}}
		tally := Tally{Explain: true}
		scorer.Score(page, &tally)
		for _, part := range tally.Parts {
			if part.Name == "operation" {
				return part.Points
			}
		}
		return 0
	}
	heading := func(at uint32) vocab.Hit { return vocab.MakeHit(at, vocab.Heading2, false, vocab.NormalSize) }
	plain := vocab.MakeHit(8, vocab.Plain, false, vocab.NormalSize)
	if got := gain(true, heading(7), heading(8)); got != terms.Sum {
		t.Errorf("the service gains %d, want %d", got, terms.Sum)
	}
	for what, got := range map[string]Score{
		"another page": gain(false, heading(7), heading(8)), "words apart": gain(true, heading(7), heading(9)),
		"another order": gain(true, heading(8), heading(7)), "text after a heading": gain(true, heading(7), plain),
	} {
		if got != 0 {
			t.Errorf("%s gains %d", what, got)
		}
	}
}
