package recent

import "testing"

func TestRing(t *testing.T) {
	var r Ring[int]
	if len(r.Newest()) != 0 {
		t.Error("not empty")
	}
	for i := range 3*ringSize + 7 {
		r.put(i)
		all := r.Newest()
		if all[0] != i || len(all) != min(i+1, ringSize) || all[len(all)-1] != max(0, i+1-ringSize) {
			t.Fatalf("after %d: %v", i, all)
		}
	}
}
