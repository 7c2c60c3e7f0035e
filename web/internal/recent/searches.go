package recent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Bounds of Searches.
const (
	maxSearches   = 1000 // of each kind in memory
	shownSearches = 50   // of each kind that are returned
	maxPlace      = 1000 // of a result
)

// Searches count the queries that found nothing, and the results below the first that people opened,
// by query: neither who searched nor when. The zero value counts nothing yet. Methods of nil do
// nothing. It is safe for concurrent use.
type Searches struct {
	mu      sync.Mutex // guards all below
	nothing map[string]int
	opened  map[opening]opened
	changed bool // since the last Encode
}

// An opening is a result of a query. An opened is how often people opened it, and the sum of its
// places.
type (
	opening struct{ query, url string }
	opened  struct{ count, places int }
)

// A FruitlessQuery is a query that found nothing.
type FruitlessQuery struct {
	Query string `json:"query"`
	Count int    `json:"count"`
}

// An OpenedResult is a result below the first that people opened.
type OpenedResult struct {
	Query string `json:"query"`
	URL   string `json:"url"`
	Count int    `json:"count"`
	Place int    `json:"place"` // rounded average, from 1
}

// queryKey returns the form of a query under which it is counted: case and spaces do not count.
func queryKey(query string) string { return strings.ToLower(strings.Join(strings.Fields(query), " ")) }

// AddFruitless counts a query that found nothing.
func (s *Searches) AddFruitless(query string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nothing == nil {
		s.nothing = map[string]int{}
	}
	key := queryKey(query)
	makeRoom(s.nothing, key, func(n int) int { return n })
	s.nothing[key]++
	s.changed = true
}

// AddOpened counts that the result of a query at a place was opened. The first place, 1, is not
// counted.
func (s *Searches) AddOpened(query, url string, place int) {
	if s == nil || place <= 1 || place > maxPlace {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		s.opened = map[opening]opened{}
	}
	key := opening{queryKey(query), url}
	makeRoom(s.opened, key, func(o opened) int { return o.count })
	before := s.opened[key]
	s.opened[key] = opened{before.count + 1, before.places + place}
	s.changed = true
}

// makeRoom deletes an entry with the smallest count if there is no room for a new key.
func makeRoom[K comparable, V any](all map[K]V, key K, count func(V) int) {
	if _, known := all[key]; known || len(all) < maxSearches {
		return
	}
	var least K
	fewest := -1
	for k, v := range all {
		if n := count(v); fewest < 0 || n < fewest {
			least, fewest = k, n
		}
	}
	delete(all, least)
}

// Forget deletes what was counted of a query.
func (s *Searches) Forget(query string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := queryKey(query)
	s.changed = true
	delete(s.nothing, key)
	maps.DeleteFunc(s.opened, func(o opening, _ opened) bool { return o.query == key })
}

// A kept is what Encode writes: Place is the sum of all places.
type kept struct {
	Schema    int              `json:"schema"` // keptSchema
	Fruitless []FruitlessQuery `json:"fruitless"`
	Opened    []OpenedResult   `json:"opened"`
}

const keptSchema = 1

// Encode returns all counts as JSON. changed is false if they are as at the last call.
func (s *Searches) Encode() (content []byte, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed {
		return nil, false
	}
	s.changed = false
	all := kept{Schema: keptSchema, Fruitless: []FruitlessQuery{}, Opened: []OpenedResult{}}
	for _, query := range slices.Sorted(maps.Keys(s.nothing)) {
		all.Fruitless = append(all.Fruitless, FruitlessQuery{query, s.nothing[query]})
	}
	for key, o := range s.opened {
		all.Opened = append(all.Opened, OpenedResult{key.query, key.url, o.count, o.places})
	}
	slices.SortFunc(all.Opened, func(x, y OpenedResult) int {
		return cmp.Or(cmp.Compare(x.Query, y.Query), cmp.Compare(x.URL, y.URL))
	})
	content, _ = json.MarshalIndent(all, "", " ") // strings and numbers: cannot fail
	return append(content, '\n'), true
}

// Decode replaces all counts with those that Encode wrote.
func (s *Searches) Decode(content []byte) error {
	var all kept
	if err := json.Unmarshal(content, &all); err != nil {
		return err
	}
	if all.Schema != keptSchema {
		return fmt.Errorf("schema %d, this program reads schema %d", all.Schema, keptSchema)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nothing, s.opened = map[string]int{}, map[opening]opened{}
	for _, f := range all.Fruitless[:min(len(all.Fruitless), maxSearches)] {
		s.nothing[queryKey(f.Query)] += max(f.Count, 1)
	}
	for _, o := range all.Opened[:min(len(all.Opened), maxSearches)] {
		s.opened[opening{queryKey(o.Query), o.URL}] = opened{max(o.Count, 1), max(o.Place, 1)}
	}
	return nil
}

// Fruitless returns the queries that found nothing most often.
func (s *Searches) Fruitless() []FruitlessQuery {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]FruitlessQuery, 0, len(s.nothing))
	for query, n := range s.nothing {
		all = append(all, FruitlessQuery{query, n})
	}
	slices.SortFunc(all, func(x, y FruitlessQuery) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Query, y.Query))
	})
	return all[:min(len(all), shownSearches)]
}

// Opened returns the results below the first that were opened most often.
func (s *Searches) Opened() []OpenedResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]OpenedResult, 0, len(s.opened))
	for key, o := range s.opened {
		all = append(all, OpenedResult{key.query, key.url, o.count, (o.places + o.count/2) / o.count})
	}
	slices.SortFunc(all, func(x, y OpenedResult) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Query, y.Query), cmp.Compare(x.URL, y.URL))
	})
	return all[:min(len(all), shownSearches)]
}
