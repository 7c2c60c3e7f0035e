package searcher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"anatomy/searcher"
)

// TestHostileReplies answers the calls of a light shard with replies in which values are changed: a search may
// return an error or wrong results, but it does not panic.
func TestHostileReplies(t *testing.T) {
	c, info := manySites(3, 900, 2)
	dirs := splitBySite(c, 1).write(t, info)
	whole, err := searcher.Open(dirs[0], searcher.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, whole.Close()) })
	r := rand.New(rand.NewPCG(1, 2))
	changed := 0
	light := openLight(t, dirs[0], func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		reply, err := whole.AnswerShard(ctx, shard, call)
		if err != nil || r.IntN(3) == 0 {
			return reply, err
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(reply))
		d.UseNumber()
		must(t, d.Decode(&v))
		changed++
		return json.Marshal(corrupt(r, v))
	})
	facets, err := searcher.ParseFacets("all")
	must(t, err)
	queries := []string{"search engine", `"search engine"`, "engine -search", "how the page", "search NEAR engine", "sort:date search", "serch engin", "the page of zzzz search engine index"}
	requests := 2000
	if testing.Short() {
		requests = 300
	}
	for i := range requests {
		req := searcher.Request{
			Query: queries[i%len(queries)], Explain: i%2 == 0, Facets: facets, Offset: i % 3,
			Preferences: &searcher.Preferences{Raise: []string{"h1.org"}, Block: []string{"h2.org"}, Lang: "el"},
		}
		if i%5 == 0 {
			req.Facets, req.Preferences = "", nil
		}
		if a, err := light.Search(t.Context(), req); err == nil && len(a.Results) > searcher.DefaultLimit {
			t.Errorf("%s: %d results", req.Query, len(a.Results))
		}
	}
	if changed == 0 {
		t.Error("no reply was changed")
	}
}

// corrupt changes some values of a JSON document.
func corrupt(r *rand.Rand, v any) any {
	often := r.IntN(40) == 0
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] = corrupt(r, v[name]); r.IntN(60) == 0 {
				v[name] = nil
			}
		}
	case []any:
		for i := range v {
			v[i] = corrupt(r, v[i])
		}
		if len(v) > 0 && often {
			switch r.IntN(3) {
			case 0:
				return append(slices.Clone(v), v[0])
			case 1:
				return v[1:]
			default:
				for i := range v {
					v[i] = v[0]
				}
			}
		}
	case json.Number:
		if often {
			return json.Number([]string{"-1", "0", "1", "255", "2147483647", "4294967295", "4611686018427387904", "-9223372036854775808"}[r.IntN(8)])
		}
	case string:
		if often {
			return fmt.Sprint("\x00\xff", v, v)
		}
	case bool:
		return v != often
	}
	return v
}
