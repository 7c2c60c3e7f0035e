package bench

import "testing"

func TestLookups(t *testing.T) {
	for said, want := range map[string]int{
		"16 hosts; DNS at 127.0.0.1:5353\n421 DNS queries answered\n": 421,
		"16 hosts; DNS at 127.0.0.1:5353\n":                           -1,
		"many DNS queries answered\n":                                 -1,
	} {
		if got, err := lookups(said); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %d, %v, want %d", said, got, err, want)
		}
	}
}
