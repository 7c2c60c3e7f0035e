package vocab

import "testing"

func TestNewLabel(t *testing.T) {
	for value, want := range map[string]string{
		"2.0": "2.0", "v2.0": "2.0", "V1": "1", "Latest": "latest", "vector": "vector", "v": "v", " release/3_x ": "release-3_x",
		`a "b" (c):d`: "a-b-c-d", "c++": "c++", "--x.": "x", "日本語": "日本語", "Ünï": "ünï", "": "", "…": "",
	} {
		if l, ok := NewLabel(Version, value); l.Value != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", value, l.Value, ok, want)
		}
	}
	if l, _ := NewLabel(Product, "v8"); l.String() != "product:v8" || l.Term() != ":product:v8" {
		t.Errorf("%s, %s", l, l.Term())
	}
}
