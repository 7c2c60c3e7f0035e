package api

import (
	"encoding/json"
	"testing"

	"anatomy/searcher"
)

func TestScoreDecimals(t *testing.T) {
	for s, want := range map[searcher.Score]string{0: "0", 1: "0.000001", -1: "-0.000001", 1_500_000: "1.5", -350_000: "-0.35", 20_000_000: "20", 12_345_678: "12.345678", 100: "0.0001"} {
		if got, err := json.Marshal(score(s)); err != nil || string(got) != want {
			t.Errorf("%d: %s, want %s (%v)", s, got, want, err)
		}
	}
}
