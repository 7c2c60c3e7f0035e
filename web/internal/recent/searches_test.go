package recent

import (
	"fmt"
	"slices"
	"testing"
)

// TestSearches checks that searches are counted by query, without case and spaces, that the most
// frequent ones stay when there are too many, and that a query can be forgotten.
func TestSearches(t *testing.T) {
	s := &Searches{}
	for range 3 {
		s.AddFruitless("  WiFi   password ")
	}
	s.AddFruitless("wifi Password")
	s.AddOpened("red", "http://a.test/", 1)
	s.AddOpened("red", "http://a.test/", 2)
	s.AddOpened("Red", "http://a.test/", 5)
	s.AddOpened("red", "http://b.test/", 3)
	s.AddOpened("red", "http://c.test/", 1001)
	if got := s.Fruitless(); !slices.Equal(got, []FruitlessQuery{{"wifi password", 4}}) {
		t.Errorf("%+v", got)
	}
	if got := s.Opened(); !slices.Equal(got, []OpenedResult{{"red", "http://a.test/", 2, 4}, {"red", "http://b.test/", 1, 3}}) {
		t.Errorf("%+v", got)
	}
	for i := range 3 * maxSearches {
		s.AddFruitless(fmt.Sprint("once ", i))
		s.AddOpened(fmt.Sprint("once ", i), "http://a.test/", 2)
	}
	if got := s.Fruitless(); len(got) != shownSearches || got[0] != (FruitlessQuery{"wifi password", 4}) || len(s.nothing) != maxSearches {
		t.Errorf("%d of %d: %+v", len(got), len(s.nothing), got[0])
	}
	if got := s.Opened(); len(got) != shownSearches || got[0].Count != 2 || len(s.opened) != maxSearches {
		t.Errorf("%d of %d: %+v", len(got), len(s.opened), got[0])
	}
	s.Forget("WIFI password")
	s.Forget("red")
	if f, o := s.Fruitless(), s.Opened(); f[0].Count != 1 || o[0].Count != 1 {
		t.Errorf("not forgotten: %+v, %+v", f[0], o[0])
	}
	content, changed := s.Encode()
	again := &Searches{}
	if err := again.Decode(content); err != nil || !changed || !slices.Equal(again.Fruitless(), s.Fruitless()) || !slices.Equal(again.Opened(), s.Opened()) {
		t.Errorf("%v: %+v, want %+v", err, again.Opened(), s.Opened())
	}
	if _, changed := s.Encode(); changed {
		t.Error("nothing has changed")
	}
	again.AddOpened("once 1", "http://a.test/", 9)
	if two, changed := again.Encode(); !changed || slices.Equal(two, content) {
		t.Error("a count is not encoded")
	}
	for _, wrong := range []string{"", "{}", `{"schema":2}`, `{"schema":1,"opened":3}`} {
		if err := again.Decode([]byte(wrong)); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
	var none *Searches
	none.AddFruitless("a")
	none.AddOpened("a", "b", 2)
	none.Forget("a")
}
