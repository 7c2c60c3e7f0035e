package scoring

// A Part is one summand of a score: an explanation is a sum of Parts (BP98 §4.5.1).
type Part struct {
	Name   string // of the feature: "title", "plain", "proximity", "pagerank"
	Word   string // the query's word or pair of words, if the feature has one
	Detail string // the computation, for display: "3 hits, count weight 2.1 × idf 4.07 × type weight 6"
	Points Score
}

// A Tally sums up points. With Explain it also records the parts.
type Tally struct {
	Explain bool
	Sum     Score
	Parts   []Part
}

func (t *Tally) add(points Score, name, word, detail string) {
	t.Sum += points
	if t.Explain {
		t.Parts = append(t.Parts, Part{Name: name, Word: word, Detail: detail, Points: points})
	}
}
