package facets

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"anatomy/searcher/query"
)

// TestTooManySites checks that hosts beyond the bound are not counted, that those before still are,
// and that the facet says so.
func TestTooManySites(t *testing.T) {
	tally := NewTally()
	count := func(i, n int) {
		c := hostCounter{host: "test.h" + strconv.Itoa(i), n: n}
		c.flush(tally)
	}
	for i := range maxSites {
		count(i, 1)
	}
	if f := tally.Facet(Site, query.Parse("a"), MaxValues); !f.Exact || f.Of != maxSites {
		t.Errorf("%d sites, exact: %v", f.Of, f.Exact)
	}
	count(maxSites, 1)
	count(7, 1)
	whole := NewTally()
	whole.Add(tally)
	for _, tally := range []*Tally{tally, whole} {
		f := tally.Facet(Site, query.Parse("a"), MaxValues)
		if f.Exact || f.Of != maxSites || tally.Late() || f.Values[0].Value != "h7.test" || f.Values[0].Count != 2 {
			t.Errorf("%d sites, exact: %v, late: %v, first %+v", f.Of, f.Exact, tally.Late(), f.Values[0])
		}
		if f := tally.Facet(Language, query.Parse("a"), MaxValues); !f.Exact {
			t.Error("languages are not exact")
		}
	}
}

// TestBestValues checks the values of facets against all values in order.
func TestBestValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tally := NewTally()
		for i := range r.IntN(3 * MaxValues) {
			tally.sites[folder{host: "test.h" + strconv.Itoa(i)}] = 1 + r.IntN(5)
			tally.years[1970+i] = 1 + r.IntN(5)
		}
		for _, k := range []Kind{Site, Year} {
			var all []Value
			for value, n := range tally.values(k) {
				all = append(all, Value{Value: value, Count: n})
			}
			slices.SortFunc(all, k.compare)
			most := []int{MaxValues, MaxValuesAlone}[r.IntN(2)]
			f := tally.Facet(k, query.Parse("a"), most)
			if f.Of != len(all) || len(f.Values) != min(len(all), most) {
				t.Fatalf("%s: %d values of %d, want of %d", k, len(f.Values), f.Of, len(all))
			}
			for i, v := range f.Values {
				if v.Value != all[i].Value || v.Count != all[i].Count {
					t.Fatalf("%s: value %d is %+v, want %+v", k, i, v, all[i])
				}
			}
		}
	}
}

func BenchmarkFacetOfSites(b *testing.B) {
	tally := NewTally()
	for i := range maxSites {
		tally.sites[folder{host: "test.example" + strconv.Itoa(i%(maxSites/2)) + ".www"[:4*(i/(maxSites/2))]}] = i % 9
	}
	b.ReportAllocs()
	for b.Loop() {
		tally.Facet(Site, query.Parse("a"), MaxValues)
	}
}
