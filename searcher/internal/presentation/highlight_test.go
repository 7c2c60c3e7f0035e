package presentation

import "testing"

// TestDirectives: up to three runs of marked words, each with two words of its passage around it.
func TestDirectives(t *testing.T) {
	plain := func(s string) Fragment { return Fragment{Text: s} }
	mark := func(s string) Fragment { return Fragment{Text: s, Mark: true} }
	for _, c := range []struct {
		name    string
		snippet []Fragment
		want    string
	}{
		{"nothing", nil, ""},
		{"no marks", []Fragment{plain("some text")}, ""},
		{"context", []Fragment{plain("a b c "), mark("url"), plain(" d e f")}, ":~:text=b%20c-,url,-d%20e"},
		{"run", []Fragment{plain("the "), mark("URL"), plain(" "), mark("routing"), plain(" of it")}, ":~:text=the-,URL%20routing,-of%20it"},
		{"part of a word", []Fragment{plain("x Rule('/old-"), mark("url"), plain("/<id>', a&b y")}, ":~:text=x-,Rule%28%27%2Fold%2Durl%2F%3Cid%3E%27%2C,-a%26b%20y"},
		{"passages", []Fragment{plain("… is "), mark("one"), plain(". … "), mark("two"), plain(" …")}, ":~:text=is-,one.&text=two"},
		{"three", []Fragment{mark("a"), plain(" x "), mark("b"), plain(" x "), mark("c"), plain(" x "), mark("d")}, ":~:text=a,-x%20b&text=a%20x-,b,-x%20c&text=b%20x-,c,-x%20d"},
		{"cut", []Fragment{plain("to "), mark("route…")}, ""},
		{"no spaces", []Fragment{plain("転置インデックスとは何か転置インデックスとは何か転置インデックスとは何か転置インデックスとは何か転置インデックスとは"), mark("索引"), plain("転置インデックスとは何か転置インデックスとは何か転置インデックスとは何か。")}, ""},
	} {
		if got := Directives(c.snippet); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
