package main

import "testing"

// TestTally: the share of right sections is of the queries that have one, and left out if none has.
func TestTally(t *testing.T) {
	all := tally{budget: 1000, queries: 4, withSection: 2, pages: 3, sections: 1, tokens: 3600, passages: 10}
	want := "   1000 tokens: right page 0.750, right section 0.500 of 2; 2.5 passages and 900 tokens on average"
	if got := all.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	all.withSection, all.sections = 0, 0
	want = "   1000 tokens: right page 0.750, no query has a right section; 2.5 passages and 900 tokens on average"
	if got := all.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
